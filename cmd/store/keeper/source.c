/* SPDX-License-Identifier: ISC */
/*
 * source.c - see source.h.
 */
#include "source.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>

#include "clock.h"

#define EVENTS 64

static int epoll = -1, timer = -1;

int
source_watch(int fd, uint32_t events, struct source *s)
{
	struct epoll_event e = { .events = events, .data.ptr = s };

	return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &e) == -1 ? -errno : 0;
}

void
source_unwatch(int fd)
{
	epoll_ctl(epoll, EPOLL_CTL_DEL, fd, NULL);
}

static void
on_timer(struct source *s)
{
	uint64_t count;
	ssize_t n = read(timer, &count, sizeof(count));

	(void)s;
	(void)n; /* the loop does what is due anyway */
}

bool
sources_open(void)
{
	static struct source source = { .ready = on_timer };

	epoll = epoll_create1(EPOLL_CLOEXEC);
	timer = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
	return epoll != -1 && timer != -1 && source_watch(timer, EPOLLIN, &source) == 0;
}

void
sources_sleep(uint64_t next)
{
	struct itimerspec at = { .it_value = flki_timespec(next) };
	struct epoll_event event[EVENTS];
	int i, n;

	if (next != UINT64_MAX)
		timerfd_settime(timer, TFD_TIMER_ABSTIME, &at, NULL);
	n = epoll_wait(epoll, event, EVENTS,
		       next != UINT64_MAX && next <= flki_boottime_ns() ? 0 : -1);
	for (i = 0; i < n; i++) {
		struct source *s = event[i].data.ptr;
		s->ready(s); /* no ready() frees a source */
	}
}
