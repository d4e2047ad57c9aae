/*
 * screen.h - what people see: the progress line, the lines about what went wrong, the summary.
 */
#ifndef SCREEN_H
#define SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * total: of the jobs, 0 if that is not known; line: there is to be a progress line; quiet: there is
 * to be no line at the end.
 */
void screen_start(const char *limiter, bool line, bool quiet, uint64_t total);

/* Whoever prints what commands printed has the screen, however long a reader takes. */
void screen_take(void);
void screen_give(void);

/* As say() does, but never waits for who has the screen: then it is said later. */
void screen_say(const char *limiter, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A job has ended by itself, or was skipped as it had ended before. */
void screen_ended(void);
void screen_skipped(void);

/* A job has failed, for the line at the end.  The item's words and the fate are copied. */
void screen_failed(uint64_t number, const char *item, const char *fate);

/*
 * An item waits for its permit: the text is shown in place of the progress for as long as nothing
 * runs; "": it does not wait any more.
 */
void screen_wait(const char *text);

/* The columns that there are for that text. */
size_t screen_width(void);

/* Shows what is due; returns when it is to be called again, or UINT64_MAX. */
uint64_t screen_tick(unsigned running);

/*
 * What was not said yet; and then a line about the jobs that failed, or a summary if there is a progress
 * line.  said: jobs that failed and that a line has spoken of.  Nobody else may be in here.
 */
void screen_end(uint64_t said);

#endif
