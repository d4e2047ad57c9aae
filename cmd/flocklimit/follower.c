/* SPDX-License-Identifier: ISC */
#include "follower.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>
#include <sys/prctl.h>

#include "clock.h"
#include "flocklimit.h"
#include "process.h"
#include "spawn.h"

#define LEAST_NS 1000000       /* from one signal to the next */
#define LONGEST  (60 * SECOND) /* without a look */

static void
follow(struct flk *limiter, void *value, pid_t parent)
{
	struct timespec least = { 0, LEAST_NS }, blind = { 1, 0 }, deadline;
	union sigval ours = { .sival_ptr = value };
	struct flk_event event[32];
	uint64_t number = 0;
	size_t n;
	int error;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	process_close_from(0); /* this process must not keep a pipe or a guard open */
	while (getppid() == parent) {
		while ((n = flk_history(limiter, number, event, 32)) > 0)
			number = event[n - 1].number;
		sigqueue(parent, SIGIO, ours);
		nanosleep(&least, NULL);
		/* A reader of the limiter can move our sleep to another word: then we look without news. */
		deadline = flki_timespec(flki_monotonic_ns() + LONGEST);
		error = flk_follow(limiter, number, &deadline);
		if (error == -FLK_GONE)
			return; /* there will be no news */
		if (error != 0 && error != -ETIMEDOUT)
			nanosleep(&blind, NULL);
	}
	_exit(0);
}

/* A follower that returns stays: another one in its place would have no news either. */
pid_t
follower_start(struct flk *limiter, void *value)
{
	pid_t parent = getpid(), pid = fork();
	sigjmp_buf cut;

	if (pid != 0)
		return pid;
	fault_jump = &cut;
	if (sigsetjmp(cut, 1) == 0)
		follow(limiter, value, parent);
	for (;;)
		pause();
}
