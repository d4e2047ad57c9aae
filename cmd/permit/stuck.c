/* SPDX-License-Identifier: ISC */
#include "stuck.h"

#include <stdio.h>

#include "explain.h"
#include "flocklimit.h"
#include "own.h"
#include "process.h"
#include "suspended.h"

static const char *
words_for(char state)
{
	switch (state) {
	case 'R':
		return "running";
	case 'S':
		return "asleep";
	case 'D':
		return "in a system call that cannot be interrupted";
	case 'Z':
	case 'X':
		return "ended";
	default:
		return "in an unknown state";
	}
}

/*
 * The advice is never to kill: a suspended process goes on when somebody lets it, and any other one
 * by itself, when it gets CPU time.
 */
const char *
stuck_text(pid_t pid, char room[STUCK_TEXT])
{
	char state, remedy[REMEDY_TEXT];
	const char *suspended;
	uint64_t quota;
	pid_t parent;

	if (pid == 0) {
		snprintf(room, STUCK_TEXT, "%s", explain(-FLK_STUCK));
		return room;
	}
	if (!process_stat(pid, &state, &parent)) {
		snprintf(room, STUCK_TEXT,
			 "a process that calls itself pid %d keeps everyone out: look for it in "
			 "another PID namespace",
			 (int)pid);
		return room;
	}
	quota = flki_cpu_quota(pid);
	suspended = process_suspended(pid, remedy);
	if (suspended != NULL)
		snprintf(room, STUCK_TEXT, "pid %d is %s and keeps everyone out: %s", (int)pid,
			 suspended, remedy);
	else if (quota < 1000)
		snprintf(
		    room, STUCK_TEXT,
		    "pid %d keeps everyone out: it is %s, but its cgroup may use only %g %% of "
		    "a CPU: raise that quota",
		    (int)pid, words_for(state), (double)quota / 10);
	else
		snprintf(room, STUCK_TEXT,
			 "pid %d keeps everyone out: it is %s, and should go on by itself",
			 (int)pid, words_for(state));
	return room;
}
