/* SPDX-License-Identifier: ISC */
/*
 * spawn.h - starting the command as if we were not there.
 */
#ifndef SPAWN_H
#define SPAWN_H

#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

/* Guards are inherited from here on: above what scripts use, below the next size of the kernel's table. */
#define GUARD_FD 50

struct flk_taker;

/* A permit that the command has beside the one of `taker'. */
struct heir {
	struct flk_taker *taker;
	int guard; /* as guard_fd */
};

/* What the command must find as we found it, and what it gets from us. */
struct heritage {
	sigset_t mask;
	struct sigaction bus;    /* SIGBUS: we catch it */
	bool own_group;          /* it leads a process group of its own */
	bool chld_ignored;       /* SIGCHLD was ignored: we need it, to wait for children */
	const char *program;     /* what is executed; NULL: what the command's first word names */
	int guard_fd;            /* the command inherits it, at a high number; -1: none */
	struct flk_taker *taker; /* the command that spawn() starts has its permit; NULL: none */
	const struct heir *more; /* n_more of them */
	unsigned n_more;
	struct rlimit files; /* RLIMIT_NOFILE, if we raised our own; rlim_cur 0: we did not */
	int inherit[3];      /* descriptors that it inherits under the same number; -1: none */
	int stdio[3];        /* what its descriptors 0, 1 and 2 are; -1: the same as ours */
};

/* Fills in what we found, catches SIGBUS, and then does signals_block(). */
void heritage_save(struct heritage *h);

/*
 * What to print if a fault shows that the limiter's file was cut short, and the status to exit
 * with.  FAULT_SLEEPS: a command runs, whose end the first thread awaits: another thread that faults
 * sleeps for ever.
 */
#define FAULT_SLEEPS (-1)
void on_fault(const char *limiter, int status);

/*
 * Where such a fault of this thread continues: nothing is printed, and the process does not end.
 * What was mapped must not be touched from then on.  NULL: there is no such place.
 */
extern _Thread_local sigjmp_buf *fault_jump;

/* Prints the line, if none was printed. */
void fault_say(void);

/*
 * Starts the command: its pid, or -1 and errno.  *exec_error: 0, or why exec failed in the child.
 */
pid_t spawn(char **argv, char **envp, const struct heritage *h, int *exec_error);

/* Becomes the command; returns an errno value if it can't. */
int become(char **argv, char **envp, const struct heritage *h);

/*
 * The exit status for what become() returned, or check_program(): 126 or 127, as env(1) has them.
 */
int cannot_run(int error);

#endif
