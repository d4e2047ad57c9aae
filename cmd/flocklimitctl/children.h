/* SPDX-License-Identifier: ISC */
/*
 * children.h - one process of ours for each limiter, for a verb that sleeps in all of them at once.
 */
#ifndef CHILDREN_H
#define CHILDREN_H

#include <stdbool.h>

/* Forks.  True in the child, which ends by child_exit(); false in the parent. */
bool child_begin(void);
void child_exit(int status) __attribute__((noreturn));

/* Waits for all children; returns the largest of their statuses. */
int children_wait(void);

#endif
