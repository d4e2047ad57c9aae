/* SPDX-License-Identifier: ISC */
/*
 * claim.c - from nothing to a permit or a place, in two round trips: a lease and, beside it, a
 * look; then the claim, which is one txn.  A keeper that has both needs the claim alone: seen.c.
 *
 * The claim grants if, since the look, no operator set another limit or state, no taker entered the
 * line and no permit was granted.  Permits may have ended since: it fits all the more.  If any of
 * this fails, the same txn makes the claim a place in the line, which no other taker can contest.
 */
#include "taker.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fair.h"
#include "kind.h"
#include "protocol/room.h"
#include "protocol/steering.h"

#define AT_ONCE 3 /* so many claims may meet others' before the taker pauses in between */

static bool
may_wait(const struct fleet_taker *t)
{
	return !t->want.no_wait && (!t->want.limit_queue || t->look.in_line < t->want.max_queue);
}

static void
no_room(struct fleet_taker *t)
{
	taker_refuse(t, t->want.no_wait ? -EAGAIN : -FLK_FULL, NULL);
}

/* ---- the look ---- */

/* By which it waits or holds. */
static uint32_t
own_limit(const struct fleet_taker *t)
{
	return room_own(t->want.limit, t->look.config.declared, t->want.fallback);
}

/*
 * Whether it may hold beside those that do; then its record is that of a permit, and what starts is
 * counted.
 */
static bool
fits(struct fleet_taker *t, struct record *r, struct starts *starts)
{
	struct room room = { .set = &t->look.config, .starts = &t->look.starts };

	look_fill(&t->look, &room, NULL);
	*r = taker_record(t);
	r->limit = own_limit(t);
	r->seat = room_seat(&room);
	*starts = t->look.starts;
	starts_count(&t->look.config.pace, starts, &room);
	return room_fits(&room, r->weight, r->limit, &r->under);
}

static bool
may_start(struct fleet_taker *t)
{
	struct starts starts;
	struct record r;

	return t->look.in_line == 0 && fits(t, &r, &starts) &&
	       fleet_quarantine(t->fleet, &t->look) == 0;
}

/* Whether it may start by what the keeper has kept.  If not, that may be out of date: it looks. */
static bool
has_seen(struct fleet_taker *t)
{
	if (t->thorough || !seen_take(t))
		return false;
	if (t->want.weight <= own_limit(t) && may_start(t))
		return true;
	seen_return(t);
	return false;
}

/* It would have to wait, and must not: what is in its way may be dead. */
static void
look_again(struct fleet_taker *t)
{
	t->thorough = true;
	taker_act(t);
}

/* The dead in its way are its own to mark, if no living waiter is there that does so. */
static bool
has_dead_in_its_way(const struct fleet_taker *t)
{
	size_t living = look_living(&t->look);

	return (living == 0 || (!t->want.no_wait && living < t->want.max_queue)) &&
	       repair_any(t, true);
}

/*
 * A taker declares once: of two that want different ones, each could undo the other's for ever, and so make
 * its claim void.
 */
static void
declared(struct fleet_taker *t, const struct records_answer *a)
{
	if (a->result != RECORDS_OK) {
		taker_again(t);
		return;
	}
	if (a->held)
		t->want.which = 0;
	taker_act(t); /* looks at what is so now, by whomever */
}

/* These belong to the limiter: they are set before the taker enters.  Those that are so already go on. */
static unsigned
to_declare(const struct fleet_taker *t, struct flk_settings *to)
{
	*to = (struct flk_settings){ .pace = t->want.pace, .fair = t->want.fair };
	return steering_differs(&t->look.config, t->want.which, to);
}

static void
declare(struct fleet_taker *t)
{
	struct flk_settings to;
	unsigned which = to_declare(t, &to);
	struct person me = taker_person(t);
	struct txn *x;
	int code;

	me.role = FLK_WORKER;
	me.command[0] = me.key[0] = '\0';
	me.share = 0;
	x = steering_txn(&t->look, which, &to, &me, &code);
	taker_txn(t, MAIN, x, declared);
}

static void
enter(struct fleet_taker *t)
{
	const char *text =
	    fair_without_effect(t->look.config.fair, t->want.key[0] != '\0', t->want.share != 0);
	bool tells = t->want.tells && text != NULL;

	t->want.tells = false;
	taker_go(t, CLAIMING);
	if (tells)
		taker_note(t, text);
}

