/* SPDX-License-Identifier: ISC */
/*
 * state.h - what takers do to the file, as pure transitions: no system call, no clock, no lock.
 * The caller has the lock.  What the transitions need of the system, whether a taker lives and how
 * to wake one, they call through struct world; inside.c has the real one, and tests have others.
 *
 * state.c has the operations, room.c what is left for a waiter, request.c what a taker asks for and
 * its place in the line, seats.c the seats of a permit, index.c the lists and sums that follow from
 * the slots, repair.c the rebuild after a death, check.c the invariants, pace.c the arithmetic of
 * times, gate.c what a reading admits, and record.c the events.
 */
#ifndef FLKI_STATE_H
#define FLKI_STATE_H

#include <string.h>

#include "layout.h"

enum fate { LIVES, DEAD, ORPHAN }; /* ORPHAN: dead, but a process keeps its permit */

struct world {
	enum fate (*fate)(void *ctx, uint32_t slot);
	void (*wake)(void *ctx, uint32_t slot); /* called after its wake word was changed */
	void *ctx;
};

/* What a taker measured just before this visit to the lock, for the gate: see gate.c. */
struct reading {
	uint64_t gate;          /* the header's gate.is then; 0: nothing was measured */
	uint64_t at_ns;         /* by its own clock */
	uint64_t failed, value; /* as the header's */
};

struct state {
	struct header *h;
	struct slot *slots;
	struct event *history; /* NULL: events are not recorded */
	uint32_t n;            /* slots that may be touched */
	uint32_t me;           /* the caller's slot, which is never woken; or NIL */
	uint64_t now_ns;
	int64_t ahead_ns; /* of our clock before the machine's: see pace.c */
	struct reading reading;
	bool answered; /* the question of the caller's own slot, with yes, and not long ago */
	struct world world;
	bool bad;            /* an index from the file was out of range */
	struct slot nowhere; /* the slot that such an index leads to */
};

/*
 * Puts the IDLE slot i, which its owner has filled in, into the line, and grants.  It stands at the
 * end, but for the waiters there that it passes: returns how many those are.  In a fair limiter a
 * taker has a key, of FLK_KEY bytes; else it is NULL.
 */
uint32_t flki_state_enqueue(struct state *st, uint32_t i, enum slot_kind kind, const char *key);

/*
 * For waiter i, reaps the dead that it watches, and then grants:
 *
 *	those right behind i that i has passed, which perhaps no taker watches;
 *	those right before i;
 *	if no living waiter is before i, those among the holders, by a sweep.
 *
 * With i NIL it begins at the end of the line, whose dead no taker watches.  True if it swept, and a
 * second sweep in the same visit to the lock would find no more.
 */
bool flki_state_reap_watched(struct state *st, uint32_t i);

/* Reaps the dead among all holders, and then grants. */
void flki_state_sweep_holders(struct state *st);

/*
 * release: holder i ends its permit, or gives units of it back.  grow: it gets so many more, or as many
 * as are free, if nobody waits; returns how many.  forget: it ends its permit, and the
 * units stay withheld.  leave: waiter i gives up.
 */
void flki_state_release(struct state *st, uint32_t i);
void flki_state_release_units(struct state *st, uint32_t i, uint32_t units);
uint32_t flki_state_grow(struct state *st, uint32_t i, uint32_t units);
void flki_state_forget(struct state *st, uint32_t i);
void flki_state_leave(struct state *st, uint32_t i);
/*
 * For newcomer i, which has just come and got no permit.  If so many takers or more stand before it,
 * it leaves the line, and the waiters that it passed have their consent again: true.
 */
bool flki_state_turn_away(struct state *st, uint32_t i, uint32_t queue);
void flki_state_evict(struct state *st, uint32_t i, int32_t reason);
void flki_state_evict_all(struct state *st, int32_t reason);

