/* SPDX-License-Identifier: ISC */
#include "link.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <unistd.h>
#include <sys/mman.h>

#include "close_fd.h"
#include "now.h"
#include "settings.h"
#include "kind.h"
#include "talk.h"
#include "wrapper/internal.h"
#include "wrapper/start.h"

#define DEATHS 8 /* if so many keepers die within SPAN, another would die of the same */
#define SPAN   (2 * SECOND)

_Atomic uint64_t *board_ns;

static struct {
	pthread_mutex_t lock; /* guards all of it; held while a keeper is forked, not in a wait */
	pid_t owner;          /* the process that made the link: its children must make their own */
	int control;
	unsigned generation;
	char life[STORE_SELF]; /* of all its keepers */
	bool hushed;
	bool alone;               /* its keeper is its own */
	uint64_t born_ns[DEATHS]; /* of the last keepers, by generation */
	uint32_t given, back_n;   /* cells of the board: ever given, and given back: */
} l = { .lock = PTHREAD_MUTEX_INITIALIZER, .control = -1 };

static uint32_t back[FLK_MAX_TAKERS]; /* which; the lock guards it, too */

/* A child starts afresh: if it kept its parent's socket open, nobody would see the parent end. */
static int
make_mine(void)
{
	if (l.owner == getpid())
		return 0;
	close_fd(&l.control);
	l.generation = 0;
	l.given = l.back_n = 0;
	l.hushed = false;
	l.alone = settings.own;
	board_ns = mmap(NULL, FLK_MAX_TAKERS * sizeof(*board_ns), PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (board_ns == MAP_FAILED)
		return -ENOMEM;
	taker_name(l.life);
	l.owner = getpid();
	return 0;
}

static int
begin_own(int *control)
{
	int ends[2], error;

	if ((error = talk_pair(ends)) != 0)
		return error;
	error = start_own(ends[1], &(struct start){ .owner = l.owner,
						    .life = l.life,
						    .again = l.generation > 0,
						    .hushed = l.hushed });
	close(ends[1]);
	if (error == 0)
		*control = ends[0];
	else
		close(ends[0]);
	return error;
}

/* A host on which keepers can't meet, for example for want of a directory, has a keeper for each wrapper. */
static int
find_keeper(int *control)
{
	int error = l.alone ? -ENOTSUP : host_join(control);

	if (error != 0 && l.generation == 0)
		l.alone = true;
	return l.alone ? begin_own(control) : error;
}

static int
start_keeper(void)
{
	uint64_t *born = &l.born_ns[l.generation % DEATHS], now = now_ns();
	int control, error;

	if (l.generation >= DEATHS && now - *born < SPAN)
		return -ECHILD;
	if ((error = find_keeper(&control)) != 0)
		return error;
	close_fd(&l.control);
	l.control = control;
	l.generation++;
	*born = now;
	return 0;
}

static int
take_cell(struct tie *tie)
{
	if (!l.alone)
		return host_take_cell(tie);
	if (tie->generation != 0)
		return 0;
	if (l.back_n > 0)
		tie->cell = back[--l.back_n];
	else if (l.given < FLK_MAX_TAKERS)
		tie->cell = l.given++;
	else
		return -FLK_CROWDED;
	tie->alive_ns = &board_ns[tie->cell];
	return 0;
}

/* Sends one end over the control socket; -EPIPE: the keeper is dead. */
static int
introduce(struct tie *tie, const char *limiter)
{
	struct talk t = { .kind = TALK_NEW };
	int ends[2], error;

	if ((error = take_cell(tie)) != 0 || (error = talk_pair(ends)) != 0)
		return error;
	t.cell = tie->cell;
	talk_copy(t.limiter, sizeof(t.limiter), limiter);
	error = talk_send(l.control, &t, ends[1]);
	close(ends[1]);
	if (error != 0) {
		close(ends[0]);
		return error;
	}
	tie->socket = ends[0];
	tie->generation = l.generation;
	return 0;
}

bool
link_begin(void)
{
	bool linked;

	pthread_mutex_lock(&l.lock);
	if (make_mine() == 0 && l.generation == 0)
		start_keeper(); /* if this fails, link_tie() tries again, and returns why */
	linked = l.generation > 0;
	pthread_mutex_unlock(&l.lock);
	return linked;
}

int
link_tie(struct tie *tie, const char *limiter)
{
	bool torn = tie->socket != -1;
	int error;

	close_fd(&tie->socket);
	pthread_mutex_lock(&l.lock);
	error = make_mine();
	if (error == 0 && (l.generation == 0 || (torn && tie->generation == l.generation)))
		error = start_keeper();
	while (error == 0 && (error = introduce(tie, limiter)) == -EPIPE)
		error = start_keeper();
	pthread_mutex_unlock(&l.lock);
	return error;
}

void
link_untie(struct tie *tie)
{
	close_fd(&tie->socket);
	pthread_mutex_lock(&l.lock);
	if (tie->generation != 0 && l.alone && l.owner == getpid() && l.back_n < FLK_MAX_TAKERS)
		back[l.back_n++] = tie->cell;
	pthread_mutex_unlock(&l.lock);
	close_fd(&tie->board);
	*tie = TIE_NONE;
}

void
link_forget(struct tie *tie)
{
	close_fd(&tie->socket);
	close_fd(&tie->board);
}

void
link_hush(void)
{
	struct talk t = { .kind = TALK_HUSH };

	pthread_mutex_lock(&l.lock);
	l.hushed = true;
	if (l.owner == getpid() && l.alone && l.control != -1)
		talk_send(l.control, &t, -1);
	pthread_mutex_unlock(&l.lock);
}
