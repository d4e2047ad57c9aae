/* SPDX-License-Identifier: ISC */
/*
 * meeting.h - where the takers and the keepers of one user meet: a directory that only the user may enter,
 * in the limiter directory.  For each keeper it has a board and a socket, both of which the keeper removes
 * when it ends.
 */
#ifndef MEETING_H
#define MEETING_H

#include <stdbool.h>
#include <sys/types.h>

#include "same.h"

struct meeting {
	int dir; /* -1: it is not open */
	char name[SAME_NAME];
};

/* 0, or a negative code: this user has no such directory here. */
int meeting_open(struct meeting *m);

/* The board's file; -ENOENT if there is none, and it is not made. */
int meeting_board(const struct meeting *m, bool make);

/*
 * Takes the lock of the board: 0; -ENOENT: that file is the board no more; -EAGAIN: another process has it, for
 * longer than so many tries, a hundredth of a second apart.
 */
int meeting_lock(const struct meeting *m, int file, int tries);

/* A connection to the keeper; -ECONNREFUSED or -ENOENT: there is none. */
int meeting_connect(const struct meeting *m);

/* With the lock: the socket on which a keeper listens; whatever was there before is gone. */
int meeting_listen(const struct meeting *m);

/* With the lock: the keeper that listens ends. */
void meeting_remove(const struct meeting *m);

/* Of a new connection: the process at its other end; 0: it is another user's. */
pid_t meeting_peer(int socket);

#endif
