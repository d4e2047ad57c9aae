/* SPDX-License-Identifier: ISC */
/*
 * report.h - Markdown.
 */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include <stdint.h>

#include "samples.h"

/* The machine and the time. */
void report_machine(void);

/* The steal and the work of others since report_machine(), if there was any. */
void report_end(uint64_t started_ns);

/* The head of a table, "a|b|c": the first column to the left, the others to the right. */
void report_head(const char *columns);

/* A row of "what|median, us|quartiles|runs"; none if there are no samples. */
void report_times(const char *label, struct samples *us);

/* A row "of / to | ratio | goal | met"; none without samples of `to'. */
void report_ratio(const char *of_label, struct samples *of, const char *to_label,
		  struct samples *to, double goal);

/* "0.54 | 0.55 | yes", from a value and its goal; a goal of 0 is none, a value of 0 is unknown. */
const char *report_goal(double value, double goal);

#endif
