/* SPDX-License-Identifier: ISC */
/*
 * ends.c - every taker ends, and as it ought to.
 */
#include "judge.h"

#include <inttypes.h>
#include <signal.h>
#include <sys/wait.h>

static bool
was_closed(const struct story *s, const struct run *r)
{
	const struct run *also = chaos_run(s, r->also);

	foreach(const struct steer, g, s->steers)
		if (g->verb == SHUT && (g->lim == r->lim || (also != NULL && g->lim == also->lim)))
			return true;
	return false;
}

static bool
was_sent(const struct story *s, const struct run *r, int sig)
{
	return chaos_first_harm(s, WRAPPER, r->taker, sig, 0) != NEVER ||
	       (r->group != 0 && chaos_first_harm(s, GROUP, r->group, sig, 0) != NEVER);
}

static bool
expected(const struct story *s, const struct run *r)
{
	uint64_t hit = r->started != 0 ? r->started : r->launched;
	int code;

	if (WIFSIGNALED(r->status)) {
		int sig = WTERMSIG(r->status);
		/* -F, agents: what hits the command hits the taker. */
		return was_sent(s, r, sig) ||
		       ((r->flags & (EXEC | AGENT)) && (sig == SIGKILL || sig == SIGTERM) &&
			chaos_first_harm(s, COMMAND, r->pid, sig, hit) != NEVER);
	}
	code = WEXITSTATUS(r->status);
	if (code == CODE(r->id) && (r->ended != 0 || r->flags & IDLER))
		return true;
	switch (code) {
	case 75:
		return r->started == 0 &&
		       (r->flags & (WAIT | QUEUE | IDLER) || r->cancelled != 0 || was_closed(s, r));
	case 124:
		return r->flags & RUN;
	case 128 + SIGKILL:
		return r->flags & KILL ||
		       chaos_first_harm(s, COMMAND, r->pid, SIGKILL, hit) != NEVER ||
		       (r->group != 0 && chaos_first_harm(s, GROUP, r->group, SIGKILL, 0) != NEVER);
	case 128 + SIGTERM:
		return was_sent(s, r, SIGTERM) ||
		       chaos_first_harm(s, COMMAND, r->pid, SIGTERM, hit) != NEVER;
	default:
		return false;
	}
}

/* One that has ended has looked for its second permit before, and read it if it could. */
static bool
lacks_the_other(const struct story *s, const struct run *r)
{
	const struct run *also = chaos_run(s, r->also);

	if (also == NULL || also->started != 0 || r->started == 0 || r->ended == 0)
		return false;
	return !(r->flags & CLOSE && was_sent(s, r, SIGKILL)) &&
	       chaos_removed(s, also, r->ended) == NEVER;
}

void
chaos_ends(const struct story *s, struct verdict *v)
{
	foreach(const struct run, r, s->runs) {
		if (!chaos_is_first(r))
			continue;
		if (lacks_the_other(s, r))
			chaos_guilty(v, UNTRUE_LIMIT, r->started,
				     "taker %" PRIu64 " with ticket %" PRIu64
				     " ran under one of its two permits",
				     r->id, r->ticket);
		if (r->cancelled != 0 && r->started != 0)
			chaos_guilty(v, CANCELLED, r->cancelled,
				     "taker %" PRIu64 " with ticket %" PRIu64
				     ": it was taken out of the line with ticket %" PRIu64,
				     r->id, r->ticket, r->cancelled_ticket);
		if (r->reaped == 0)
			chaos_guilty(v, STATUS, r->launched, "taker %" PRIu64 " never ended",
				     r->id);
		else if (!expected(s, r))
			chaos_guilty(v, STATUS, r->reaped,
				     "taker %" PRIu64 " ended with status %#x", r->id,
				     (unsigned)r->status);
	}
}
