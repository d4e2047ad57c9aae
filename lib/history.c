/* SPDX-License-Identifier: ISC */
/*
 * history.c - the events that record.c has written are read and followed, without the lock.
 *
 * Event n is in entry n % EVENTS from the moment that `events' is n + 1 until it is n + EVENTS, when
 * a writer may have begun to write over it.  So a copy is good if `events' is below n + EVENTS after
 * the copy was made.
 */
#include "internal.h"

#include <errno.h>
#include <string.h>

#include "clock.h"
#include "futex.h"

#define RELOOK_NS SECOND /* of a follower, where the kernel has no futex_waitv */

union event_words {
	struct event event;
	uint64_t word[EVENT_WORDS];
};

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

/*
 * What a FLK_EV_QUEUED of a taker that excludes seats, and a FLK_EV_GREW of one that has a set of them,
 * has in other places than the others.
 */
static void
copy_beside_limit(const struct event *from, struct flk_event *e)
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

	for (k = 0; k < EVENT_WORDS; k++)
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
	else if ((KIND(e->kind) == FLK_EV_QUEUED || KIND(e->kind) == FLK_EV_GREW) &&
		 SEAT(e->kind) != 0)
		copy_beside_limit(&to.event, e);
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
