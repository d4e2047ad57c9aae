/*
 * screen.h - what people see: the progress line, the lines about what went wrong, the summary.
 */
#ifndef SCREEN_H
#define SCREEN_H

#include <stdbool.h>
#include <stdint.h>

/* total: of the jobs, 0 if that is not known; line: there is to be a progress line. */
void screen_start(const char *limiter, bool line, uint64_t total);

/* Whoever prints what commands printed has the screen, however long a reader takes. */
void screen_take(void);
void screen_give(void);

/* As say() does, but never waits for who has the screen: then it is said later. */
void screen_say(const char *limiter, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A job has ended. */
void screen_count(bool failed);

/* Shows what is due; returns when it is to be called again, or UINT64_MAX. */
uint64_t screen_tick(unsigned running);

/* What was not said yet, and the summary.  Nobody else may be in here. */
void screen_end(void);

#endif
