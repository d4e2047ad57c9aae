/* SPDX-License-Identifier: ISC */
/*
 * cancel.h - no function of this library is a cancellation point.  A thread that pthread_cancel()
 * ends inside of one would leave descriptors open for good, and maybe the limiter's lock taken.
 * So each function that makes a system call at which the C library may end the thread, such as
 * open() or usleep(), begins with
 *
 *	int cancel FLKI_RESTORED = flki_no_cancel();
 *
 * after which the thread can be cancelled again when the function returns.
 */
#ifndef FLKI_CANCEL_H
#define FLKI_CANCEL_H

#include <pthread.h>
#include <stddef.h>

static inline int
flki_no_cancel(void)
{
	int before;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
	return before;
}

static inline void
flki_restore_cancel(const int *before)
{
	pthread_setcancelstate(*before, NULL);
}

/* Read by nothing but its end, which analysers do not see. */
#define FLKI_RESTORED __attribute__((unused, cleanup(flki_restore_cancel)))

#endif