static void
decide(struct fleet_taker *t)
{
	struct flk_settings to;

	if (t->look.config.closed) {
		taker_refuse(t, -FLK_CLOSED, NULL);
	} else if (t->want.weight > own_limit(t)) {
		taker_refuse(t, -FLK_HEAVY, NULL);
	} else if (to_declare(t, &to) != 0) {
		declare(t);
	} else {
		t->fitted = may_start(t);
		if (t->fitted || may_wait(t))
			enter(t);
		else if (!t->thorough)
			look_again(t);
		else if (has_dead_in_its_way(t))
			taker_go(t, MARKING);
		else
			no_room(t);
	}
}

static void
looked(struct fleet_taker *t, const struct records_answer *a)
{
	if (a->result != RECORDS_OK) {
		taker_again(t);
	} else if (!look_read(&t->look, t->thorough ? LOOK_LIVES : LOOK_NEW, a)) {
		taker_refuse(t, -FLK_STORE, t->look.trouble);
	} else {
		fleet_saw(t->fleet, &t->look);
		t->looked = true;
		taker_act(t);
	}
}

/* A taker that must not wait may need the look alone; and it marks the dead that are in its way. */
void
asking_act(struct fleet_taker *t)
{
	struct life *life = &t->fleet->life;

	life_need(life);
	t->thorough |= t->want.no_wait;
	if (!t->looked && t->slot[MAIN].call == NULL && has_seen(t))
		t->looked = true;
	if (!t->looked) {
		watching_own(t);
		taker_txn(t, MAIN,
			  look_txn(&t->fleet->limiter, t->thorough ? LOOK_LIVES : LOOK_NEW),
			  looked);
	}
	if (t->looked && life_may_claim(life)) {
		t->looked = false;
		decide(t);
	}
}

/* ---- the dead ---- */

void
marking_act(struct fleet_taker *t)
{
	if (repair_act(t, true))
		return;
	if (t->freed_some) {
		t->freed_some = false;
		taker_go(t, ASKING);
	} else {
		no_room(t);
	}
}

/* ---- the claim ---- */

static void
add_person(const struct fleet_taker *t, struct txn *x)
{
	struct key k = taker_key(t, 'p');
	struct person p = taker_person(t);
	char *text;

	if ((text = person_encode(&p)) != NULL)
		txn_put(x, k.s, text, strlen(text), 0);
	else if (x != NULL)
		x->failed = true;
	free(text);
}

void
claim_add_record(const struct fleet_taker *t, struct txn *x, char kind, const struct record *r)
{
	struct key k = taker_key(t, kind);
	char text[RECORD_TEXT];

	txn_put(x, k.s, text, record_encode(text, r), 0);
	add_person(t, x);
	life_add(&t->fleet->life, x);
}

/* A permit, if nothing has changed that the look had. */
static void
add_permit(struct fleet_taker *t, struct txn *x)
{
	struct round none = { .look = &t->look };
	struct key w = key_of(&t->fleet->limiter, 'w', NULL), end = key_end(&w);
	struct turns turns = { .changed = 0 };
	struct starts starts;
	struct record r;

	fits(t, &r, &starts);
	/* While nobody waits or holds, all have had what they wanted. */
	if (t->look.turns != NULL && t->look.holders > 0)
		turns = *t->look.turns;
	turns_give(&turns, t->look.config.fair, &r);
	t->first = t->want.limit == 0 && t->look.config.declared == 0;
	none.declared = r.limit;
	round_add_compares(&none, x);
	txn_if_absent(x, w.s, end.s);
	claim_add_record(t, x, 'h', &r);
	round_add_declared(&none, x);
	starts_put(&t->look.config.pace, &starts, x, &t->fleet->limiter);
	turns_put(t->look.config.fair, &turns, x, &t->fleet->limiter);
	tally_get(x, &t->fleet->limiter, r.seat);
}

/*
 * A place: with it come the taker that came last before it, how the limiter is steered then, how many
 * wait, and, if none seemed to, the permits.
 */
static void
add_place(const struct fleet_taker *t, struct txn *x)
{
	const struct key *p = &t->fleet->limiter;
	struct key tail = key_tail(p), mine = taker_key(t, 'w'), w = key_of(p, 'w', NULL);
	struct key w_end = key_end(&w), h = key_of(p, 'h', NULL), h_end = key_end(&h);
	struct record r = taker_record(t);
	char text[2 * STORE_SELF];
	struct txn_item *in_line;
	int n = snprintf(text, sizeof(text), "%s %s", t->self, r.life);

	claim_add_record(t, x, 'w', &r);
	txn_get(x, tail.s, NULL);
	txn_put(x, tail.s, text, (size_t)n, 0);
	txn_get(x, mine.s, NULL);
	look_add_steering(x, p);
	in_line = txn_get(x, w.s, w_end.s);
	in_line->keys_only = true;
	in_line->limit = 1;
	if (t->look.in_line == 0)
		txn_get(x, h.s, h_end.s);
}

