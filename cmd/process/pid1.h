/* SPDX-License-Identifier: ISC */
/*
 * pid1.h - being process 1 of a container.
 */
#ifndef PID1_H
#define PID1_H

/*
 * Call it when signals are blocked, and before a permit is taken.  If this is process 1, it forks:
 * in the child, which does the work, the function returns -1; process 1 passes signals on to the
 * child, reaps every orphan, and returns the status to exit with when the child has ended.  In any
 * other process it only returns -1.
 */
int pid1_split(void);

#endif
