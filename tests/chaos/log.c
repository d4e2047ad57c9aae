/* SPDX-License-Identifier: ISC */
/*
 * log.c - from the log to runs: until when did each surely hold its permit?
 */
#include "judge.h"

#include <ctype.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define NUMBERS 12

void *
chaos_add(struct array *a, size_t size)
{
	if (a->n == a->room) {
		a->room = a->room > 0 ? 2 * a->room : 64;
		void *more = realloc(a->at, a->room * size);
		if (more == NULL)
			abort();
		a->at = more;
	}
	return memset((char *)a->at + a->n++ * size, 0, size);
}

struct run *
chaos_run(const struct story *s, uint64_t id)
{
	return id >= 1 && id <= s->runs.n ? (struct run *)s->runs.at + (id - 1) : NULL;
}

bool
chaos_is_first(const struct run *r)
{
	return r->taker == r->id;
}

/* ---- records ---- */

static bool
wants_also(struct story *s, const uint64_t *x)
{
	struct run *r;

	if (x[1] != s->runs.n + 1)
		return false;
	r = chaos_add(&s->runs, sizeof(*r));
	*r = (struct run){ .launched = x[0],
			   .id = x[1],
			   .taker = x[1] + 1,
			   .also = x[1] + 1,
			   .lim = x[2],
			   .w = x[3],
			   .least = x[3],
			   .most = x[3],
			   .n = x[4] };
	return true;
}

static bool
launched(struct story *s, const uint64_t *x)
{
	struct run *r, *also;

	if (x[1] != s->runs.n + 1)
		return false;
	r = chaos_add(&s->runs, sizeof(*r));
	*r = (struct run){ .launched = x[0],
			   .id = x[1],
			   .taker = x[1],
			   .lim = x[2],
			   .group = x[3],
			   .w = x[4],
			   .least = x[4],
			   .most = x[9],
			   .yield = x[10],
			   .n = x[5],
			   .flags = x[6],
			   .wait_ms = x[7],
			   .run_ms = x[8] };
	also = chaos_run(s, r->id - 1);
	if (also != NULL && also->also == r->id) {
		r->also = also->id;
		also->group = r->group;
		also->flags = r->flags;
		also->wait_ms = r->wait_ms;
		also->run_ms = r->run_ms;
	}
	return true;
}

static bool
started(struct run *r, const uint64_t *x, struct verdict *v)
{
	if (r->started != 0)
		chaos_guilty(v, RAN_TWICE, x[0], "taker %llu started two commands",
			     (unsigned long long)r->id);
	if (x[5] < r->least || x[5] > r->most)
		chaos_guilty(v, UNTRUE_LIMIT, x[0], "taker %llu was told another weight",
			     (unsigned long long)r->id);
	if (x[9] != 0 && ((uint64_t)__builtin_popcountll(x[9]) != x[5] ||
			  (uint64_t)__builtin_ctzll(x[9]) != x[7]))
		chaos_guilty(v, UNTRUE_LIMIT, x[0],
			     "taker %llu was told seats that are not one for each unit",
			     (unsigned long long)r->id);
	r->started = x[0];
	r->pid = x[2];
	r->birth = x[3];
	r->ticket = x[4];
	r->w = x[5];
	r->told = x[6];
	r->seat = x[7];
	r->fence = x[8];
	r->seats = x[9];
	return true;
}

/* To a taker, and so to each of its runs. */
static void
happened(struct run *r, char letter, const uint64_t *x)
{
	switch (letter) {
	case 'A':
		r->alive = x[0];
		break;
	case 'E':
		r->ended = x[0];
		break;
	case 'H':
		r->heir = x[2];
		r->heir_started = x[0];
		break;
	case 'D':
		r->heir_ended = x[0];
		break;
	case 'C':
		r->cancelled = x[0];
		r->cancelled_ticket = x[2];
		break;
	default:
		r->reaped = x[0];
		r->status = (int)x[2];
		break;
	}
}

