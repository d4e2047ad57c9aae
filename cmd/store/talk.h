/* SPDX-License-Identifier: ISC */
/*
 * talk.h - what a wrapper and its keeper say to each other: datagrams on a SEQPACKET socket, each a
 * whole struct talk, some with a descriptor.  Both are one program: no versions, no byte order.
 *
 * The process has one control socket; over it come the others, one for each taker.  When a taker's
 * socket ends, the processes that could release its permit have ended.
 */
#ifndef TALK_H
#define TALK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "protocol/fleet.h"

enum talk_kind {
	/* to the keeper, on the control socket */
	TALK_NEW = 1, /* with the keeper's end of a taker's socket: limiter, cell */
	TALK_HUSH, /* to its own keeper: keep nothing of the caller's open any more, not even stderr */

	/* to the keeper, on a taker's */
	TALK_ENTER, /* self, want */
	TALK_ADOPT, /* self, want, held, reported: a taker without a keeper; its descriptors came before */
	TALK_LEAVE,
	TALK_RELEASE,  /* code: the command's status, or FLK_UNKNOWN; memory, cpu_ns */
	TALK_WORKING,  /* with a pidfd: pid */
	TALK_GUARD,    /* with the guard's read end */
	TALK_LOCAL,    /* with what keeps this machine's permit: keep it open while it holds */
	TALK_ENTRUST,  /* with a pidfd: the wrapper becomes the command */
	TALK_REPORTED, /* the wrapper has reported to people that the permit is lost, for good */
	TALK_LOOK,     /* ask; ticket, or 0: the state of this taker; patience_ns */

	/* from the keeper, on a taker's: as in fleet.h */
	TALK_QUEUED,
	TALK_GRANTED,
	TALK_REFUSED,
	TALK_LOST,
	TALK_LEFT,
	TALK_RELEASED,
	TALK_AWAY,
	TALK_BACK,
	TALK_SAY,   /* a line for stderr; code: not 0 if it is a note, which -q does without */
	TALK_LOOKED /* ask; code; place, or permit of that ticket */
};

/*
 * The board: memory that the wrapper shares with its keepers, with a cell for each taker.  The
 * keeper writes there when the call was sent by which the store last knew that the taker lives
 * (CLOCK_BOOTTIME, ns), and the wrapper reads it: the wrapper must know the permit's last moment even
 * when the keeper is stopped, and should not wake for each renewal.
 */
extern _Atomic uint64_t *board_ns;

struct talk {
	enum talk_kind kind;
	int code;
	uint64_t ask, patience_ns, ticket, fence;
	uint64_t memory, cpu_ns;
	uint32_t weight, limit, seat;
	uint32_t cell; /* in board_ns */
	uint32_t pid, uid;
	bool held, reported;
	struct fleet_want want;
	struct flk_place place;
	char limiter[FLK_NAME_MAX + 1];
	char self[STORE_SELF], host[STORE_HOST], head_host[STORE_HOST];
	char key[FLEET_KEY], text[FLEET_TEXT];
};

/* Copies as much as fits; NULL is "". */
void talk_copy(char *to, size_t size, const char *from);

/*
 * Never waits, and never raises SIGPIPE. fd: -1, or a descriptor to send along, which stays the
 * caller's too.  0, -EPIPE when the other end is closed, -EAGAIN when the other process does not
 * read.
 */
int talk_send(int socket, const struct talk *t, int fd);

/*
 * 0; -EAGAIN: nothing has come; -EPIPE: the other end is closed; -EMFILE: a message came with a
 * descriptor for which there was no room.  *fd is -1, or a descriptor that is now the caller's.
 */
int talk_receive(int socket, struct talk *t, int *fd);

/* Both ends are close-on-exec and above stdio. */
int talk_pair(int ends[2]);

#endif