/* It stands in the line: behind the tail, unless nobody else is there. */
static void
stand(struct fleet_taker *t, bool was_empty)
{
	struct look *l = &t->look;

	memcpy(t->before, l->tail, STORE_SELF);
	memcpy(t->before_life, l->tail_life, STORE_SELF);
	t->before_created = l->tail_mod;
	l->tail_mod = t->created; /* it is its own now */
	if (l->in_line == 1)
		t->before[0] = '\0';
	/* It may be the next, and fit where those before it do not: nobody else looks. */
	if (l->config.fair != FLK_FAIR_OFF && l->in_line > 1)
		round_run(t->fleet, NULL);
	if (l->in_line == 1 && was_empty)
		line_first(t);
	else if (t->before[0] != '\0')
		line_stand(t);
	else
		taker_go(t, LOOKING);
}

static void
queued(struct fleet_taker *t, const struct records_answer *a)
{
	bool was_empty = t->look.in_line == 0;
	const struct look_taker *mine;

	if (!look_read(&t->look, LOOK_NEW, a)) {
		taker_move(t, LOOKING);
		leave_begin(t, FLEET_REFUSED, -FLK_STORE);
		return;
	}
	if ((mine = look_waiter(&t->look, t->self)) == NULL) {
		t->claim_lease = t->fleet->life.lease;
		taker_go(t, RECONCILE);
		return;
	}
	fleet_saw(t->fleet, &t->look);
	t->created = mine->created;
	watching_own_from(t, t->created + 1);
	seen_is_old(t->fleet, t->created);
	t->ticket = (uint64_t)t->created;
	t->first = t->want.limit == 0 && t->look.config.declared == 0;
	/* The count includes the taker itself. */
	if (t->want.limit_queue && t->look.in_line > t->want.max_queue) {
		taker_move(t, LOOKING);
		leave_begin(t, FLEET_REFUSED, -FLK_FULL);
		return;
	}
	if (t->look.config.closed) {
		taker_move(t, LOOKING);
		leave_begin(t, FLEET_REFUSED, -FLK_CLOSED);
		return;
	}
	stand(t, was_empty);
	taker_report(t, &(struct fleet_event){ .kind = FLEET_QUEUED, .ticket = t->ticket });
}

static void
claimed(struct fleet_taker *t, const struct records_answer *a)
{
	struct life *life = &t->fleet->life;
	struct starts starts;
	struct record r;

	if (a->result == RECORDS_NOLEASE) {
		life_has_lost(life, t->claim_lease);
		t->claim_lease = 0;
		taker_go(t, ASKING);
		return;
	}
	if (a->result != RECORDS_OK) {
		taker_go(t, RECONCILE);
		return;
	}
	if (a->held || may_wait(t))
		life_was_put(life, t->claim_lease, a->revision);
	t->claim_lease = 0;
	if (t->fitted && a->held) {
		fits(t, &r, &starts);
		r.since_ms = t->came_ms;
		taker_tally(t, a);
		t->ticket = (uint64_t)a->revision;
		seen_granted(t, &r, a->revision);
		hold_begin(t, a->revision, &r);
	} else if (!t->fitted || may_wait(t)) {
		queued(t, a);
	} else {
		/*
		 * Others came first, and the taker must not wait: it looks again whether it would
		 * have to.
		 */
		taker_move(t, ASKING);
		if (++t->again < AT_ONCE)
			taker_act(t);
		else
			taker_again(t);
	}
}

void
claiming_act(struct fleet_taker *t)
{
	struct txn *x;

	if (t->slot[MAIN].call != NULL)
		return;
	/* If it could not be sent at once, the lease may be another by now. */
	if (!life_may_claim(&t->fleet->life)) {
		t->claim_lease = 0;
		taker_go(t, ASKING);
		return;
	}
	t->claim_lease = t->fleet->life.lease;
	t->came_ms = record_now_ms();
	taker_tally(t, NULL);
	x = txn_new();
	if (t->fitted) {
		add_permit(t, x);
		txn_otherwise(x);
	}
	if (may_wait(t))
		add_place(t, x);
	taker_txn(t, MAIN, x, claimed);
}
