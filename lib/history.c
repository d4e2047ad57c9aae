/* SPDX-License-Identifier: ISC */
/*
 * history.c - the last EVENTS things that happened, in a ring.
 *
 * The owner of the lock writes an event, as a part of the operation that the event records: first
 * the words of the event, then `events', which is the number of events written so far.  A writer
 * that is killed in between has written nothing.  A writer that is killed after its commit and
 * before its event leaves a history without that event; only people read it.
 *
 * Readers do without the lock.  Event n is in entry n % EVENTS from the moment that `events' is
 * n + 1 until it is n + EVENTS, when a writer may have begun to write over it.  So a copy is good
 * if `events' is below n + EVENTS after the copy was made.
 *
 * Pairing: the store to `events' releases the event's words to the reader's first load.  The
 * fence after it orders it before the words of the next event: a reader that copied any of these
 * sees, behind its own fence, that store.
 */
#include "internal.h"

#include <errno.h>
#include <string.h>

#include "clock.h"
#include "futex.h"
#include "program.h"

#define RELOOK_NS SECOND /* of a follower, where the kernel has no futex_waitv */

#define WORDS (sizeof(struct event) / sizeof(uint64_t))

union event_words {
	struct event event;
	uint64_t word[WORDS];
};

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
	for (k = 0; k < WORDS; k++) {
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

/* ---- reading ---- */

/* What a FLK_EV_RELEASED has in other places than the others. */
static void
copy_release(const struct event *from, struct flk_event *e)
{
	e->kind = KIND(from->kind);
	e->seat = SEAT(from->kind);
	e->limit = 0;
	e->memory = (uint64_t)from->took.peak_kib * 1024;
	e->cpu_ns = (uint64_t)from->took.cpu_ms * MS;
}

/* What a FLK_EV_GRANTED with a set of seats has there. */
static void
copy_seats(const struct event *from, struct flk_event *e)
{
	e->kind = KIND(from->kind);
	e->code = 0;
	e->seats = (uint64_t)(uint32_t)from->code << 32 | from->seat;
	e->seat = e->seats != 0 ? (uint32_t)__builtin_ctzll(e->seats) : 0;
}

/* What a FLK_EV_QUEUED of a taker that excludes seats has in other places than the others. */
static void
copy_not_seats(const struct event *from, struct flk_event *e)
{
	e->kind = KIND(from->kind);
	e->seats = (uint64_t)from->limit << 32 | from->seat;
	e->seat = 0;
	e->limit = SEAT(from->kind);
}

static void
copy(const struct file *f, uint64_t n, struct flk_event *e)
{
	const uint64_t *from = (const uint64_t *)(const void *)&f->history[n % EVENTS];
	union event_words to;
	size_t k;

	for (k = 0; k < WORDS; k++)
		to.word[k] = __atomic_load_n(&from[k], __ATOMIC_RELAXED);
	*e = (struct flk_event){ .number = n + 1,
				 .when_ns = to.event.when_ns,
				 .ticket = to.event.ticket,
				 .kind = to.event.kind,
				 .pid = (pid_t)to.event.pid,
				 .uid = to.event.uid,
				 .code = to.event.code };
	if (e->kind == FLK_EV_PACED) {
		flki_pace_unpack(&to.event.pace, &e->pace);
		return;
	}
	if (e->kind == FLK_EV_GATE || e->kind == FLK_EV_GATED) {
		memcpy(e->when, to.event.when, sizeof(e->when) - 1);
		e->value = to.event.value;
		return;
	}
	e->weight = to.event.weight;
	e->seat = to.event.seat;
	e->limit = to.event.limit;
	if (KIND(e->kind) == FLK_EV_RELEASED)
		copy_release(&to.event, e);
	else if (e->kind == WITH_SEAT(FLK_EV_GRANTED, 1))
		copy_seats(&to.event, e);
	else if (KIND(e->kind) == FLK_EV_QUEUED && SEAT(e->kind) != 0)
		copy_not_seats(&to.event, e);
	memcpy(e->command, to.event.command, sizeof(e->command));
	e->command[sizeof(e->command) - 1] = '\0';
}

size_t
flki_local_history(struct flk *f, uint64_t number, struct flk_event *event, size_t room)
{
	struct header *h = f->file.h;
	uint64_t end = atomic_load_explicit(&h->events, memory_order_acquire), now;
	uint64_t first = number, n;
	size_t copied = 0, lost;

	if (end > FLK_HISTORY && first < end - FLK_HISTORY)
		first = end - FLK_HISTORY;
	for (n = first; n < end && copied < room; n++)
		copy(&f->file, n, &event[copied++]);
	atomic_thread_fence(memory_order_acquire);
	now = atomic_load_explicit(&h->events, memory_order_relaxed);
	/* Drop the events that were, or may have been, written over meanwhile. */
	if (now < first + EVENTS)
		return copied;
	lost = now - EVENTS + 1 - first < copied ? (size_t)(now - EVENTS + 1 - first) : copied;
	memmove(event, event + lost, (copied - lost) * sizeof(*event));
	return copied - lost;
}

/*
 * Sleeps until a writer wakes the followers; not at all if one of the two words has changed since
 * the follower looked, because the wake for that may have come already.  Where the kernel can't
 * watch two words, `dead' is not among them: if an operator removes the limiter after the
 * follower's look and before its sleep, no wake comes.  So it looks again after RELOOK_NS.
 */
static int
await_news(struct header *h, uint64_t events, uint64_t until)
{
	struct futex_word words[] = { flki_futex_on(flki_futex_half(&h->events), (uint32_t)events),
				      flki_futex_on(&h->dead, 0) };
	int error = flki_futex_sleep_on(words, 2, until);
	uint64_t relook;

	if (error == 0 || error == -EAGAIN || error == -EINTR || error == -ETIMEDOUT)
		return error;
	relook = flki_monotonic_ns() + RELOOK_NS;
	error = flki_futex_sleep(flki_futex_half(&h->events), (uint32_t)events,
				 relook < until ? relook : until);
	return error == -ETIMEDOUT && relook < until ? -EAGAIN : error;
}

/*
 * A follower sets `followed' before it looks at `events' and `dead', and a writer looks at
 * `followed' after it has written: one of the two sees the other.  The writer clears it when it
 * wakes the followers, so a follower that was killed costs one wake and no more.  rm(1) wakes no
 * follower: one that must learn of that has a deadline.
 */
int
flki_local_follow(struct flk *f, uint64_t number, const struct timespec *deadline)
{
	struct header *h = f->file.h;
	uint64_t until = flki_deadline_ns(deadline), events;
	int error = 0;

	while (error == 0 || error == -EAGAIN) {
		atomic_store(&h->followed, 1);
		events = atomic_load(&h->events);
		if (events > number)
			return 0;
		if (atomic_load(&h->dead))
			return -FLK_GONE;
		error = await_news(h, events, until);
	}
	return error;
}

void
flki_history_wake(struct header *h)
{
	if (atomic_load(&h->followed) != 0 && atomic_exchange(&h->followed, 0) != 0)
		flki_futex_wake_all(flki_futex_half(&h->events));
}