static bool
of_a_run(struct story *s, char letter, const uint64_t *x, struct verdict *v)
{
	struct run *r = chaos_run(s, x[1]);

	if (r == NULL || chaos_is_first(r) == (letter == 'T'))
		return false;
	switch (letter) {
	case 'S':
	case 'T':
		return started(r, x, v);
	case 'P':
		if (x[2] != x[3])
			chaos_guilty(v, PLACE_LOST, x[0],
				     "taker %llu had ticket %llu, and %llu after %llu interrupts",
				     (unsigned long long)r->id, (unsigned long long)x[2],
				     (unsigned long long)x[3], (unsigned long long)x[4]);
		return true;
	default:
		happened(r, letter, x);
		if (r->also != 0)
			happened(chaos_run(s, r->also), letter, x);
		return true;
	}
}

static bool
of_the_world(struct story *s, char letter, const uint64_t *x, struct verdict *v)
{
	struct span *span;

	switch (letter) {
	case 'K':
		*(struct harm *)chaos_add(&s->harms, sizeof(struct harm)) =
		    (struct harm){ .t = x[0], .what = x[1], .target = x[2], .sig = x[3] };
		return true;
	case 'G':
		*(struct steer *)chaos_add(&s->steers, sizeof(struct steer)) =
		    (struct steer){ .since = x[0],
				    .until = x[1],
				    .lim = x[2],
				    .birth = x[3],
				    .verb = x[4],
				    .value = (int64_t)x[5] };
		return true;
	case 'U':
	case 'I':
	case 'B':
		span = chaos_add(letter == 'U'   ? &s->removals
				 : letter == 'I' ? &s->idles
						 : &s->beats,
				 sizeof(*span));
		*span = (struct span){ .from = x[0], .to = x[1], .of = x[2] };
		return true;
	case 'M':
		span = chaos_add(&s->idle_removals, sizeof(*span));
		*span = (struct span){ .from = x[0], .to = x[1], .of = x[3] };
		span = chaos_add(&s->removals, sizeof(*span));
		*span = (struct span){ .from = x[0], .to = x[1], .of = x[2] };
		return true;
	case 'Q':
		if (x[3] != 0)
			chaos_guilty(
			    v, LOST, x[0], "limiter %llu, what an operator does (%llu): %lld",
			    (unsigned long long)x[1], (unsigned long long)x[2], (long long)x[3]);
		return true;
	case 'W':
		if (x[3] != 0 || x[4] != 0 || x[5] != 0 || x[6] != 0)
			chaos_guilty(v, LOST, x[0],
				     "at the end limiter %llu has %llu units used, %llu waiting; "
				     "check %lld; all of it: %lld",
				     (unsigned long long)x[1], (unsigned long long)x[3],
				     (unsigned long long)x[4], (long long)x[5], (long long)x[6]);
		return true;
	default:
		s->end = x[0];
		if (x[1] != 0)
			chaos_guilty(v, LOST, x[0], "%llu takers hung", (unsigned long long)x[1]);
		return true;
	}
}

static bool
record(struct story *s, const char *line, struct verdict *v)
{
	static const char letters[] = "LNSTAEHDRCPKGUMIBWQZ";
	static const unsigned char numbers[] = { 11, 5, 10, 10, 3, 4, 3, 3, 3, 3,
						 5,  4, 6,  3,  4, 3, 2, 7, 4, 2 };
	uint64_t x[NUMBERS] = { 0 };
	const char *kind = *line != '\0' ? strchr(letters, *line) : NULL, *p = line + 1;
	unsigned n = 0;
	char *end;

	if (kind == NULL)
		return false;
	for (; *p == ' ' && n < NUMBERS; p = end) {
		x[n++] = p[1] == '-' ? (uint64_t)strtoll(p, &end, 10) : strtoull(p, &end, 10);
		if (end == p)
			return false;
	}
	if (*p != '\0' || n != numbers[kind - letters])
		return false;
	if (*line == 'L')
		return launched(s, x);
	if (*line == 'N')
		return wants_also(s, x);
	return strchr("STAEHDRCP", *line) != NULL ? of_a_run(s, *line, x, v)
						  : of_the_world(s, *line, x, v);
}

