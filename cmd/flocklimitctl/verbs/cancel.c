/* SPDX-License-Identifier: ISC */
/*
 * cancel.c - the verbs that are about single takers: cancel, release, shrink, break.
 */
#include "ctl.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "limiter_state.h"
#include "limiters.h"
#include "parse.h"
#include "say.h"
#include "signal_holder.h"
#include "tickets.h"
#include "kind.h"

static int
cannot(const struct ctl *c, uint64_t ticket, const char *what)
{
	say(name_of(c), "ticket %" PRIu64 ": %s", ticket, what);
	return NO;
}

/* We can't signal a process on another machine. */
static int
is_abroad(const struct ctl *c, const struct flk_entry *e)
{
	say(name_of(c),
	    "ticket %" PRIu64 ": its process, pid %u, is on %s: signal it there, or take its "
	    "permit away: flocklimitctl break",
	    e->ticket, e->pid, e->host);
	return NO;
}

/* Sends the signal to the process of a holder. */
static int
signal_it(const struct ctl *c, struct flk *f, const struct flk_entry *e, int sig)
{
	int error;

	if (e->host != NULL)
		return is_abroad(c, e);
	error = signal_holder(f, e, sig);
	if (error == -ENOENT)
		return cannot(c, e->ticket,
			      "it has just ended, or its pid is of another namespace");
	if (error == 0)
		return DONE;
	say(name_of(c), "ticket %" PRIu64 ": pid %d: %s", e->ticket, e->pid, strerror(-error));
	return FAILED;
}

static int
cancel_one(const struct ctl *c, struct flk *f, uint64_t ticket, void *ctx)
{
	struct flk_snapshot *s;
	const struct flk_entry *e;
	int error, status;

	(void)ctx;
	if (c->signal == -1 && (error = flk_evict(f, ticket)) != -FLK_NOPERMIT)
		return error;
	if ((error = flk_snapshot(f, &s)) != 0)
		return error;
	e = entry_of_ticket(s, ticket);
	if (e == NULL)
		status = cannot(c, ticket, "no taker has this ticket");
	else if (!e->holds)
		status = cannot(c, ticket, "it waits: cancel it without --signal");
	else if (c->signal == -1)
		status = cannot(c, ticket, "it holds its permit: end it with --signal TERM");
	else
		status = signal_it(c, f, e, c->signal);
	free(s);
	return status;
}

static int
release_one(const struct ctl *c, struct flk *f, uint64_t ticket, void *ctx)
{
	struct flk_snapshot *s;
	const struct flk_entry *e;
	int error, status;

	(void)ctx;
	if ((error = flk_snapshot(f, &s)) != 0)
		return error;
	e = entry_of_ticket(s, ticket);
	if (e == NULL || !e->holds)
		status = cannot(c, ticket, "no holder has this ticket");
	else if (e->role != FLK_KEEPER)
		status = cannot(c, ticket, "not a permit of --hold-for: cancel it with --signal");
	else
		status = signal_it(c, f, e, SIGTERM);
	free(s);
	return status;
}

int
cancel(const struct ctl *c)
{
	return for_tickets(c, cancel_one, NULL);
}

int
release(const struct ctl *c)
{
	return for_tickets(c, release_one, NULL);
}

static int
shrink_by(const struct ctl *c, struct flk *f, uint64_t ticket, uint32_t units)
{
	int error = flk_shrink(f, ticket, units);
	char words[80];

	switch (-error) {
	case 0:
		return DONE;
	case FLK_NOPERMIT:
		return cannot(c, ticket, "no holder has this ticket");
	case FLK_OVERRELEASE:
		snprintf(words, sizeof(words),
			 "its permit has no more than %u units, and keeps one at least", units);
		return cannot(c, ticket, words);
	default:
		return refuse(name_of(c), flk_path(f), f, error);
	}
}

int
shrink(const struct ctl *c)
{
	uint64_t ticket, units;
	int rests, status;
	char **rest;
	struct flk *f;

	if ((f = open_named(c, &rest, &rests, &status)) == NULL)
		return status;
	if (rests != 2 || !parse_number(rest[0], 1, UINT64_C(1) << 60, &ticket) ||
	    !parse_number(rest[1], 1, FLK_MAX_UNITS, &units)) {
		say(name_of(c), "shrink takes a ticket, and how many of its units to give back");
		status = FAILED;
	} else {
		status = shrink_by(c, f, ticket, (uint32_t)units);
	}
	flk_detach(f);
	return status;
}

static int
break_one(const struct ctl *c, struct flk *f, uint64_t ticket, void *ctx)
{
	int error = here.operating->take_away(f, ticket);

	(void)ctx;
	if (error == -FLK_NOPERMIT)
		return cannot(c, ticket, "no holder has this ticket");
	return error;
}

int
break_it(const struct ctl *c)
{
	return for_tickets(c, break_one, NULL);
}
