/* SPDX-License-Identifier: ISC */
/*
 * memories.c - what is remembered of runs and counted of seats: it is read as it was written, in the order in
 * which it happened; what others wrote is read as that, or as nothing.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../helpers/tap.h"
#include "clock.h"
#include "protocol/operator/roster.h"
#include "protocol/run.h"
#include "protocol/tally.h"
#include "setting.h"

static const struct key limiter = { .s = "/team/lim/cfg" };

/* What the last operation of the transaction puts. */
static struct record_kv
put_by(const struct txn *x, int64_t revision)
{
	const struct txn_item *i = &x->item[x->n - 1];

	return (struct record_kv){ .key = i->key,
				   .value = i->value,
				   .key_size = strlen(i->key),
				   .value_size = i->size,
				   .created = revision,
				   .changed = revision };
}

static struct run
run_of(uint64_t ticket, int64_t held, enum run_end end, int32_t code)
{
	struct run r = { .held = held != 0, .end = end, .code = code };

	r.taker.record = (struct record){
		.weight = 3, .limit = 7, .seat = 5, .ticket = ticket, .since_ms = 2000
	};
	r.taker.created = held;
	r.taker.person = (struct person){ .pid = 77, .uid = 8, .came_ms = 1000 };
	strcpy(r.taker.person.host, "db1");
	strcpy(r.taker.person.command, "/bin/dump all");
	return r;
}

/* ---- one of them ---- */

static void
runs(void)
{
	struct run was = run_of(1234, 1300, RUN_RELEASED, 768), is;
	struct txn *x = txn_new();
	const struct record *r = &is.taker.record;
	struct record_kv kv;

	was.memory = 4096;
	was.cpu_ns = 99;
	run_add(x, &limiter, &was);
	kv = put_by(x, 1400);
	ok(strcmp(kv.key, "/team/lim/cfg//m/00000000000000d8") == 0,
	   "a run stands at its ticket's remainder by 509");
	ok(run_decode(&is, &kv) && is.held && is.end == RUN_RELEASED && is.code == 768 &&
	       is.memory == 4096 && is.cpu_ns == 99 && is.ended == 1400 && is.ended_ms > 0,
	   "and is read again: how it ended");
	ok(r->weight == 3 && r->limit == 7 && r->seat == 5 && look_ticket(&is.taker) == 1234 &&
	       is.taker.created == 1300 && r->since_ms == 2000,
	   "what it held");
	ok(memcmp(&is.taker.person, &was.taker.person, sizeof(struct person)) == 0,
	   "and who it was");
	was = run_of(9, 0, RUN_EVICTED, -FLK_EVICTED);
	person_me(&was.by);
	run_add(x, &limiter, &was);
	kv = put_by(x, 10);
	ok(run_decode(&is, &kv) && !is.held && is.end == RUN_EVICTED && is.by.pid == was.by.pid &&
	       is.code == -FLK_EVICTED,
	   "of one that was cancelled, by whom");
	txn_free(x);
}

static void
nonsense(void)
{
	static const char *const values[] = {
		"",
		"{}",
		"[1]",
		"{\"v\":2}",
		"{\"v\":1}",
		"{\"v\":1,\"end\":9}",
		"{\"v\":1,\"ticket\":1,\"weight\":1}", /* whose? */
		"{\"v\":1,\"ticket\":0,\"weight\":1,\"who\":{\"v\":1}}",
		"{\"v\":1,\"ticket\":1,\"weight\":-1,\"who\":{\"v\":1}}",
		"{\"v\":1,\"ticket\":1,\"weight\":1,\"held\":\"x\",\"who\":{\"v\":1}}",
		"{\"v\":1,\"end\":3,\"ticket\":1,\"weight\":1,\"who\":{\"v\":1}}", /* by whom? */
		"{\"v\":1,\"end\":4,\"by\":{\"v\":1},\"was\":{\"v\":3}}"
	};
	bool good = false;
	struct run r;
	size_t i;

	for (i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		struct record_kv kv = { .value = (char *)(uintptr_t)values[i],
					.value_size = strlen(values[i]) };
		good |= run_decode(&r, &kv);
	}
	ok(!good, "what makes no sense is no run");
}

