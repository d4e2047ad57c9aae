/*
 * json.h - output for programs.  flocklimitctl(1) lists every field with its type: under one schema
 * number fields are added, never changed or removed.  tests/json.bats compares the output with the
 * page.
 */
#ifndef JSON_H
#define JSON_H

#include <jansson.h>

#include "flocklimit.h"

#define JSON_SCHEMA 1

/* What each object that a verb prints begins with: schema, name and path. */
json_t *json_begin(const char *name, const char *path);

/* Into an object; takes the value over. */
void json_put(json_t *object, const char *key, json_t *value);

/* Names and command lines are bytes; what is no UTF-8 is escaped as people see it. */
json_t *json_text(const char *text);
json_t *json_seconds(double seconds); /* to the millisecond */
json_t *json_u64(uint64_t n);

/* A limiter as list, show and stats print it.  s: NULL if it can't be used, because of the error. */
json_t *json_limiter(const char *name, const char *path, const struct flk_snapshot *s, int error);
json_t *json_totals(const struct flk_snapshot *s);
json_t *json_pace(const struct flk_pace *p);

/* Prints it, and frees it. */
void json_print(json_t *value);
void json_print_line(json_t *value);

/* What a verb has gathered: the object where one limiter is named, and an array where several are. */
struct ctl;
void json_print_each(const struct ctl *c, json_t *array);

#endif
