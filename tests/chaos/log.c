/* SPDX-License-Identifier: ISC */
/*
 * log.c - from the log to runs.
 */
#include "judge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NUMBERS 24

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

uint64_t
chaos_removed(const struct story *s, const struct run *r, uint64_t until)
{
	uint64_t first = NEVER;

	foreach(const struct span, u, s->removals)
		if (u->of == r->lim && u->to > r->launched && u->from < until && u->from < first)
			first = u->from;
	return first;
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

#define LAUNCHED 8 /* numbers in an L before those of the request */

static bool
launched(struct story *s, const uint64_t *x)
{
	struct flk_request want = { .weight = 0 };
	struct run *r, *also;
	size_t i;

	if (x[1] != s->runs.n + 1)
		return false;
	for (i = 0; i < REQUEST_NUMBERS; i++)
		*request_number(&want, i) = (uint32_t)x[LAUNCHED + i];
	r = chaos_add(&s->runs, sizeof(*r));
	*r = (struct run){ .launched = x[0],
			   .id = x[1],
			   .taker = x[1],
			   .lim = x[2],
			   .group = x[3],
			   .want = want,
			   .w = want.weight,
			   .least = want.weight,
			   .most = want.most,
			   .n = want.limit,
			   .flags = x[4],
			   .wait_ms = x[5],
			   .run_ms = x[6],
			   .key = x[2] == FAIR ? x[7] : 0 };
	also = chaos_run(s, r->id - 1);
	if (also != NULL && also->also == r->id) {
		r->also = also->id;
		also->group = r->group;
		also->flags = r->flags;
		also->wait_ms = r->wait_ms;
		also->run_ms = r->run_ms;
		also->key = also->lim == FAIR ? x[7] : 0;
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
	static const unsigned char numbers[] = { LAUNCHED + REQUEST_NUMBERS,
						 5,
						 10,
						 10,
						 3,
						 4,
						 3,
						 3,
						 3,
						 3,
						 5,
						 4,
						 6,
						 3,
						 4,
						 3,
						 2,
						 7,
						 4,
						 2 };
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

/* ---- all of it ---- */

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
	chaos_until(s, v);
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
