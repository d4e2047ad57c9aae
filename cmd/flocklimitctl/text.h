/* SPDX-License-Identifier: ISC */
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

/* Titles are separated by '|'; a title that begins with '>' is of a column of numbers. */
struct table *table_new(const char *titles);
void table_cell(struct table *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void table_colour(struct table *t, const char *sgr); /* of the last row; "31" */
void table_print(struct table *t, const char *indent);
size_t table_rows(const struct table *t); /* without the titles */
void table_free(struct table *t);

/* Whether stdout is a terminal, and NO_COLOR is not set. */
bool colours(void);

/* "12 s", or with raw "12.345". */
const char *span(double seconds, bool raw, char room[32]);

/* "740 KiB", "1.5 GiB", or with raw the bytes. */
#define SIZE_TEXT 24
const char *size_text(uint64_t bytes, bool raw, char room[SIZE_TEXT]);

/* As user_text(); with raw always the number. */
const char *user_name(uid_t uid, bool raw, char room[USER_TEXT]);

/*
 * The text, made harmless for a terminal by vis(3).  It is whole if room has VISIBLE(its size)
 * bytes.
 */
#define VISIBLE(bytes) (4 * (bytes) + 17)
const char *visible(const char *text, char *room, size_t size);

/* A time of CLOCK_MONOTONIC as a date: "2026-11-21 14:03:07.123"; and in seconds since 1970. */
const char *time_of(uint64_t monotonic_ns, char room[40]);
double epoch_of(uint64_t monotonic_ns);

/* The status that flk_ended() got in words: "exit 0", "signal 9 (KILL)", "run timeout, ...". */
const char *status_text(int status, char room[40]);

#endif
