/* SPDX-License-Identifier: ISC */
/*
 * snapshot.c - copies of the state for people, and the check of its invariants.
 */
#include "internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void
copy_entry(const struct state *st, const struct slot *s, bool holds, struct flk_entry *e)
{
	/*
	 * The time is of the taker's own clock: in another time namespace that may be ahead of
	 * ours.
	 */
	uint64_t since = s->since_ns < st->now_ns ? s->since_ns : st->now_ns;

	*e = (struct flk_entry){ .ticket = s->ticket,
				 .weight = s->weight,
				 .most = holds || s->most < s->weight ? s->weight : s->most,
				 .yield = holds ? 0 : s->yield,
				 .passed_by = holds ? 0 : s->passed_by,
				 .seats = holds ? flki_seats_of(s) : 0,
				 .not_seats = s->not_seats,
				 .limit = s->limit,
				 .seat = s->seat,
				 .slot = s == &st->nowhere ? NIL : (uint32_t)(s - st->slots),
				 .pid = (pid_t)s->pid,
				 .worker = holds ? (pid_t)s->worker_pid : 0,
				 .uid = s->uid,
				 .since_ns = since,
				 .holds = holds,
				 .orphan = s->orphan != 0,
				 .role =
				     s->role <= FLK_CARRIED ? (enum flk_role)s->role : FLK_WORKER };
	memcpy(e->command, s->command, sizeof(e->command));
	e->command[sizeof(e->command) - 1] = '\0';
	memcpy(e->key, s->key, sizeof(e->key));
	e->key[sizeof(e->key) - 1] = '\0';
	e->share = e->key[0] == '\0' ? 0 : s->share != 0 ? s->share : 1;
	if (holds)
		flki_waits_for(s, e->waits_for);
}

static void
copy_list(struct state *st, const struct list *list, struct flk_snapshot *snap, uint32_t *n,
	  uint32_t room)
{
	uint32_t i, left = st->n;

	for (i = list->head; i != NIL && left > 0 && *n < room; left--) {
		const struct slot *s = flki_state_at(st, i);
		i = s->next;
		if (s->kind != BARRIER)
			copy_entry(st, s, list == &st->h->holders, &snap->entry[(*n)++]);
	}
}

/* `usual' is flk_declared() from before the lock was taken, because that may read files. */
static uint32_t
declared_now(const struct header *h, uint32_t usual)
{
	return h->declared != 0 ? h->declared : usual;
}

/* In the line, behind barriers; NULL: no taker waits. */
static const struct slot *
first_taker(struct state *st)
{
	uint32_t i = st->h->waiting.head, left = st->n;

	for (; i != NIL && left > 0; left--) {
		const struct slot *s = flki_state_at(st, i);
		if (s->kind == TAKER)
			return s;
		i = s->next;
	}
	return NULL;
}

/* The limit in force for the first taker in the line or, if there is none, for a newcomer. */
static uint32_t
limit_now(struct state *st, uint32_t own, uint32_t usual)
{
	const struct header *h = st->h;
	const struct slot *first = first_taker(st);

	if (first != NULL)
		return flki_state_limit(st, first->limit);
	if (own == 0)
		own = h->min_count > 0 ? h->min_limit : declared_now(h, usual);
	return flki_state_limit(st, own);
}

static uint64_t
next_start(const struct state *st)
{
	uint64_t at = flki_pace_start(st);

	return at > st->now_ns ? at : 0;
}

static struct flk_gated
gated_now(struct state *st)
{
	struct flk_gated gated = { .waits = false };
	const struct slot *first = first_taker(st);

	if (first != NULL && flki_gate_keeps(st, first))
		flki_gate_condition(st, first, &gated);
	return gated;
}

static void
copy_header(struct state *st, struct flk_snapshot *snap, uint32_t usual)
{
	const struct header *h = st->h;

	*snap = (struct flk_snapshot){ .used = h->used,
				       .limit = limit_now(st, 0, usual),
				       .last_ticket = h->last_ticket,
				       .granted = h->granted,
				       .released = h->released,
				       .left = h->left,
				       .evicted = h->evicted,
				       .reaped = h->reaped,
				       .repaired = h->repaired,
				       .waited = h->waits,
				       .held = h->holds,
				       .next_start_ns = next_start(st) };
	flki_settings_read(h, &snap->set);
	snap->set.declared = declared_now(h, usual);
	snap->gated = gated_now(st);
}

