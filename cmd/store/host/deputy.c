/* SPDX-License-Identifier: ISC */
#include "deputy.h"

#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "alive.h"
#include "board.h"
#include "close_fd.h"
#include "escape.h"
#include "keeper/detach.h"
#include "keeper/keeper.h"
#include "keeper/title.h"
#include "now.h"
#include "passing.h"
#include "process.h"
#include "settings.h"
#include "talk.h"

#define DEATHS 8 /* if so many keepers die within SPAN, another would die of the same */
#define SPAN   (2 * SECOND)

enum deed { KEEP, DROP, END };

struct order {
	enum deed deed;
	enum deputy_kind kind;
	uint32_t row;
};

static struct host *host;
static int other = -1;            /* the socket between the two */
static int (*held)[DEPUTY_KINDS]; /* by row: one more than the descriptor, as 0 is none */

/* ---- the deputy ---- */

static void
drop(uint32_t row)
{
	int kind, fd;

	for (kind = 0; kind < DEPUTY_KINDS; kind++)
		if ((fd = deputy_give(row, (enum deputy_kind)kind)) != -1)
			close(fd);
}

/* False: the keeper has died. */
static bool
obey(void)
{
	struct order o;
	int fd, error = passing_receive(other, &o, sizeof(o), &fd, 0);

	if (error == -EPIPE)
		return false;
	if (error == 0 && o.row < BOARD_CELLS && o.deed == KEEP && fd != -1) {
		int *to = &held[o.row][o.kind];

		if (*to != 0)
			close(*to - 1);
		*to = fd + 1;
		fd = -1;
	} else if (error == 0 && o.row < BOARD_CELLS && o.deed == DROP) {
		drop(o.row);
	} else if (error == 0 && o.deed == END) {
		_exit(0);
	}
	close_fd(&fd);
	return true;
}

/* Returns when the keeper is dead. */
static void
hold(void)
{
	const uint64_t most = settings.ttl_s * SECOND / 3;
	struct pollfd fd = { .fd = other, .events = POLLIN };
	uint64_t left;

	for (;;) {
		left = left_until(atomic_load(&host->board->pulse_ns) + most, now_ns());
		if (left == 0)
			alive_kill(host->file, ALIVE_KEEPER);
		/* It may take long to die, for example while it hangs in a file system. */
		if (poll(&fd, 1, left == 0 ? 1000 : (int)(left / MS) + 1) == 1 && !obey())
			return;
	}
}

/* One keeper after the other. */
static _Noreturn void
serve(void)
{
	uint64_t born_ns[DEATHS] = { 0 };
	unsigned n = 0;
	int ends[2];

	for (;;) {
		uint64_t *born = &born_ns[n++ % DEATHS], now;

		if (other != -1)
			hold();
		close_fd(&other);
		now = now_ns(); /* the next one's pulse: it has until it is late to begin */
		if ((*born != 0 && now - *born < SPAN) || talk_pair(ends) != 0)
			_exit(1); /* a wrapper begins anew */
		*born = now;
		atomic_store(&host->board->pulse_ns, now);
		switch (fork()) {
		case -1:
			_exit(1);
		case 0:
			close(ends[0]);
			other = ends[1];
			keeper_run_host(host);
		default:
			close(ends[1]);
			other = ends[0];
		}
	}
}

static void
be_deputy(void)
{
	prctl(PR_SET_NAME, "store-deputy");
	title_set(NULL);
	signal(SIGCHLD, SIG_IGN);
	if (!alive_say(host->file, ALIVE_DEPUTY))
		_exit(1);
}

void
deputy_run(struct host *h)
{
	int fds[] = { h->listener, h->file, h->meeting.dir };

	if (!detach(fds, 3, true))
		_exit(1);
	h->listener = fds[0];
	h->file = fds[1];
	h->meeting.dir = fds[2];
	host = h;
	held = calloc(BOARD_CELLS, sizeof(*held));
	escape();
	if (held == NULL)
		_exit(1);
	be_deputy();
	serve();
}

/* ---- in the keeper ---- */

int
deputy_socket(void)
{
	return other;
}

int
deputy_give(uint32_t row, enum deputy_kind kind)
{
	int fd = held[row][kind] - 1;

	held[row][kind] = 0;
	return fd;
}

/* The child of a keeper: it lets go of all that makes it one. */
void
deputy_again(void)
{
	int fds[] = { host->listener, host->file, host->meeting.dir, -1 }, ends[2];

	close_fd(&other);
	if (talk_pair(ends) != 0)
		_exit(1);
	fds[3] = ends[0];
	switch (fork()) {
	case -1:
		_exit(1);
	case 0:
		if (!detach(fds, 4, true))
			_exit(1);
		other = fds[3];
		memset(held, 0, BOARD_CELLS * sizeof(*held));
		be_deputy();
		serve();
	default:
		close(ends[0]);
		other = ends[1];
	}
}

/*
 * A deputy that does not read is stopped.  The keeper kills it, finds it dead, and forks another; without
 * one, a permit would depend on the keeper alone.
 */
static void
tell(const struct order *o, int fd)
{
	struct pollfd room = { .fd = other, .events = POLLOUT };

	if (passing_send(other, o, sizeof(*o), fd, MSG_DONTWAIT) != -EAGAIN)
		return;
	if (poll(&room, 1, 1000) == 1)
		passing_send(other, o, sizeof(*o), fd, MSG_DONTWAIT);
	else
		alive_kill(host->file, ALIVE_DEPUTY);
}

void
deputy_keep(uint32_t row, enum deputy_kind kind, int fd)
{
	tell(&(struct order){ .deed = KEEP, .row = row, .kind = kind }, fd);
}

void
deputy_drop(uint32_t row)
{
	tell(&(struct order){ .deed = DROP, .row = row }, -1);
}

void
deputy_end(void)
{
	tell(&(struct order){ .deed = END }, -1);
}
