/* SPDX-License-Identifier: ISC */
/*
 * tap.h - the Test Anything Protocol, as little of it as we need.  The plan comes last.
 */
#ifndef TAP_H
#define TAP_H

#include <stdbool.h>

/* A test asks what became of the limiter, and not always what each call on the way returned. */
#pragma GCC diagnostic ignored "-Wunused-result"

/* Each returns whether it passed; the words are printf's, and say what ought to be so. */
#define ok(condition, ...) tap_ok((condition), #condition, __FILE__, __LINE__, __VA_ARGS__)
#define is(got, want, ...) \
	tap_is((long long)(got), (long long)(want), #got, __FILE__, __LINE__, __VA_ARGS__)

bool tap_ok(bool passed, const char *expression, const char *file, int line, const char *words, ...)
    __attribute__((format(printf, 5, 6)));
bool tap_is(long long got, long long want, const char *expression, const char *file, int line,
	    const char *words, ...) __attribute__((format(printf, 6, 7)));

void tap_note(const char *words, ...) __attribute__((format(printf, 1, 2)));
void tap_skip(const char *why);

/* Ends the test with a plan that skips everything. */
_Noreturn void tap_skip_all(const char *why);

/* Ends the test for good: something that is no subject of the test does not work. */
_Noreturn void tap_bail(const char *words, ...) __attribute__((format(printf, 1, 2)));

/* The plan; returns what main() is to return. */
int tap_done(void);

#endif
