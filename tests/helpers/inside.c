/* SPDX-License-Identifier: ISC */
/*
 * inside.c - takes the lock of a limiter and stays there, until a SIGUSR1 comes.
 *
 *	inside PATH sleep|spin
 *
 * It writes a line once it is inside.  While it sleeps a SIGSTOP can stop it there; when it spins, it
 * needs CPU time to leave.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "internal.h"

static volatile sig_atomic_t leave;

static void
on_usr1(int sig)
{
	(void)sig;
	leave = 1;
}

int
main(int argc, char **argv)
{
	struct sigaction handle = { .sa_handler = on_usr1 };
	sigset_t usr1, was;
	struct flk_taker *t;
	struct flk *f;
	struct state st;

	if (argc != 3)
		return 2;
	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	sigprocmask(SIG_BLOCK, &usr1, &was);
	sigaction(SIGUSR1, &handle, NULL);
	if (flk_attach(&f, argv[1], NULL) != 0 || flk_taker_new(&t, f) != 0 ||
	    flki_enter(t, &st) != 0)
		return 1;
	puts("inside");
	fflush(stdout);
	if (strcmp(argv[2], "spin") == 0) {
		sigprocmask(SIG_SETMASK, &was, NULL);
		while (!leave)
			;
	} else {
		while (!leave)
			sigsuspend(&was);
	}
	if (flki_quit(t, &st) != 0)
		return 1;
	flk_taker_free(t);
	flk_detach(f);
	return 0;
}
