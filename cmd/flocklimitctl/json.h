/* SPDX-License-Identifier: ISC */
/*
 * json.h - output for programs.  flocklimitctl(1) lists every field with its type: under one schema
 * number fields are added, never changed or removed.  tests/cli/json.bats compares the output with
 * the page.
 */
#ifndef JSON_H
#define JSON_H

#include <jansson.h>
#include <stdbool.h>

#include "flocklimit.h"

#define JSON_SCHEMA 1

/* A new object with the first fields of all that verbs print: schema, name and path. */
json_t *json_begin(const char *name, const char *path);

/* Puts a value into an object, which then owns it. */
void json_put(json_t *object, const char *key, json_t *value);

/* Names and command lines may be any bytes: text that is not UTF-8 is escaped, as by visible(). */
json_t *json_text(const char *text);
json_t *json_seconds(double seconds); /* to the millisecond */
json_t *json_exact(uint64_t ns);      /* in seconds, to the nanosecond */
json_t *json_u64(uint64_t n);

/* A limiter, for list, show and stats.  A NULL s: it can't be used, because of the error. */
json_t *json_limiter(const char *name, const char *path, const struct flk_snapshot *s, int error);
json_t *json_totals(const struct flk_snapshot *s);
json_t *json_pace(const struct flk_pace *p);
json_t *json_seats(uint64_t seats);          /* an array */
json_t *json_gate(const struct flk_gate *g); /* null: there is none */

/* Prints it, and frees it. */
void json_print(json_t *value);
void json_print_line(json_t *value);

/* Prints what a verb has gathered: the array if MANY limiters were meant, else its one object. */
void json_print_each(json_t *array, bool many);

#endif