/* Grants what fits now, after an operator's change. */
void flki_state_grant(struct state *st);
/* Wakes the head: it will take the lock and look, even if the caller dies before it is done. */
void flki_state_wake_head(struct state *st);

/*
 * After the lock's owner died inside: rebuilds the index from the slots, completes what the dead
 * owner had begun, and wakes every taker.  False if the slots contradict each other.
 */
bool flki_state_rebuild(struct state *st);

/*
 * Changes slots that contradict each other, so that a rebuild succeeds.  It takes a waiter that
 * can't be right out of the line; a holder keeps as much of its permit as can be true, because its
 * command runs.
 */
void flki_state_salvage(struct state *st);

/*
 * flki_state_check() returns NULL, or a sentence about the first invariant that does not hold.
 * flki_state_check_next() begins with the check *next, which is 0 at first, and so gives them all.
 */
const char *flki_state_check(struct state *st);
const char *flki_state_check_next(struct state *st, unsigned *next);

/*
 * pace.c.  flki_pace_start(): when the pace allows the next start; 0: at once.  flki_pace_look():
 * when the head must look again although nothing else happens; UINT64_MAX: never.
 * flki_pace_capacity(): how many units the ramp allows now.
 */
static inline bool
flki_pace_is_set(const struct header *h)
{
	return (h->pace.rate | h->pace.stagger_ns | h->pace.ramp) != 0;
}
uint64_t flki_pace_now(const struct state *st); /* by the machine's clock */
/* A time of the machine's clock by our own; 0 for what is over. */
uint64_t flki_pace_own_time(const struct state *st, uint64_t at);
uint64_t flki_pace_start(const struct state *st);
uint64_t flki_pace_look(const struct state *st, const struct slot *first);
uint64_t flki_pace_capacity(const struct state *st);

int flki_pace_check(const struct flk_pace *pace, unsigned which);
void flki_pace_set(struct state *st, const struct flk_pace *pace, unsigned which);
void flki_pace_copy(const struct header *h, struct flk_pace *pace);
void flki_pace_unpack(const struct pace_words *from, struct flk_pace *pace);

/*
 * The first two around the commit that starts a ticket; the last after the lock's owner died
 * inside.
 */
void flki_pace_begin(struct state *st, uint64_t ticket);
void flki_pace_end(struct state *st);
void flki_pace_repair(struct state *st);

/* In each visit to the lock, before anything is decided: cuts what can't be true of this clock. */
void flki_pace_keep(struct state *st);

/*
 * gate.c.  flki_gate_is_before(): s needs a reading, or has a question.  flki_gate_allows(): whether
 * the gate lets the head s start now.  flki_gate_begin(): before the commit that starts it.
 * flki_gate_stands(): a gate is before the first in the line, and it was not granted.
 * flki_gate_keeps(): nothing but the gate keeps s, which is the head.  flki_gate_asks(): nothing but
 * the question of s does.  flki_gate_look(): when the head, or the second in the line, must look at
 * the machine; UINT64_MAX: never.
 */
static inline bool
flki_gate_is_set(const struct header *h)
{
	return GATE_WHICH(__atomic_load_n(&h->gate.is, __ATOMIC_RELAXED)) != 0;
}
static inline bool
flki_gate_is_before(const struct header *h, const struct slot *s)
{
	return flki_gate_is_set(h) || s->asks != 0;
}
bool flki_gate_allows(const struct state *st, const struct slot *s);
void flki_gate_begin(struct state *st);
void flki_gate_stands(struct state *st, uint32_t i, bool free);
bool flki_gate_keeps(const struct state *st, const struct slot *s);
bool flki_gate_asks(const struct state *st, const struct slot *s);
uint64_t flki_gate_look(const struct state *st, const struct slot *first, bool is_first);
void flki_gate_note_reading(struct state *st); /* in each visit to the lock, at first */
void flki_gate_set(struct state *st, const struct flk_gate *gate);

