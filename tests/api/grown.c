/* SPDX-License-Identifier: ISC */
/*
 * grown.c - a program that uses every struct of flocklimit.h.  library.bats builds it with the header as it
 * is, and runs it with a library whose structs have grown; and the other way round, with GROWN.
 */
#include <errno.h>
#include <flocklimit.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * A size that differs is a new version of each function that takes or fills the struct: see
 * lib/libflocklimit.map.
 */
#ifdef __LP64__
#define SIZE(name, bytes) _Static_assert(sizeof(struct flk_##name) == (bytes), #name)
SIZE(options, 104);
SIZE(request, 136);
SIZE(permit, 72);
SIZE(pace, 48);
SIZE(gate, 200);
SIZE(settings, 416);
SIZE(gated, 200);
SIZE(entry, 344);
SIZE(times, 136);
SIZE(snapshot, 1104);
SIZE(place, 1400);
SIZE(event, 208);
SIZE(map_options, 288);
#endif

/* Ends the program with the line of what is not so. */
#define must(condition)                                                                    \
	do {                                                                               \
		if (!(condition)) {                                                        \
			fprintf(stderr, "grown.c:%d: not so: %s\n", __LINE__, #condition); \
			exit(1);                                                           \
		}                                                                          \
	} while (0)

/* What follows a struct, where a library that takes it for larger would write. */
#define EDGE UINT64_C(0xa5a5a5a5a5a5a5a5)

/* One holds, and one waits. */
static void
look(struct flk *limiter)
{
	struct flk_snapshot *s;

	must(flk_snapshot(limiter, &s) == 0 && s->holders == 1 && s->waiters == 1);
	must(s->limit == 3 && s->used == 2 && s->entry[0].holds && !s->entry[1].holds);
	must(s->entry[0].pid == getpid() && s->entry[1].pid == getpid());
	must(strcmp(s->entry[1].command, "grown") == 0 && s->entry[1].not_seats == 1);
	free(s);
}

static void
hold_and_look(struct flk *limiter)
{
	const struct flk_request want = { .weight = 2, .command = "grown", .not_seats = 1 };
	struct flk_taker *a, *b;
	struct {
		struct flk_permit it;
		uint64_t edge;
	} permit = { .edge = EDGE };
	struct {
		struct flk_place it;
		uint64_t edge;
	} place = { .edge = EDGE };

	must(flk_taker_new(&a, limiter) == 0 && flk_taker_new(&b, limiter) == 0);
	must(flk_try(a, &want) == 0);
	must(flk_permit(a, &permit.it) == 0 && permit.it.weight == 2 && permit.it.seats == 6);
	must(permit.edge == EDGE);
	must(flk_enqueue(b, &want) == -EINPROGRESS);
	look(limiter);
	must(flk_place(b, &place.it) == 0 && place.it.ahead == 0 && place.it.oldest.weight == 2);
	must(strcmp(place.it.oldest.command, "grown") == 0 && place.edge == EDGE);
	flk_taker_free(b);
	must(flk_release(a) == 0);
	flk_taker_free(a);
}

static void
steer(struct flk *limiter)
{
	struct {
		struct flk_settings it;
		uint64_t edge;
	} now = { .edge = EDGE };

	must(flk_get(limiter, &now.it) == 0 && now.it.override == FLK_AUTO && !now.it.paused);
	must(now.edge == EDGE);
	now.it.override = 5;
	strcpy(now.it.gate.when, "");
	must(flk_set(limiter, FLK_SET_OVERRIDE | FLK_SET_GATE, &now.it) == 0);
	must(flk_get(limiter, &now.it) == 0 && now.it.override == 5);
}

static void
read_history(struct flk *limiter)
{
	struct {
		struct flk_event it[2];
		uint64_t edge;
	} first = { .edge = EDGE };

	must(flk_history(limiter, 0, first.it, 2) == 2 && first.edge == EDGE);
	must(first.it[0].number == 1 && first.it[0].kind == FLK_EV_GRANTED);
	must(first.it[1].number == 2 && first.it[1].kind == FLK_EV_QUEUED);
}

static int
next(void *context, void **item, struct flk_request *want)
{
	unsigned *left = context;

	want->weight = 1;
	*item = NULL;
	return *left > 0 ? (--*left, 1) : 0;
}

static int
work(void *context, void *item, struct flk_taker *taker)
{
	struct flk_permit permit;

	(void)context;
	(void)item;
	return flk_permit(taker, &permit);
}

static void
map(const char *name)
{
	unsigned left = 3;
	const struct flk_map_options o = { .next = next, .work = work, .context = &left };
	struct flk_map *m;

	must(flk_map_new(&m, name, &o) == 0 && flk_map_run(m) == 0 && left == 0);
	flk_map_free(m);
}

#ifdef GROWN
/* What the library does not know yet it refuses; and it takes what says nothing of that. */
static void
ask_for_more(struct flk *limiter)
{
	const struct flk_options options = { .grown = 1 };
	const struct flk_request want = { .grown = 1 };
	const struct flk_map_options map_options = { .next = next, .work = work, .grown = 1 };
	struct flk_taker *t;
	struct flk_map *m;
	struct flk *f;

	must(flk_attach(&f, "grown", &options) == -EINVAL);
	must(flk_map_new(&m, "grown", &map_options) == -EINVAL);
	must(flk_taker_new(&t, limiter) == 0);
	must(flk_try(t, &want) == -EINVAL && flk_enqueue(t, &want) == -EINVAL);
	must(flk_acquire_for(t, &want, 0) == -EINVAL && flk_acquire(t, &want, NULL) == -EINVAL);
	flk_taker_free(t);
}
#endif

int
main(void)
{
	const struct flk_options options = { .limit = 3 };
	struct flk *limiter;

	must(flk_attach(&limiter, "grown", &options) == 0);
	hold_and_look(limiter);
	read_history(limiter);
	steer(limiter);
	map("grown");
#ifdef GROWN
	ask_for_more(limiter);
#endif
	flk_detach(limiter);
	return 0;
}
