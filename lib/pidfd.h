/* SPDX-License-Identifier: ISC */
/*
 * pidfd.h - the system calls of pidfds, which not every C library has functions for.  Their numbers
 * are the same on every architecture.
 */
#ifndef FLKI_PIDFD_H
#define FLKI_PIDFD_H

#include <stddef.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#ifndef SYS_pidfd_send_signal
#define SYS_pidfd_send_signal 424
#endif
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

/* Close-on-exec.  It names the same process until it is closed, even when its number is reused. */
static inline int
flki_pidfd_open(pid_t pid)
{
	return (int)syscall(SYS_pidfd_open, pid, 0);
}

static inline int
flki_pidfd_signal(int pidfd, int sig)
{
	return (int)syscall(SYS_pidfd_send_signal, pidfd, sig, NULL, 0);
}

#endif