/*
 * Without the lock.  flki_gate_copy(): the gate's `is', or 0 if there is none.
 * flki_gate_wants_look(): the last look is a second old, or so old that the head seems to be stopped.
 */
uint64_t flki_gate_copy(const struct header *h, struct flk_gate *gate);
bool flki_gate_wants_look(const struct header *h, uint64_t now, bool is_first);

/*
 * record.c records what happened, for people: to slot i, or to the limiter by `me'.
 *
 * flki_state_note() is both halves: flki_state_event() makes the event, flki_state_remember()
 * records it.  A commit after which a newcomer may claim slot i comes between the two halves.  The
 * event is made before it, because the newcomer writes its own pid and command into the slot
 * without the lock; and it is recorded after it, because a taker that is killed before never makes
 * the commit.
 */
void flki_state_note(struct state *st, uint32_t kind, uint32_t i, int32_t code);
struct event flki_state_event(struct state *st, uint32_t kind, uint32_t i, int32_t code);
void flki_state_remember(struct state *st, const struct event *e);
void flki_state_note_steering(struct state *st, uint32_t kind, int32_t code);
void flki_state_note_pace(struct state *st, unsigned which); /* as it is now */
void flki_state_note_gate(struct state *st, const char *when);
void flki_state_note_gated(struct state *st, uint32_t i, const struct flk_gated *gated);
void flki_state_count_time(struct flk_times *times, uint64_t since_ns, uint64_t now_ns);

/*
 * One store also where a compiler would make two of a word of 64 bits: a taker that is killed
 * leaves the old value or the new one.  For what no repair makes anew.
 */
static inline void
/* NOLINTNEXTLINE(readability-non-const-parameter): the builtin writes there */
flki_state_store(uint64_t *word, uint64_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELAXED);
}

/*
 * The same, for a reader without the lock: one that finds `value' finds what was stored before it, and
 * one that finds something stored behind it finds `value'.
 */
static inline void
/* NOLINTNEXTLINE(readability-non-const-parameter): the builtin writes there */
flki_state_store_in_order(uint64_t *word, uint64_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
	atomic_thread_fence(memory_order_release);
}

/* ---- index.c: for state.c, repair.c and check.c ---- */

/* Never NULL.  An index out of range marks the state as bad, and leads to `nowhere'. */
static inline struct slot *
flki_state_at(struct state *st, uint32_t i)
{
	if (i < st->n)
		return &st->slots[i];
	st->bad = true;
	memset(&st->nowhere, 0, sizeof(st->nowhere));
	st->nowhere.prev = st->nowhere.next = NIL;
	return &st->nowhere;
}

/* By what a list is sorted: the line by tags and places, the holders by tickets. */
static inline bool
flki_state_precedes(const struct slot *a, const struct slot *b, bool in_line)
{
	if (!in_line)
		return a->ticket < b->ticket;
	return a->tag != b->tag ? a->tag < b->tag : a->order < b->order;
}

/* True if waiter i, or NIL, came before j: where j is before it in the line, j has passed it. */
static inline bool
flki_state_came_before(struct state *st, uint32_t i, uint32_t j)
{
	return i != NIL && flki_state_at(st, i)->ticket < flki_state_at(st, j)->ticket;
}

/* Puts slot i into a list, in the order of the keys, and takes it out. */
void flki_state_insert(struct state *st, struct list *list, uint32_t i);
void flki_state_unlink(struct state *st, struct list *list, uint32_t i);

/* Adds a holder to everything in I2 and I3, and takes holder i out of I1 to I3. */
void flki_state_count_in(struct state *st, const struct slot *s);
void flki_state_count_out(struct state *st, uint32_t i);

/* ---- room.c ---- */

/* The limit in force for the head of the line, or for a newcomer that declares `limit'. */
uint32_t flki_state_limit(struct state *st, uint32_t limit);
/* The same without the pace and the seats out of use: where seats end. */
uint32_t flki_state_limit_said(const struct state *st, uint32_t limit);