/* ---- what was done to whom ---- */

static int
by_target(const void *a, const void *b)
{
	const struct harm *x = a, *y = b;

	if (x->what != y->what)
		return x->what < y->what ? -1 : 1;
	if (x->target != y->target)
		return x->target < y->target ? -1 : 1;
	return x->t < y->t ? -1 : x->t > y->t;
}

static int
by_from(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	return x->from < y->from ? -1 : x->from > y->from;
}

uint64_t
chaos_first_harm(const struct story *s, enum target what, uint64_t target, int sig, uint64_t since)
{
	const struct harm *h = s->harms.at;
	struct harm want = { .what = what, .target = target, .t = since };
	size_t low = 0, high = s->harms.n, middle;

	while (low < high) {
		middle = (low + high) / 2;
		if (by_target(&h[middle], &want) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < s->harms.n && h[low].what == what && h[low].target == target; low++)
		if (sig == 0 ? h[low].sig == SIGKILL || h[low].sig == SIGTERM
			     : h[low].sig == (uint64_t)sig)
			return h[low].t;
	return NEVER;
}

static uint64_t
least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t
most(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* ---- until when ---- */

/* The first thing that may have ended the command, other than itself. */
static uint64_t
command_hit(const struct story *s, const struct run *r)
{
	/* A process's number may have been another's before; ids are nobody else's. */
	uint64_t t = chaos_first_harm(s, COMMAND, r->pid, 0, r->started);

	/* TERM is passed on by the wrapper, also one that came before the command. */
	t = least(t, chaos_first_harm(s, WRAPPER, r->taker, SIGTERM, 0));
	if (r->flags & (EXEC | AGENT))
		t = least(t, chaos_first_harm(s, WRAPPER, r->taker, SIGKILL, 0));
	if (r->group != 0)
		t = least(t, chaos_first_harm(s, GROUP, r->group, 0, 0));
	return t;
}

static uint64_t
wrapper_killed(const struct story *s, const struct run *r)
{
	uint64_t t = chaos_first_harm(s, WRAPPER, r->taker, SIGKILL, 0);

	return r->group != 0 ? least(t, chaos_first_harm(s, GROUP, r->group, SIGKILL, 0)) : t;
}

/* The end of the stop that lasts at `t', or `t'. */
static uint64_t
after_stop(const struct story *s, enum target what, uint64_t target, uint64_t since, uint64_t t)
{
	uint64_t stop = chaos_first_harm(s, what, target, SIGSTOP, since), cont;

	while (stop <= t) {
		cont = chaos_first_harm(s, what, target, SIGCONT, stop);
		if (cont > t)
			return cont;
		stop = chaos_first_harm(s, what, target, SIGSTOP, cont);
	}
	return t;
}

/*
 * Surely: what ends by itself says so just before.  What is killed has lived until it was hit,
 * for the driver says so first; where its own wrapper may have ended it (-T), only until it said
 * something last.  Without a guard (-o, an agent) the permit ends with the wrapper as well.
 *
 * A heir extends it in two cases: its wrapper was replaced by the command (-F); or its wrapper
 * was dead, reaped even, while the command surely ran.  Then the guard alone keeps the permit, and
 * the heir has the guard without a break since before the command ended.
 */
static void
judge_end(const struct story *s, struct run *r, struct verdict *v)
{
	uint64_t hit = command_hit(s, r), killed = wrapper_killed(s, r), heir_hit, heir_end;
	bool gone;

	r->surely = r->ended;
	r->room = r->ended;
	if (r->ended == 0) {
		if (hit == NEVER && !(r->flags & RUN))
			chaos_guilty(v, VANISHED, r->started,
				     "the command of taker %llu ended, and nobody killed it",
				     (unsigned long long)r->id);
		r->surely = hit == NEVER || r->flags & RUN ? r->started : most(hit, r->started);
		r->surely = most(r->surely, r->alive);
		r->room = r->flags & RUN || r->alive != 0 ? most(r->reaped, r->surely) : r->surely;
		/* TERM waits for the end of a stop. */
		r->room = after_stop(s, COMMAND, r->pid, r->started, r->room);
	}
	if (r->flags & CLOSE) {
		/* Not even at its start, if its wrapper was hit before. */
		r->surely = least(r->surely, killed);
		r->room = least(r->room, killed);
	} else if (r->heir_started != 0 && !(r->flags & AGENT)) {
		heir_hit =
		    least(chaos_first_harm(s, COMMAND, r->heir, 0, r->heir_started),
			  r->group != 0 ? chaos_first_harm(s, GROUP, r->group, 0, r->heir_started)
					: NEVER);
		heir_end = r->heir_ended != 0 ? r->heir_ended : heir_hit;
		gone = r->reaped != 0 && WIFSIGNALED(r->status) && r->reaped < r->surely;
		if (heir_end == NEVER)
			chaos_guilty(v, VANISHED, r->heir_started,
				     "the heir of taker %llu ended, and nobody killed it",
				     (unsigned long long)r->id);
		else if (gone || r->flags & EXEC)
			r->surely = most(r->surely, heir_end);
		if (heir_end != NEVER && (killed != NEVER || r->flags & EXEC))
			r->room = most(r->room, heir_end);
	}
	/* A stopped wrapper gives nothing back; one stops also with its command. */
	r->room = after_stop(s, WRAPPER, r->taker, 0, r->room);
	r->room = after_stop(s, COMMAND, r->pid, r->started, r->room);
	if (r->group != 0)
		r->room = after_stop(s, GROUP, r->group, 0, r->room);
}

static void
find_stops(struct story *s)
{
	foreach(struct run, r, s->runs) {
		uint64_t end = r->reaped != 0 ? r->reaped : s->end, from, to;
		int group;
		for (group = 0; group <= (r->group != 0); group++) {
			enum target what = group ? GROUP : WRAPPER;
			uint64_t target = group ? r->group : r->taker;
			from = chaos_first_harm(s, what, target, SIGSTOP, r->launched);
			for (; from < end; from = chaos_first_harm(s, what, target, SIGSTOP, to)) {
				to = chaos_first_harm(s, what, target, SIGCONT, from);
				*(struct span *)chaos_add(&s->stops, sizeof(struct span)) =
				    (struct span){ .from = from,
						   .to = least(to, end),
						   .of = r->lim };
				if (to == NEVER)
					break;
			}
		}
	}
}

bool
chaos_read(struct story *s, const char *path, struct verdict *v)
{
	FILE *in = fopen(path, "r");
	char line[400];
	unsigned long number = 0;

	if (in == NULL)
		return false;
	while (fgets(line, sizeof(line), in) != NULL) {
		number++;
		line[strcspn(line, "\n")] = '\0';
		if (!record(s, line, v))
			chaos_guilty(v, UNREADABLE, 0, "line %lu: %s", number, line);
	}
	fclose(in);
	if (s->end == 0)
		chaos_guilty(v, UNREADABLE, 0, "the log was cut short");
	if (s->harms.n > 0)
		qsort(s->harms.at, s->harms.n, sizeof(struct harm), by_target);
	if (s->beats.n > 0)
		qsort(s->beats.at, s->beats.n, sizeof(struct span), by_from);
	foreach(struct run, r, s->runs)
		if (r->started != 0)
			judge_end(s, r, v);
	find_stops(s);
	if (s->stops.n > 0)
		qsort(s->stops.at, s->stops.n, sizeof(struct span), by_from);
	return true;
}

void
chaos_forget(struct story *s)
{
	free(s->runs.at);
	free(s->harms.at);
	free(s->steers.at);
	free(s->removals.at);
	free(s->idles.at);
	free(s->idle_removals.at);
	free(s->beats.at);
	free(s->stops.at);
	memset(s, 0, sizeof(*s));
}
