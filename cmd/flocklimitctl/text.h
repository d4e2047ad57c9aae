/*
 * text.h - tables, numbers and names as people read them.
 */
#ifndef TEXT_H
#define TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "user.h"

#define COLUMNS 12

/* A table is filled cell by cell, and printed when all widths are known. */
struct table;

/* Titles apart by '|'; one that begins with '>' is of numbers, at the right edge. */
struct table *table_new(const char *titles);
void table_cell(struct table *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void table_colour(struct table *t, const char *sgr); /* of the row under way; "31" */
void table_print(struct table *t, const char *indent);
size_t table_rows(const struct table *t); /* without the titles */
void table_free(struct table *t);

/* stdout is a terminal, and nobody said NO_COLOR. */
bool colours(void);

/* "12 s", or with raw "12.345". */
const char *span(double seconds, bool raw, char room[32]);

/* As user_text(), and with raw always the number. */
const char *user_name(uid_t uid, bool raw, char room[USER_TEXT]);

/* Nothing in it moves a cursor: vis(3).  What does not fit into VISIBLE(its size) is cut. */
#define VISIBLE(bytes) (4 * (bytes) + 17)
const char *visible(const char *text, char *room, size_t size);

/* The time of day of a monotonic time of this boot: "2026-11-21 14:03:07.123" */
const char *time_of(uint64_t monotonic_ns, char room[40]);
double epoch_of(uint64_t monotonic_ns);

/* "exit 0", "signal 9 (KILL)", "run timeout", from what flk_ended() was told. */
const char *status_text(int status, char room[40]);

#endif