/* Whether s fits, but for the gate. */
bool flki_state_has_room(struct state *st, const struct slot *s);

/* Writes into s, which fits, the weight and the seats that it gets. */
void flki_state_apportion(struct state *st, struct slot *s);

/* ---- seats.c ---- */

/*
 * The first 64 seats are kept in sets, of one bit each.  flki_seats_below() has the seats below a
 * limit, flki_seats_lowest() as many of a set as are wanted.
 */
#define SEATS FLK_SEATS

static inline uint64_t
flki_seats_below(uint32_t limit)
{
	return limit < SEATS ? (UINT64_C(1) << limit) - 1 : UINT64_MAX;
}

uint64_t flki_seats_lowest(uint64_t set, uint32_t count);
uint32_t flki_seats_count(uint64_t set);

/* The seats that permit s has of each unit; 0: it has s->seat alone. */
uint64_t flki_seats_of(const struct slot *s);
uint64_t flki_seats_of_weight(uint64_t seats, uint32_t own, uint32_t weight);

bool flki_seats_have(const struct slot *s, uint32_t seat);

/* False if s can't hold such seats in a file of n slots: see I3. */
bool flki_seats_are_sane(const struct slot *s, uint32_t n);

/* The seats that waiter s can't get: an operator took them out of use, or s does not want them. */
static inline uint64_t
flki_seats_excluded(const struct header *h, const struct slot *s)
{
	return h->seats_off | s->not_seats;
}

/* True if the seat map has one of the seats of permit s; the second sets or clears all of them. */
bool flki_state_seats_are_taken(struct state *st, const struct slot *s);
void flki_state_mark_seats(struct state *st, const struct slot *s, bool taken);

/* How many units of `limit' are lost, because their seats are out of use and not held. */
uint32_t flki_state_seats_lost(struct state *st, uint32_t limit);

/* For how many units waiter s can get seats where an operator or a taker set this limit. */
uint32_t flki_state_seats_for(struct state *st, const struct slot *s, uint32_t limit);

/* Writes the seats of a permit, the smallest ones: one for each unit, or only one. */
void flki_state_choose_seats(struct state *st, struct slot *s, uint32_t limit);

/* ---- request.c ---- */

/* Writes what a newcomer asks for into its slot, but for its limit and its question. */
void flki_state_ask(struct slot *s, const struct flk_request *want);

/* What does not hold of a WAITING slot, by what it asks for, or NULL; and makes it hold. */
const char *flki_state_asked_wrongly(const struct slot *s);
void flki_state_mend_asked(struct slot *s);

/* Gives newcomer s its place in the line; returns how many waiters it passes, and counts it there. */
uint32_t flki_state_find_place(struct state *st, struct slot *s);

/*
 * fair.c.  flki_fair_arrive(): sets newcomer s's tag by its key, of which all bytes count; NULL: it has
 * none, as nobody in a limiter that is not fair, and stands at the end of the line.  flki_fair_set():
 * what keys are has changed.  The others come before a commit: flki_fair_give() before the one that
 * grants s what its weight says, flki_fair_leave() before the one by which s leaves the line without a
 * permit, flki_fair_grow() before the one that gives holder s so many units more.
 */
static inline bool
flki_fair_has_key(const struct slot *s)
{
	return s->key[0] != '\0';
}
void flki_fair_arrive(struct state *st, struct slot *s, const char key[FLK_KEY]);
void flki_fair_give(struct state *st, struct slot *s);
void flki_fair_leave(struct state *st, struct slot *s);
void flki_fair_grow(struct slot *s, uint32_t units);
void flki_fair_set(struct state *st);
void flki_fair_came(struct state *st, const struct slot *s); /* a rebuild has found this holder */

/* ---- state.c ---- */

/* Makes the owner of slot i look again. */
void flki_state_wake(struct state *st, uint32_t i);

#endif
