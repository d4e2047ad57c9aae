/* SPDX-License-Identifier: ISC */
/*
 * several.c - flocklimit --and, killed at each of its system calls: on the way in, on the way out, and
 * asleep.
 *
 * killstep.t kills a taker of one limiter after each instruction.  A program that takes permits of
 * several limiters does these operations one after another, so here it is enough to kill it between
 * them.  After each kill, all three limiters must come free, and with nothing broken in them; their
 * permits end by themselves, as no process cleans up.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "../helpers/common.h"

#define LIMITERS   3
#define NOT_TRACED 98   /* the exit status of a child that may not be traced */
#define LEAST      50   /* stops of one run, */
#define MOST       4000 /* and at most */

static const char *const name[LIMITERS] = { "one", "two", "three" };
static struct flk *limiter[LIMITERS];
static struct flk *busy; /* the limiter in which it waits for ever, or NULL */

static bool
has_waiter(struct flk *f)
{
	struct flk_snapshot *s;
	bool has;

	if (flk_snapshot(f, &s) != 0)
		tap_bail("flk_snapshot");
	has = s->waiters > 0;
	free(s);
	return has;
}

/* It has stopped in its exec, and *status says so. */
static pid_t
launch(int *status)
{
	const char *program = getenv("FLOCKLIMIT");
	pid_t pid = fork_child();

	if (pid == 0) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) == -1)
			_exit(NOT_TRACED);
		execl(program, "flocklimit", "-N", name[0], "-n", "1", "--and", name[1], "--and",
		      name[2], "true", NULL);
		_exit(97);
	}
	if (waitpid(pid, status, 0) != pid)
		tap_bail("waitpid");
	if (WIFEXITED(*status) && WEXITSTATUS(*status) == NOT_TRACED)
		tap_skip_all("no process can be traced here");
	if (!WIFSTOPPED(*status) ||
	    ptrace(PTRACE_SETOPTIONS, pid, NULL, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL) == -1)
		tap_bail("%s can't be traced", program);
	return pid;
}

/* To the next stop; false if it has ended, or sleeps for ever. */
static bool
go_on(pid_t pid, int *status)
{
	int sig = WSTOPSIG(*status);
	pid_t stopped;

	/* A stop by SIGTRAP is of exec, or of a system call. */
	ptrace(PTRACE_SYSCALL, pid, NULL, (sig & 0x7f) == SIGTRAP ? 0 : sig);
	if (busy == NULL)
		stopped = waitpid(pid, status, 0);
	else
		while ((stopped = waitpid(pid, status, WNOHANG)) == 0) {
			if (is_asleep(pid) && has_waiter(busy))
				return false;
			sched_yield();
		}
	return stopped == pid && WIFSTOPPED(*status);
}

/* Lets it make so many steps, and kills it.  False if there were fewer: it sleeps, or has ended well. */
static bool
kill_after(int steps, int *made)
{
	int status;
	pid_t pid = launch(&status);
	bool runs = true;

	for (*made = 0; *made < steps && (runs = go_on(pid, &status)); (*made)++)
		;
	if (WIFSIGNALED(status) || (WIFEXITED(status) && WEXITSTATUS(status) != 0))
		tap_bail("it ended with the wait status %#x", (unsigned)status);
	if (WIFSTOPPED(status)) { /* else it was reaped, and the pid may be another's */
		kill(pid, SIGKILL);
		reap_child(pid);
	}
	return runs;
}

/* Every limiter can be had whole, and nothing is broken. */
static bool
all_free(void)
{
	const struct flk_request one = { .weight = 1, .limit = 1 };
	struct timespec until = in_ms(PATIENCE_MS);
	char why[200] = "";
	int i, error;

	for (i = 0; i < LIMITERS; i++) {
		struct flk_taker *t = taker(limiter[i]);
		error = flk_acquire(t, &one, &until);
		flk_taker_free(t);
		if (error != 0 || flk_check(limiter[i], why, sizeof(why)) != 0) {
			tap_note("limiter %d: %s; %s", i, flk_strerror(error), why);
			return false;
		}
	}
	return true;
}

static void
sweep(const char *what)
{
	const struct flk_request one = { .weight = 1, .limit = 1 };
	struct flk_taker *holder = busy != NULL ? taker(busy) : NULL;
	int kills, made, broken = 0;
	bool runs = true;

	for (kills = 0; runs && kills < MOST && broken == 0; kills++) {
		if (holder != NULL && flk_acquire_for(holder, &one, PATIENCE_MS) != 0)
			tap_bail("no permit");
		runs = kill_after(kills, &made);
		if (holder != NULL)
			flk_release(holder);
		if (!all_free()) {
			broken++;
			tap_note("killed after %d of its stops", made);
		}
	}
	ok(broken == 0 && !runs && kills > LEAST, "%s: %d kills", what, kills);
	if (holder != NULL)
		flk_taker_free(holder);
}

int
main(void)
{
	char directory[200], path[300];
	int i;

	begin();
	if (getenv("FLOCKLIMIT") == NULL)
		tap_skip_all("FLOCKLIMIT names no program");
	snprintf(directory, sizeof(directory), "%s", fresh_path());
	if (mkdir(directory, 0700) == -1 || setenv("FLOCKLIMIT_DIR", directory, 1) == -1)
		tap_bail("%s: %s", directory, strerror(errno));
	for (i = 0; i < LIMITERS; i++) {
		snprintf(path, sizeof(path), "%s/%s", directory, name[i]);
		limiter[i] = attach(path);
	}
	sweep("it takes all three, runs its command and gives them back");
	for (i = 0; i < LIMITERS; i++) {
		busy = limiter[i];
		sweep("it waits for one of them");
	}
	for (i = 0; i < LIMITERS; i++)
		whole(limiter[i], "afterwards");
	return tap_done();
}
