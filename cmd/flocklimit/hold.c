/* SPDX-License-Identifier: ISC */
#include "hold.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "descriptor.h"
#include "flocklimit.h"
#include "now.h"
#include "pidfd.h"
#include "say.h"
#include "split.h"
#include "kind.h"

static int holder_fd; /* a pidfd of the process that the permit is for */
static int ticket_fd; /* to which the keeper writes its ticket */

#define OPTION "--hold-for"

/* Until the keeper has written its ticket, it dies with us; and we give up if the process ends. */
static int
wait_for_ticket(const struct options *o, int fd, pid_t keeper)
{
	struct pollfd polls[2] = { { .fd = fd, .events = POLLIN },
				   { .fd = holder_fd, .events = POLLIN } };
	char ticket[32];
	ssize_t n;

	while (poll(polls, 2, -1) == -1 && errno == EINTR)
		;
	if (polls[0].revents == 0) {
		say(o->want.limiter, "--hold-for: process %d ended before the permit was granted",
		    (int)o->hold_for);
		return 125;
	}
	n = read(fd, ticket, sizeof(ticket));
	if (n <= 0)
		return split_status(keeper);
	if (write(STDOUT_FILENO, ticket, (size_t)n) == n)
		return 0;
	/* A caller that learns of a failure has no permit. */
	kill(keeper, SIGTERM);
	return split_failed(o->want.limiter, OPTION, "stdout");
}

int
hold_split(const struct options *o)
{
	pid_t keeper;
	int end;

	/* Above stdio, as split_close() puts /dev/null there. */
	holder_fd = flki_above_stdio(flki_pidfd_open(o->hold_for));
	if (holder_fd == -1 && errno == ESRCH) {
		say(o->want.limiter, "--hold-for: there is no process %d", (int)o->hold_for);
		return 125;
	}
	if (holder_fd == -1)
		return split_failed(o->want.limiter, OPTION, "pidfd_open");
	keeper = split_fork(o->want.limiter, OPTION, &end);
	if (keeper == -1)
		return 125;
	ticket_fd = end;
	return keeper == 0 ? -1 : wait_for_ticket(o, end, keeper);
}

static _Atomic bool let_go;

static void
on_term(int sig)
{
	(void)sig;
	let_go = true;
}

/* SIGTERM is caught: the keeper releases the permit, and the history does not show it as killed. */
static void
until_it_ends(void)
{
	struct pollfd polls[2] = { { .fd = holder_fd, .events = POLLIN }, { .events = POLLIN } };
	struct sigaction handle = { .sa_handler = on_term };
	uint64_t next, now;
	struct timespec left;
	sigset_t mask;

	sigfillset(&handle.sa_mask);
	sigaction(SIGTERM, &handle, NULL);
	sigfillset(&mask);
	sigdelset(&mask, SIGTERM);
	do {
		next = kind_look();
		now = now_ns();
		next = next > now ? next - now : 0;
		left = flki_timespec(next);
		polls[0].revents = 0;
		polls[1].fd = kind_fd();
		ppoll(polls, 2, next > NEVER / 2 ? NULL : &left, &mask);
	} while (!let_go && polls[0].revents == 0);
}

int
hold_keep(const struct options *o, struct flk_taker *t)
{
	struct flk_permit permit;
	char text[32];
	int n;

	/*
	 * From here on the process that waits for the ticket may end.  If it has, the permit goes
	 * back at once.
	 */
	if (!split_free(ticket_fd)) {
		flk_release(t);
		return 125;
	}
	if (flk_permit(t, &permit) != 0)
		return 125;
	split_detach();
	here.keep_for(t, o->hold_for, holder_fd);
	n = snprintf(text, sizeof(text), "%" PRIu64 "\n", permit.ticket);
	if (write(ticket_fd, text, (size_t)n) == n) {
		close(ticket_fd);
		until_it_ends();
	}
	flk_release(t);
	return 0;
}
