/* SPDX-License-Identifier: ISC */
#include "host.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "close_fd.h"
#include "flocklimit.h"
#include "host/alive.h"
#include "host/board.h"
#include "host/meeting.h"
#include "link.h"
#include "now.h"
#include "settings.h"
#include "wrapper/internal.h"
#include "wrapper/start.h"

#define TRIES 8
#define AGAIN SECOND

/* The first thread that needs a keeper fills it, and others only read the board's address. */
static struct {
	struct meeting meeting;
	_Atomic(struct board *) board; /* stays mapped when there is another: ties point into it */
	int file;
	dev_t dev;
	ino_t ino;
} h = { .meeting.dir = -1, .file = -1 };

/* ---- the board ---- */

int
host_map(int file, struct board **board)
{
	struct stat sb;

	if (fstat(file, &sb) == -1)
		return -errno;
	if (sb.st_size != sizeof(**board))
		return -ENOENT;
	*board = mmap(NULL, sizeof(**board), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	return *board == MAP_FAILED ? -ENOMEM : 0;
}

static bool
is_ours(int file)
{
	struct stat sb;

	return h.file != -1 && fstat(file, &sb) == 0 && sb.st_ino == h.ino && sb.st_dev == h.dev;
}

/* That of the keeper which we have just reached. */
static int
use_board(void)
{
	int file = meeting_board(&h.meeting, false), error;
	struct board *board;
	struct stat sb;

	if (file < 0)
		return file;
	if (is_ours(file)) {
		close(file);
		return 0;
	}
	if (fstat(file, &sb) == -1 || (error = host_map(file, &board)) != 0) {
		close(file);
		return -ENOENT;
	}
	close_fd(&h.file);
	h.file = file;
	h.dev = sb.st_dev;
	h.ino = sb.st_ino;
	atomic_store(&h.board, board);
	return 0;
}

/* ---- its keeper ---- */

int
host_join(int *control)
{
	int tries, error = 0;

	if (h.meeting.dir == -1 && (error = meeting_open(&h.meeting)) != 0)
		return error;
	for (tries = 0; tries < TRIES; tries++) {
		int fd = meeting_connect(&h.meeting);

		if (fd >= 0 && use_board() == 0) {
			*control = fd;
			return 0;
		}
		if (fd >= 0)
			close(fd);
		else if (fd != -ECONNREFUSED && fd != -ENOENT)
			return fd;
		if ((error = start_host(&h.meeting)) != 0)
			return error;
	}
	return -ECHILD;
}

/* ---- a taker's cell ---- */

/* The keeper still has something for a dead taker with that cell, and would take us for it. */
static bool
is_left_over(const struct board *b, uint32_t cell)
{
	uint32_t i;

	for (i = 0; i < b->rows; i++)
		if (b->row[i].self[0] != '\0' && b->row[i].cell == cell)
			return true;
	return false;
}

/* Begins anywhere, so that there is seldom another taker. */
static int
lock_cell(const struct board *b, int file, uint32_t *cell)
{
	uint32_t i, first = (uint32_t)(now_ns() / 1000);

	for (i = 0; i < BOARD_CELLS; i++) {
		*cell = (first + i) % BOARD_CELLS;
		if (!alive_take_cell(file, *cell))
			continue;
		if (!is_left_over(b, *cell))
			return 0;
		alive_leave_cell(file, *cell);
	}
	return -FLK_CROWDED;
}

int
host_take_cell(struct tie *tie)
{
	struct board *board = atomic_load(&h.board);
	uint64_t alive_ns;
	int file, error;

	if (tie->board != -1 && tie->alive_ns == &board->alive_ns[tie->cell])
		return 0;
	file = meeting_board(&h.meeting, false);
	if (file < 0)
		return file == -ENOENT ? -EPIPE : file;
	if (!is_ours(file)) {
		close(file);
		return -EPIPE; /* that keeper has ended, and the next one has come */
	}
	if ((error = lock_cell(board, file, &tie->cell)) != 0) {
		close(file);
		return error;
	}
	/* The permit of a keeper that somebody deleted is known to live as long as it knew. */
	alive_ns = tie->alive_ns != NULL ? atomic_load(tie->alive_ns) : 0;
	close_fd(&tie->board);
	tie->board = file;
	tie->alive_ns = &board->alive_ns[tie->cell];
	atomic_store(tie->alive_ns, alive_ns);
	return 0;
}

/* ---- its pulse ---- */

uint64_t
host_look(void)
{
	struct board *board = atomic_load(&h.board);
	uint64_t now, due;

	if (board == NULL)
		return NEVER;
	now = now_ns();
	due = atomic_load(&board->pulse_ns) + settings.ttl_s * SECOND * 2 / 3;
	if (now < due)
		return due;
	alive_kill(h.file, ALIVE_DEPUTY);
	alive_kill(h.file, ALIVE_KEEPER);
	return now + AGAIN;
}
