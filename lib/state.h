/*
 * state.h - what takers do to the file, as pure transitions: no system call, no clock, no lock.
 * The caller has the lock, and lends its eyes and its voice through struct world.
 */
#ifndef FLKI_STATE_H
#define FLKI_STATE_H

#include <string.h>

#include "layout.h"

enum fate { LIVES, DEAD, ORPHAN }; /* ORPHAN: dead, but somebody still has its guard */

struct world {
	enum fate (*fate)(void *ctx, uint32_t slot);
	void (*wake)(void *ctx, uint32_t slot); /* its wake word has changed */
	void *ctx;
};

struct state {
	struct header *h;
	struct slot *slots;
	struct event *history; /* NULL: nothing is remembered */
	uint32_t n;            /* slots that may be touched */
	uint32_t me;           /* never woken: it is awake; NIL for nobody */
	uint64_t now_ns;
	int64_t ahead_ns; /* of our clock before the machine's: see pace.c */
	struct world world;
	bool bad;            /* an index from the file was out of range */
	struct slot nowhere; /* what such an index leads to */
};

/* Puts the IDLE slot i, filled in by its owner, at the end of the line; grants if it may. */
void flki_state_enter(struct state *st, uint32_t i, enum slot_kind kind);

/* Reaps whom i must watch, and grants.  With i NIL: whom nobody else would watch. */
void flki_state_mend(struct state *st, uint32_t i);
void flki_state_sweep_holders(struct state *st);

void flki_state_release(struct state *st, uint32_t i);
void flki_state_release_units(struct state *st, uint32_t i, uint32_t units);
void flki_state_forget(struct state *st, uint32_t i);
void flki_state_leave(struct state *st, uint32_t i);
void flki_state_evict(struct state *st, uint32_t i, int32_t reason);
void flki_state_evict_all(struct state *st, int32_t reason);

/* Grants whatever fits now, after a change of how the limiter is steered. */
void flki_state_grant(struct state *st);
/* Wakes the first in the line: it will look again, even if the caller dies before it is done. */
void flki_state_rouse(struct state *st);

/* The limit in force for the head of the line, or for a newcomer that declares `limit'. */
uint32_t flki_state_limit(struct state *st, uint32_t limit);

/*
 * After the lock's owner died inside: rebuilds the index from the slots, ends what it had begun,
 * and wakes everybody.  False if the slots contradict each other.
 */
bool flki_state_rebuild(struct state *st);
/* Before that, where they do: who waits with nonsense is put out, who holds keeps as much as can be. */
void flki_state_salvage(struct state *st);

/*
 * NULL, or a sentence about the first invariant that does not hold.  In steps: about the next of
 * them, from *next on, which begins with 0.
 */
const char *flki_state_check(struct state *st);
const char *flki_state_check_next(struct state *st, unsigned *next);

/*
 * pace.c.  When time alone would allow the next start (0: at once); when the head must look again, though
 * nothing else happens (UINT64_MAX: never); and the capacity that time has brought so far.
 */
bool flki_pace_is_set(const struct header *h);
uint64_t flki_pace_now(const struct state *st); /* by the machine's clock */
uint64_t flki_pace_start(const struct state *st);
uint64_t flki_pace_look(const struct state *st, const struct slot *first);
uint64_t flki_pace_capacity(const struct state *st);

int flki_pace_check(const struct flk_pace *pace, unsigned which);
void flki_pace_set(struct state *st, const struct flk_pace *pace, unsigned which);
void flki_pace_tell(const struct header *h, struct flk_pace *pace);
void flki_pace_unpack(const struct pace_words *from, struct flk_pace *pace);

/* Around the commit that starts a ticket; and after the lock's owner died inside. */
void flki_pace_begin(struct state *st, uint64_t ticket);
void flki_pace_end(struct state *st);
void flki_pace_repair(struct state *st);

/* At every look, before anything is decided: ends what no clock of this limiter can have made. */
void flki_pace_keep(struct state *st);

/*
 * history.c: what happened, for people; to slot i, or to the limiter by `me'.  A commit that lets
 * a newcomer claim slot i comes between the two halves: the event is made before it, because the
 * newcomer writes its own pid and command there without the lock, and is remembered after it,
 * because the commit may never be made.
 */
void flki_state_note(struct state *st, uint32_t kind, uint32_t i, int32_t code);
struct event flki_state_event(struct state *st, uint32_t kind, uint32_t i, int32_t code);
void flki_state_remember(struct state *st, const struct event *e);
void flki_state_note_steering(struct state *st, uint32_t kind, int32_t code);
void flki_state_note_pace(struct state *st, unsigned which); /* as it is now */
void flki_state_count_time(struct flk_times *times, uint64_t since_ns, uint64_t now_ns);

/* ---- index.c: for state.c, repair.c and check.c ---- */

/* Never NULL.  Marks the state bad when the index is out of range, and leads to `nowhere'. */
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

void flki_state_append(struct state *st, struct list *list, uint32_t i);
void flki_state_unlink(struct state *st, struct list *list, uint32_t i);

/* Adds a holder to everything in I2 and I3, and takes holder i out of I1 to I3. */
void flki_state_count_in(struct state *st, const struct slot *s);
void flki_state_count_out(struct state *st, uint32_t i);

uint32_t flki_state_free_seat(struct state *st); /* the smallest */
bool flki_state_seat_is_taken(struct state *st, uint32_t seat);

/* ---- state.c ---- */

/* Whoever is in slot i looks again. */
void flki_state_poke(struct state *st, uint32_t i);

#endif
