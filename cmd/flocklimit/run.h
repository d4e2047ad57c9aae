/*
 * run.h - standing by while the command runs.
 */
#ifndef RUN_H
#define RUN_H

#include <sys/types.h>

struct jobserver;
struct options;

/*
 * Waits for the command; hands on signals, stops when it stops, ends it at its run timeout.
 * Every signal is blocked.  Returns the exit status that flocklimit shall have;
 * *ended is what flk_ended() is to be told.
 */

int run(const struct options *o, pid_t command, struct jobserver *j, int *ended);

#endif
