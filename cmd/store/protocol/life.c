/* SPDX-License-Identifier: ISC */
/*
 * life.c - see life.h.
 */
#include "life_inside.h"

#include <stdlib.h>
#include <string.h>

/* ---- its parts ---- */

void
life_cancel(struct records_call **call)
{
	if (*call != NULL)
		records_cancel(*call);
	*call = NULL;
}

void
life_hush(struct life *l)
{
	life_unwatch(l);
	life_cancel(&l->call);
	life_cancel(&l->beat);
	life_cancel(&l->check);
}

/* By which a keeper that takes over knows it: of each limiter another. */
int64_t
life_first(const struct life *l)
{
	uint64_t id = strtoull(l->name, NULL, 16);
	const char *c;

	for (c = l->fleet->limiter.s; *c != '\0'; c++)
		id = (id ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
	return (int64_t)(id >> 1) | 1;
}

void
life_begin(struct life *l, struct fleet *fleet)
{
	*l = (struct life){ .fleet = fleet, .heir = fleet->store->heir, .due_ns = UINT64_MAX };
	memcpy(l->name, fleet->store->life, STORE_SELF);
	if (l->name[0] == '\0')
		fleet_random_name(l->name);
	l->first = life_first(l);
}

void
life_stop(struct life *l)
{
	life_hush(l);
	l->lease = 0;
	memset(l->old, 0, sizeof(l->old));
	l->failures = 0;
	l->state = LIFE_NONE;
	l->due_ns = UINT64_MAX;
	l->proven_ns = 0;
}

bool
life_is_fresh(const struct life *l)
{
	return l->state >= LIFE_LEASED &&
	       flki_boottime_ns() - l->alive_ns <= l->fleet->store->ttl_s * SECOND / 2;
}

/* A keeper that takes over would know its lease. */
bool
life_is_known(const struct life *l)
{
	return l->state == LIFE_SHOWN || l->lease == life_first(l);
}

bool
life_may_claim(const struct life *l)
{
	return life_is_fresh(l) && life_is_known(l);
}

void
life_again(struct life *l)
{
	l->due_ns = flki_boottime_ns() + retry_pause(l->failures++);
}

/* The store knew that the lease lives when that call was sent. */
void
life_lives(struct life *l, uint64_t sent_ns)
{
	l->alive_ns = sent_ns;
	l->due_ns = l->alive_ns + l->fleet->store->ttl_s * SECOND / 3;
}

/* ---- a lease ---- */

static void put(struct life *l);

static void
leased(void *context, const struct records_answer *a)
{
	struct life *l = context;

	l->call = NULL;
	/* If the id is in use already, that lease is not ours to keep: we don't know how old it is. */
	if (a->result != RECORDS_OK) {
		life_again(l);
	} else {
		l->state = LIFE_LEASED;
		life_lives(l, a->sent_ns);
		/* A taker that has no record yet puts l/ with it. */
		l->due_ns = UINT64_MAX;
		if (fleet_has_records(l->fleet) || !life_is_known(l))
			put(l);
	}
	fleet_heard(l->fleet, a);
}

void
life_lease(struct life *l)
{
	l->state = LIFE_LEASING;
	l->due_ns = UINT64_MAX;
	l->lease = l->first != 0 ? l->first : fleet_random_id();
	l->first = 0;
	l->call = records_lease(l->fleet->store->records, l->lease, l->fleet->store->ttl_s,
				l->fleet->store->timeout_ms, leased, l);
	if (l->call == NULL)
		life_again(l);
}

void
life_need(struct life *l)
{
	if (l->state == LIFE_NONE && l->heir)
		life_inherit(l);
	else if (l->state == LIFE_NONE)
		life_lease(l);
	else if (l->state == LIFE_LEASED && !life_is_fresh(l))
		life_has_lost(l, l->lease);
	else if (l->state == LIFE_LEASED && (fleet_has_records(l->fleet) || !life_is_known(l)))
		put(l);
}

/* ---- its end ---- */

void
life_drop(struct life *l)
{
	if (l->state == LIFE_NONE)
		return;
	fleet_revoke(l->fleet, l->lease);
	l->heir |= !life_is_settled(l);
	life_stop(l);
}

void
life_has_lost(struct life *l, int64_t id)
{
	if (id != l->lease || l->state < LIFE_LEASED)
		return;
	l->note =
	    l->proven_ns != 0 && flki_boottime_ns() - l->proven_ns < l->fleet->store->ttl_s * SECOND
		? "its lease was revoked, or the store ended it too early: the permit is kept on "
		  "another"
		: "the store treated it as dead, but heard from it in time: the permit is kept";
	life_hush(l);
	if (life_is_known(l))
		life_leave(l, l->lease);
	/* If that one had not been renewed either, the store is not asked for one after the other. */
	l->state = LIFE_LEASING;
	if (l->failures++ == 0)
		life_lease(l);
	else
		life_again(l);
}

/* ---- its key ---- */

void
life_add_unmark(const struct key *limiter, const char *life, struct txn *x)
{
	struct key s = key_of(limiter, 's', life), g = key_of(limiter, 't', life);

	txn_delete(x, s.s, NULL);
	txn_delete(x, g.s, NULL);
}

/* Of the lease that it has now. */
struct key
life_key(const struct life *l)
{
	return key_life(&l->fleet->limiter, l->name, l->lease);
}

/*
 * The marks go in the same transaction: so a repairer that takes a permit back by a mark comes before it,
 * or not at all.
 */
void
life_add(const struct life *l, struct txn *x)
{
	struct key k = life_key(l);

	txn_put(x, k.s, "", 0, l->lease);
	life_add_unmark(&l->fleet->limiter, l->name, x);
}

void
life_was_put(struct life *l, int64_t id, int64_t revision)
{
	if (id != l->lease || l->state < LIFE_LEASED || l->state == LIFE_SHOWN)
		return;
	if (l->state == LIFE_PUTTING)
		life_cancel(&l->call);
	l->state = LIFE_SHOWN;
	l->shown = revision;
	life_watch(l, revision + 1);
	l->proven_ns = l->alive_ns;
	life_lives(l, l->alive_ns);
}

static void
was_put(void *context, const struct records_answer *a)
{
	struct life *l = context;
	const char *note = l->note;

	l->call = NULL;
	if (a->result == RECORDS_NOLEASE) {
		l->state = LIFE_LEASED;
		life_has_lost(l, l->lease);
	} else if (a->result != RECORDS_OK) {
		l->state = LIFE_LEASED;
		life_again(l);
	} else {
		life_was_put(l, l->lease, a->revision);
		l->note = NULL;
		/* A permit may have been taken back before: the check says so. */
		life_beat(l);
		if (note != NULL)
			fleet_note(l->fleet, note);
	}
	fleet_heard(l->fleet, a);
}

static void
put(struct life *l)
{
	struct txn *x = txn_new();

	l->due_ns = UINT64_MAX;
	l->state = LIFE_PUTTING;
	life_add(l, x);
	l->call = records_txn(l->fleet->store->records, x, l->fleet->store->timeout_ms, was_put, l);
	if (l->call == NULL) {
		l->state = LIFE_LEASED;
		life_again(l);
	}
}

/* ---- its times ---- */

void
life_step(struct life *l, uint64_t now)
{
	if (l->due_ns > now)
		return;
	l->due_ns = UINT64_MAX;
	switch (l->state) {
	case LIFE_NONE:
	case LIFE_PUTTING:
		break;
	case LIFE_HEIR:
		life_inherit(l);
		break;
	case LIFE_LEASING:
		life_lease(l);
		break;
	case LIFE_LEASED:
		put(l);
		break;
	case LIFE_SHOWN:
		life_beat(l);
		break;
	}
}
