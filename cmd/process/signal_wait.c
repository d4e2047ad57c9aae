/* SPDX-License-Identifier: ISC */
/*
 * signal_wait.c - by rt_sigtimedwait(2) or, where a filter of system calls forbids that,
 * signalfd(2).
 */
#include "signal_wait.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/signalfd.h>

#include "now.h"

static int descriptor = -1;

static int
read_descriptor(siginfo_t *info)
{
	struct signalfd_siginfo s;

	if (read(descriptor, &s, sizeof(s)) != sizeof(s))
		return 0;
	memset(info, 0, sizeof(*info));
	info->si_signo = (int)s.ssi_signo;
	info->si_code = s.ssi_code;
	info->si_pid = (pid_t)s.ssi_pid;
	info->si_value.sival_ptr = (void *)(uintptr_t)s.ssi_ptr;
	return info->si_signo;
}

static int
wait_by_descriptor(const sigset_t *set, const struct timespec *left, siginfo_t *info)
{
	struct pollfd ready = { .events = POLLIN };

	/* An open descriptor stays, and gets the new set. */
	ready.fd = signalfd(descriptor, set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (ready.fd == -1)
		return -1;
	descriptor = ready.fd;
	if (ppoll(&ready, 1, left, NULL) == -1)
		return errno == EINTR ? 0 : -1;
	return read_descriptor(info);
}

int
signal_wait(const sigset_t *set, uint64_t deadline, siginfo_t *info)
{
	struct timespec left = { 0 };
	uint64_t now;
	int sig;

	do {
		if (deadline != NEVER) {
			now = now_ns();
			if (now >= deadline)
				return 0;
			left = flki_timespec(deadline - now);
		}
		sig = sigtimedwait(set, info, deadline != NEVER ? &left : NULL);
		if (sig == -1 && errno != EINTR && errno != EAGAIN)
			if ((sig = wait_by_descriptor(set, deadline != NEVER ? &left : NULL,
						      info)) == -1)
				return -1;
	} while (sig <= 0);
	return sig;
}
