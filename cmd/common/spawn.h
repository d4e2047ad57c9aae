/*
 * spawn.h - starting the command as if we were not there.
 */
#ifndef SPAWN_H
#define SPAWN_H

#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

struct flk_taker;

/* What the command must find as we found it, and our part in it. */
struct heritage {
	sigset_t mask;
	struct sigaction bus;    /* we handle it */
	bool chld_ignored;       /* we need it */
	int guard_fd;            /* to inherit, at a high number; -1: nothing */
	struct flk_taker *taker; /* what spawn() starts works under its permit; NULL: under none */
	struct rlimit files;     /* we may have more */
	int also[3];             /* to inherit as they are; -1: nothing */
	int fds[3];              /* to have as 0, 1 and 2; -1: as we have them */
};

/* sigprocmask(2) of all 64 signals: C libraries keep the first of the real-time ones for themselves. */
void signals_mask(int how, const sigset_t *set, sigset_t *old);

/* Blocks every signal but those that tell of a fault of ours. */
void signals_block(void);

/* Takes note of it, and blocks every signal but those that tell of a fault of ours. */
void heritage_save(struct heritage *h);

/* The limiter's name for a fault of its file, and the status to exit with then. */
void on_fault(const char *limiter, int status);

/* Undoes that in this process. */
void heritage_restore(const struct heritage *h);

/* The command's process, or -1 and errno; *exec_error is why it could not be executed, or 0. */
pid_t spawn(char **argv, char **envp, const struct heritage *h, int *exec_error);

/* Becomes the command; returns an errno value if it can't. */
int become(char **argv, char **envp, const struct heritage *h);

/* The exit status for what become() returned, or look_for() of find.h: 126 or 127, as env(1) has them. */
int cannot_run(int error);

#endif