/* ---- in their order ---- */

static char story[400];

static void
happens(void *context, const struct flk_event *e, const char *host)
{
	static uint64_t number, when;
	size_t n = strlen(story);

	(void)context;
	if (*story == '\0') {
		number = 0;
		when = e->when_ns;
	}
	ok(e->number > number && (int64_t)(e->when_ns - when) >= 0,
	   "an event is later than the one before");
	number = e->number;
	when = e->when_ns;
	snprintf(story + n, sizeof(story) - n, "%u:%llu%s ", e->kind, (unsigned long long)e->ticket,
		 host != NULL && *host != '\0' ? "" : "?");
}

/* Released, and the next granted by that; it left at once; then an operator, and one who still holds. */
static void
order(void)
{
	struct flk_settings was = flki_no_settings, is = was;
	struct roster to = { .happens = happens };
	struct record_kv kv[4];
	struct records_found found = { .kv = kv, .n = 4 };
	struct records_answer a = { .found = &found, .n = 1 };
	struct run run[3] = { run_of(20, 20, RUN_RELEASED, 0), run_of(21, 30, RUN_REAPED, 1),
			      run_of(22, 0, RUN_LEFT, 0) };
	struct person me;
	struct txn *x[4];
	struct look l;
	int i;

	for (i = 0; i < 4; i++)
		x[i] = txn_new();
	for (i = 0; i < 3; i++) {
		run_add(x[i], &limiter, &run[i]);
		kv[i] = put_by(x[i], 30 + i);
	}
	is.paused = true;
	is.override = 5;
	is.pace.stagger_ns = 7;
	person_me(&me);
	run_add_order(x[3], &limiter, 25, &was, &is, &me);
	kv[3] = put_by(x[3], 33);
	look_init(&l, &limiter);
	*look_add_holder(&l) = run_of(40, 41, RUN_LEFT, 0).taker;
	roster_report_past(&to, &l, &a);
	ok(strcmp(story, "2:20 1:21 1:22 3:20 2:21 8:21 6:22 17:0 10:0 11:0 1:40 2:40 ") == 0,
	   "the past is told in its order: %s", story);
	look_free(&l);
	for (i = 0; i < 4; i++)
		txn_free(x[i]);
}

/* ---- counters ---- */

static void
tallies(void)
{
	struct tally t = { .released = 0 };
	struct txn *x = txn_new();
	struct record_kv kv[3];
	struct records_found found = { .kv = kv, .n = 3 };
	struct records_answer a = { .found = &found, .n = 1 };

	tally_count(&t, 1000, 1003, 5000);
	tally_count(&t, 9000, 8000, 8000); /* by clocks that differ */
	ok(t.released == 2 && t.waited.sum_ns == 3 * MS && t.held.sum_ns == 3997 * MS &&
	       t.waited.count[0] == 1 && t.waited.count[1] == 1,
	   "a permit is counted by its times, and none is below 0");
	tally_put(x, &limiter, 0, &t);
	tally_put(x, &limiter, 17, &t);
	kv[0] = put_by(x, 1);
	ok(strcmp(kv[0].key, "/team/lim/cfg//n/0000000000000011") == 0, "each seat has its own");
	kv[1] = kv[2] = kv[0];
	t = tally_found(&limiter, &a);
	ok(t.released == 6 && t.held.sum_ns == 3 * 3997 * MS, "and what there is makes a sum");
	kv[1].value_size--;
	kv[2].value = strdup("2 1 1");
	kv[2].value_size = 5;
	ok(tally_found(&limiter, &a).released == 2, "to which nonsense adds nothing");
	free(kv[2].value);
	txn_free(x);
}

int
main(void)
{
	runs();
	nonsense();
	order();
	tallies();
	return tap_done();
}