int
flki_local_place(struct flk_taker *t, struct flk_place *place)
{
	struct state st;
	uint32_t i, left, usual;
	bool waits;
	int error;

	if (taker_is_strange(t))
		return -FLK_STRANGER;
	usual = flki_local_declared(t->flk);
	if ((error = flki_enter(t, &st)) != 0)
		return error;
	waits = atomic_load(&taker_slot(t)->state) == WAITING;
	*place = (struct flk_place){ .used = st.h->used,
				     .holders = st.h->holders.count,
				     .limit = limit_now(&st, taker_slot(t)->limit, usual),
				     .next_start_ns = next_start(&st),
				     .gated = gated_now(&st) };
	flki_settings_read(st.h, &place->set);
	i = waits ? taker_slot(t)->prev : st.h->waiting.tail;
	for (left = st.n; i != NIL && left > 0; left--) {
		const struct slot *s = flki_state_at(&st, i);
		if (s->kind == TAKER) {
			place->ahead++;
			copy_entry(&st, s, false, &place->head);
		}
		i = s->prev;
	}
	if (st.h->holders.head != NIL)
		copy_entry(&st, flki_state_at(&st, st.h->holders.head), true, &place->oldest);
	return flki_quit(t, &st);
}

/* Copies all, or returns false and says in *room how many entries that takes. */
static bool
copy_all(struct state *st, struct flk_snapshot *snap, uint32_t *room, uint32_t usual)
{
	uint32_t n = 0;
	uint64_t count = (uint64_t)st->h->holders.count + st->h->waiting.count;

	if (count > st->n) {
		st->bad = true; /* flki_quit() will repair it */
		return false;
	}
	if (count > *room) {
		*room = (uint32_t)(count + count / 2);
		if (*room > MAX_SLOTS)
			*room = MAX_SLOTS;
		return false;
	}
	copy_header(st, snap, usual);
	copy_list(st, &st->h->holders, snap, &n, *room);
	snap->holders = n;
	copy_list(st, &st->h->waiting, snap, &n, *room);
	snap->waiters = n - snap->holders;
	return true;
}

int
flki_snapshot_of(struct state *st, struct flk_snapshot **snapshot, uint32_t usual)
{
	struct flk_snapshot *snap;
	uint32_t room = st->n;

	snap = malloc(sizeof(*snap) + room * sizeof(snap->entry[0]));
	if (snap == NULL)
		return -ENOMEM;
	if (!copy_all(st, snap, &room, usual) || st->bad) {
		free(snap);
		return -FLK_DAMAGED;
	}
	*snapshot = snap;
	return 0;
}

int
flki_local_snapshot(struct flk *f, struct flk_snapshot **snapshot)
{
	struct flk_taker me = { .flk = f, .slot = NIL, .guard_fd = -1 };
	struct flk_snapshot *snap = NULL;
	uint32_t room = 16, usual = flki_local_declared(f);
	bool done;
	struct state st;
	int error;

	/*
	 * No memory is allocated inside the lock: guess how much, look, and repeat if it was too
	 * little.
	 */
	for (;;) {
		free(snap);
		snap = malloc(sizeof(*snap) + room * sizeof(snap->entry[0]));
		if (snap == NULL) {
			error = -ENOMEM;
			break;
		}
		if ((error = flki_enter(&me, &st)) != 0)
			break;
		/* First the dead at the end of the line: else the sweep grants them what dead holders had. */
		if (!flki_state_reap_watched(&st, NIL))
			flki_state_sweep_holders(&st);
		done = copy_all(&st, snap, &room, usual);
		error = flki_quit(&me, &st);
		if (error != 0 || done)
			break;
	}
	flki_slot_drop(&me);
	if (error == 0)
		*snapshot = snap;
	else
		free(snap);
	return error;
}

/* Appends one line, as far as there is room. */
static void
append_line(char *why, size_t size, const char *line)
{
	size_t n = size > 0 ? strnlen(why, size) : 0;

	if (n + 1 < size)
		snprintf(why + n, size - n, "%s%s", n > 0 ? "\n" : "", line);
}

int
flki_local_check(struct flk *f, char *why, size_t size)
{
	struct flk_taker me = { .flk = f, .slot = NIL, .guard_fd = -1 };
	const char *broken[16];
	unsigned next = 0, count = 0, i;
	bool damaged = false;
	struct state st;
	int error, left;

	if ((error = flki_enter_anyway(&me, &st)) == 0) {
		if (atomic_load(&st.h->dead))
			error = -FLK_GONE;
		damaged = atomic_load(&st.h->damaged) != 0;
		while (count < 16 && (broken[count] = flki_state_check_next(&st, &next)) != NULL)
			count++;
		st.bad = false; /* the check repairs nothing */
		left = flki_leave_lock(&me, &st);
		error = error != 0 ? error : left;
	}
	flki_slot_drop(&me);
	if (error != 0 || (count == 0 && !damaged))
		return error;
	if (size > 0)
		why[0] = '\0';
	if (damaged)
		append_line(why, size, "it was found damaged, and everyone is turned away");
	for (i = 0; i < count; i++)
		append_line(why, size, broken[i]);
	return -FLK_DAMAGED;
}
