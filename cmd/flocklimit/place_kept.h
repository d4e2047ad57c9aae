/* SPDX-License-Identifier: ISC */
/*
 * place_kept.h - --keep-place: a place in the line that outlives its caller.
 *
 * A keeper, a process of its own, waits in the line.  A front, the flocklimit that was called, is
 * attached to it by a socket, whose name the user, the limiter and the words of the call make.  When the
 * front dies, by whatever signal, the keeper sees the end of the socket.  It keeps the place, and a
 * permit that comes meanwhile, for some time; a front with the same name is attached again.
 *
 *	front                                     keeper
 *	    time to keep, descriptor  --->        waits in the line
 *	    <---  -EINPROGRESS, its slot
 *	    ...                                   has its permit: ties it to the descriptor
 *	    <---  0, the permit                   ends
 *
 * The descriptor is open on the limiter's file; with it the front and its command have the permit, and
 * no process must stay for it: see flk_entrust_to().  A keeper that dies costs what a waiter costs.
 */
#ifndef PLACE_KEPT_H
#define PLACE_KEPT_H

#include <stdint.h>
#include <sys/types.h>
#include <sys/un.h>

#include "flocklimit.h"

struct job;

/*
 * As line_take().  With the permit, j->kept is the descriptor that has it, and j->slot its slot.
 * -EALREADY, after a line: another flocklimit waits with this place.
 */
int place_take(struct job *j, const struct flk_request *want);

/* ---- between place_front.c and place_keeper.c ---- */

/* The process at the other end, if it is of the same user; else -1. */
pid_t place_peer(int socket);

/* With it comes the descriptor. */
struct place_hello {
	uint64_t keep_ns;
};

struct place_answer {
	int32_t code; /* the library's, -EINPROGRESS, or -EALREADY */
	pid_t front;  /* -EALREADY: which one */
	uint32_t slot;
	struct flk_permit permit;
};

/* Serves fronts that come to the listening socket.  In a process of its own; never returns. */
void place_keeper_run(const struct job *j, const struct flk_request *want, int listener)
    __attribute__((noreturn));

#endif
