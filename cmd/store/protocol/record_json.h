/* SPDX-License-Identifier: ISC */
/*
 * record_json.h - members of the JSON that record.c and run.c write and read.
 */
#ifndef RECORD_JSON_H
#define RECORD_JSON_H

#include <jansson.h>

#include "record.h"

/* Nothing, if it is 0. */
void json_put_number(json_t *o, const char *name, int64_t n);
json_t *json_of_person(const struct person *p);
json_t *json_of_pace(const struct flk_pace *p);
json_t *json_of_config(const struct flk_settings *c);

/* As text, which the caller frees; NULL for want of memory.  Takes the object over. */
char *json_finished(json_t *o);

/* Absent is 0; *good stays true only if it is a number from min to max. */
int64_t json_number(const json_t *o, const char *name, int64_t min, int64_t max, bool *good);
bool json_read_person(struct person *p, const json_t *o);
void json_read_pace(struct flk_pace *p, const json_t *o, bool *good); /* all 0, if there is none */
bool json_read_config(struct flk_settings *c, const json_t *o);

/* An object of that version; else NULL. */
json_t *json_opened(const char *value, size_t size, int64_t version);

#endif
