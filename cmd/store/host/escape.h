/* SPDX-License-Identifier: ISC */
/*
 * escape.h - leaves what belongs to the job that happened to start this process: its cgroup, its limits and
 * its priority, as far as the caller may.  What can't be left is kept: when it ends the process, another
 * job's wrapper starts another.
 */
#ifndef ESCAPE_H
#define ESCAPE_H

void escape(void);

#endif
