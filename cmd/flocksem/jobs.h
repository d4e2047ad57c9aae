/* SPDX-License-Identifier: ISC */
/*
 * jobs.h - what GNU parallel means by the value of -j.
 */
#ifndef JOBS_H
#define JOBS_H

#include <stdbool.h>
#include <stdint.h>

/* N, 0 for no limit, +N and -N beside the CPUs, N%, or a file with one of these.  False: none. */
bool jobs_parse(const char *word, uint32_t *limit);

#endif
