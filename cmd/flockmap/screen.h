/* SPDX-License-Identifier: ISC */
/*
 * screen.h - what people see: the progress line, lines about failures, the summary.
 */
#ifndef SCREEN_H
#define SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * total: the number of jobs; 0: not known.  line: show a progress line.  quiet: no line at the end.
 */
void screen_start(const char *limiter, bool line, bool quiet, uint64_t total);

/* To print the output of a command, a thread takes the screen, for as long as the reader takes. */
void screen_take(void);
void screen_give(void);

/* As say(), but it never waits: if another thread has the screen, that thread prints the line. */
void screen_say(const char *limiter, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A job has ended by itself; or was skipped, because it had ended before. */
void screen_ended(void);
void screen_skipped(void);

/* A job has failed: for the line at the end.  Copies both texts. */
void screen_failed(uint64_t number, const char *item, const char *fate);

/*
 * An item waits for its permit: while no command runs, the text is shown in place of the progress.
 * "": the wait is over.
 */
void screen_wait(const char *text);

/* How many columns there are for that text. */
size_t screen_width(void);

/* Shows what is due; returns when to call it again, or NEVER. */
uint64_t screen_tick(unsigned running);

/*
 * Prints the lines that wait; then a line about the jobs that failed or, if there is a progress
 * line, a summary.  said: how many failed jobs had a line of their own.  No other thread may use
 * the screen.
 */
void screen_end(uint64_t said);

#endif
