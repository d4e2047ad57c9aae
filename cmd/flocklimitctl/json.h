/*
 * json.h - what programs are told; the fields are in flocklimitctl(1), and stay.
 */
#ifndef JSON_H
#define JSON_H

#include <jansson.h>

#include "flocklimit.h"

/* Into an object; takes the value over. */
void json_put(json_t *object, const char *key, json_t *value);

/* Names and command lines are bytes; what is no UTF-8 is escaped as people see it. */
json_t *json_text(const char *text);
json_t *json_seconds(double seconds);
json_t *json_u64(uint64_t n);

/* state, limit, declared, override, withheld, used */
void json_limiter(json_t *object, const struct flk_snapshot *s);
void json_unusable(json_t *object, int error); /* state, error */
json_t *json_totals(const struct flk_snapshot *s);

/* Prints it, and frees it. */
void json_print(json_t *value);
void json_print_line(json_t *value);

#endif
