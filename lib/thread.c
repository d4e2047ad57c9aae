/* SPDX-License-Identifier: ISC */
/*
 * thread.c - the program's signals are for the program's threads.  But faults stay unblocked: a file
 * that is cut short raises SIGBUS in whichever thread touches its mapping, a filter of system calls
 * SIGSYS in whichever makes one, and a thread that blocks a fault is killed with its process, past
 * the program's handler.
 */
#include "thread.h"

#include <pthread.h>
#include <signal.h>

int
flki_thread_start(void *(*run)(void *), void *arg, size_t stack)
{
	static const int faults[] = { SIGBUS, SIGSEGV, SIGILL, SIGFPE, SIGSYS };
	sigset_t blocked, saved;
	pthread_attr_t attr;
	pthread_t thread;
	size_t i;
	int error = pthread_attr_init(&attr);

	if (error != 0)
		return -error;
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	if (stack != 0)
		pthread_attr_setstacksize(&attr, stack);
	sigfillset(&blocked);
	for (i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		sigdelset(&blocked, faults[i]);
	pthread_sigmask(SIG_SETMASK, &blocked, &saved);
	error = pthread_create(&thread, &attr, run, arg);
	pthread_sigmask(SIG_SETMASK, &saved, NULL);
	pthread_attr_destroy(&attr);
	return -error;
}
