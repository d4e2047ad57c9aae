/* SPDX-License-Identifier: ISC */
/*
 * faults.h - what a test lets go wrong in the store in memory as a process, and what that store was
 * asked: see serve.c.
 */
#ifndef MEMORY_FAULTS_H
#define MEMORY_FAULTS_H

#include "pack.h"

enum fault { NO_FAULT, HOLD, CUT, DENY };

void log_open(const char *path);
/* A line after the time, if there is a log. */
void log_line(const char *words, ...) __attribute__((__format__(__printf__, 1, 2)));
void log_changes(void *context, size_t first);

bool fault_add(const char *line); /* false: it makes no sense */
void faults_clear(void);

/* Logs the request, and counts it.  Returns the fault that it has. */
enum fault fault_of(const struct request *q);

#endif
