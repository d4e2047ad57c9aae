/* SPDX-License-Identifier: ISC */
/*
 * expiry.h - when a permit expires that the store no longer confirms, and what happens to its
 * command then.  Pure: the caller passes the time, and does what expiry_step() returns.
 *
 * The store gives a permit to no other taker before alive_ns + ttl + grace.  The command must have
 * ended by then, by whatever clock.  Its last moment, D, is therefore that time less a margin for
 * clocks that do not run alike.  The keeper sends the command TERM EXPIRY_NOTICE before D, and KILL at
 * D.  If the store has already said that the permit is lost, the keeper sends TERM at once, and
 * KILL after the notice.
 */
#ifndef EXPIRY_H
#define EXPIRY_H

#include <stdbool.h>
#include <stdint.h>

#include "clock.h"

#define EXPIRY_NEVER  UINT64_MAX
#define EXPIRY_NOTICE (2 * SECOND) /* from TERM to KILL */

enum expiry_state {
	EXPIRY_SAFE,   /* before D less the notice */
	EXPIRY_WARNED, /* the command was sent TERM, or people were warned (warn) */
	EXPIRY_OVER    /* the command was sent KILL, or need not be */
};

enum expiry_deed { EXPIRY_NOTHING, EXPIRY_TERM, EXPIRY_KILL, EXPIRY_WARN };

struct expiry {
	uint64_t lasts_ns; /* fixed: from alive_ns to D */
	bool warn;         /* fixed: nothing is sent */
	uint64_t alive_ns; /* only rises */
	uint64_t kill_ns;  /* in EXPIRY_WARNED: when KILL is due */
	enum expiry_state state;
	bool lost; /* the store said so, or we sent TERM: a renewal does not undo it */
};

void expiry_begin(struct expiry *e, uint32_t ttl_s, uint32_t grace_s, bool warn, uint64_t alive_ns);

/* The command's last moment. */
uint64_t expiry_deadline(const struct expiry *e);

/* The store has confirmed the permit; true if people were warned of a loss, and it was kept. */
bool expiry_renew(struct expiry *e, uint64_t alive_ns);

/* The store has said that the permit is lost. */
void expiry_lose(struct expiry *e, uint64_t now_ns);

/* When to call expiry_step() next. */
uint64_t expiry_due(const struct expiry *e);

/* What the caller must do now.  Each deed is returned once. */
enum expiry_deed expiry_step(struct expiry *e, uint64_t now_ns);

/* The least grace that leaves time for a renewal that failed, the notice and the margin. */
uint32_t expiry_least_grace(uint32_t ttl_s);

#endif
