/* SPDX-License-Identifier: ISC */
/*
 * record.c - events are recorded: the last EVENTS things that happened, in a ring.
 *
 * The owner of the lock writes an event, as a part of the operation that the event records: first
 * the words of the event, then `events', which is the number of events written so far.  A writer
 * that is killed in between has written nothing.  A writer that is killed after its commit and
 * before its event leaves a history without that event; only people read it.
 *
 * Pairing: the store to `events' releases the event's words to the first load of a reader in
 * history.c.  The fence after it orders it before the words of the next event: a reader that copied
 * any of these sees, behind its own fence, that store.
 */
#include "state.h"

#include <string.h>

#include "program.h"

void
flki_state_remember(struct state *st, const struct event *e)
{
	struct header *h = st->h;
	uint64_t n = atomic_load_explicit(&h->events, memory_order_relaxed);
	uint64_t *to, word;
	size_t k;

	/* Without disk space for it, the event is lost. */
	if (st->history == NULL || n % EVENTS >= atomic_load(&h->event_room))
		return;
	to = (uint64_t *)(void *)&st->history[n % EVENTS];
#pragma GCC unroll 8 /* of 8: GCC does so at -O3 only */
	for (k = 0; k < EVENT_WORDS; k++) {
		memcpy(&word, (const char *)e + k * sizeof(word), sizeof(word));
		__atomic_store_n(&to[k], word, __ATOMIC_RELAXED);
	}
	atomic_store(&h->events, n + 1);
	atomic_thread_fence(memory_order_release);
}

struct event
flki_state_event(struct state *st, uint32_t kind, uint32_t i, int32_t code)
{
	const struct slot *s = flki_state_at(st, i);
	struct event e = { .when_ns = st->now_ns,
			   .ticket = s->ticket,
			   .kind = kind,
			   .weight = s->weight,
			   .seat = s->seat,
			   .limit = s->limit,
			   .pid = s->pid,
			   .uid = s->uid,
			   .code = code };

	if (kind == FLK_EV_RELEASED) {
		e.kind = WITH_SEAT(kind, s->seat);
		e.took = s->took;
	}
	if (kind == FLK_EV_GRANTED && s->seats != 0) {
		e.kind = WITH_SEAT(kind, 1);
		e.seat = (uint32_t)s->seats;
		e.code = (int32_t)(s->seats >> 32);
	}
	if (kind == FLK_EV_QUEUED && s->not_seats != 0 && s->limit <= FLK_SEATS) {
		e.kind = WITH_SEAT(kind, s->limit);
		e.seat = (uint32_t)s->not_seats;
		e.limit = (uint32_t)(s->not_seats >> 32);
	}
	if (kind == FLK_EV_GREW && s->seats != 0) {
		e.kind = WITH_SEAT(kind, s->limit <= FLK_SEATS ? s->limit : FLK_SEATS);
		e.seat = (uint32_t)s->seats;
		e.limit = (uint32_t)(s->seats >> 32);
	}
	if (kind == FLK_EV_EVICTED) {
		e.pid = s->evictor_pid;
		e.uid = s->evictor_uid;
	}
	flki_program_name(s->command, e.command);
	return e;
}

void
flki_state_note(struct state *st, uint32_t kind, uint32_t i, int32_t code)
{
	struct event e = flki_state_event(st, kind, i, code);

	flki_state_remember(st, &e);
}

static struct event
steering_event(struct state *st, uint32_t kind, int32_t code)
{
	struct event e = { .when_ns = st->now_ns, .kind = kind, .code = code };

	if (st->me != NIL) {
		e.pid = flki_state_at(st, st->me)->pid;
		e.uid = flki_state_at(st, st->me)->uid;
	}
	return e;
}

void
flki_state_note_steering(struct state *st, uint32_t kind, int32_t code)
{
	struct event e = steering_event(st, kind, code);

	flki_state_remember(st, &e);
}

void
flki_state_note_pace(struct state *st, unsigned which)
{
	struct event e = steering_event(st, FLK_EV_PACED, (int32_t)which);

	e.pace = st->h->pace;
	flki_state_remember(st, &e);
}

/* As much of the conditions as there is room for. */
void
flki_state_note_gate(struct state *st, const char *when)
{
	struct event e = steering_event(st, FLK_EV_GATE, 0);

	memcpy(e.when, when, strnlen(when, sizeof(e.when) - 1));
	flki_state_remember(st, &e);
}

void
flki_state_note_gated(struct state *st, uint32_t i, const struct flk_gated *gated)
{
	struct event e = steering_event(st, FLK_EV_GATED, 0);

	e.ticket = flki_state_at(st, i)->ticket;
	memcpy(e.when, gated->when, strnlen(gated->when, sizeof(e.when) - 1));
	e.value = gated->value;
	flki_state_remember(st, &e);
}

void
flki_state_count_time(struct flk_times *times, uint64_t since_ns, uint64_t now_ns)
{
	uint64_t took = now_ns > since_ns ? now_ns - since_ns : 0, bound = FLK_BUCKET_NS;
	unsigned bucket = 0;

	while (bucket < FLK_BUCKETS - 1 && took > bound) {
		bucket++;
		bound *= 4;
	}
	times->count[bucket]++;
	times->sum_ns += took;
}
