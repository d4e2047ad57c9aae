/* SPDX-License-Identifier: ISC */
/*
 * permit.c - what the owner of a permit says of its work, for people, and what a permit is.
 *
 * The owner alone writes these words of its slot, while it holds the permit, and without the lock.
 */
#include "internal.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "exiting.h"

/* ---- its work ---- */

void
flki_note_start(struct slot *s, uint64_t after_ns, uint64_t before_ns)
{
	__atomic_store_n(&s->started_in, flki_pid_namespace(), __ATOMIC_RELAXED);
	__atomic_store_n(&s->started_after_ns, after_ns, __ATOMIC_RELAXED);
	__atomic_store_n(&s->started_before_ns, before_ns, __ATOMIC_RELAXED);
}

/*
 * A worker that was to keep the permit was started since the permit has its guard.  What a worker has
 * noted itself, in a child of vfork(2), says more exactly when, and stays.
 */
static void
note_worker(const struct flk_taker *t, pid_t pid)
{
	struct slot *s = taker_slot(t);
	bool keeps = t->guard_fd != -1;

	if (s->worker_pid == (uint32_t)pid)
		return;
	flki_note_start(s, keeps ? t->guarded_ns : 0, keeps ? flki_boottime_ns() : 0);
	__atomic_store_n(&s->worker_pid, (uint32_t)pid, __ATOMIC_RELAXED);
}

int
flki_local_working(struct flk_taker *t, pid_t pid)
{
	int error = check_held(t, 0);

	if (error == 0)
		note_worker(t, pid);
	return error;
}

/* Without a taker_is_strange(), which would be true in the child. */
void
flki_local_working_child(struct flk_taker *t)
{
	if (t->slot != NIL)
		note_worker(t, getpid());
}

int
flki_local_ended(struct flk_taker *t, int status)
{
	int error = check_held(t, 0);

	if (error == 0)
		taker_slot(t)->status = status;
	return error;
}

static uint32_t
at_most_32_bits(uint64_t n)
{
	return n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
}

int
flki_local_took(struct flk_taker *t, uint64_t memory, uint64_t cpu_ns)
{
	int error = check_held(t, 0);

	if (error == 0)
		taker_slot(t)->took = (struct took){ .peak_kib = at_most_32_bits(
							 memory / 1024 + (memory % 1024 != 0)),
						     .cpu_ms = at_most_32_bits(cpu_ns / MS) };
	return error;
}

/* ---- the limiter that the owner waits for before its work begins ---- */

#define WORDS (FLK_WAITS_FOR / sizeof(uint64_t))

int
flki_local_waits_for(struct flk_taker *t, const char *limiter)
{
	uint64_t words[WORDS] = { 0 };
	int error = check_held(t, 0);
	struct slot *s;
	size_t k;

	if (error != 0)
		return error;
	if (limiter != NULL)
		snprintf((char *)words, sizeof(words), "%s", limiter);
	s = taker_slot(t);
	for (k = 0; k < WORDS; k++)
		__atomic_store_n(&s->waits_for[k], words[k], __ATOMIC_RELAXED);
	return 0;
}

/* A copy that is made while the owner writes may be a part of one name and a part of another. */
void
flki_waits_for(const struct slot *s, char text[FLK_WAITS_FOR])
{
	uint64_t words[WORDS];
	size_t k;

	for (k = 0; k < WORDS; k++)
		words[k] = __atomic_load_n(&s->waits_for[k], __ATOMIC_RELAXED);
	memcpy(text, words, FLK_WAITS_FOR);
	text[FLK_WAITS_FOR - 1] = '\0';
}

/* ---- what it is ---- */

int
flki_local_permit(const struct flk_taker *t, struct flk_permit *permit)
{
	const struct slot *s;
	int error = check_held(t, 0);

	if (error != 0)
		return error;
	s = taker_slot(t);
	*permit = (struct flk_permit){ .ticket = s->ticket,
				       .weight = weight_of(s),
				       .limit = s->in_force,
				       .seat = s->seat,
				       .fence = s->fence };
	permit->seats = flki_seats_of_weight(__atomic_load_n(&s->seats, __ATOMIC_RELAXED), s->seat,
					     permit->weight);
	return 0;
}

uint32_t
flki_local_slot(const struct flk_taker *t)
{
	return t->slot;
}

/* The permit of a dead taker without a guard is over, even if no taker has reaped it yet. */
bool
flki_local_holds(struct flk *f, uint32_t slot, uint64_t ticket, struct flk_permit *permit)
{
	const struct slot *s;

	if (slot >= flki_file_slots(&f->file))
		return false;
	s = &f->file.slots[slot];
	/* The ticket first: the slot's last permit has ended when it is stored, so HELD is not of that. */
	if (__atomic_load_n(&s->ticket, __ATOMIC_ACQUIRE) != ticket || state_of(s) != HELD)
		return false;
	*permit = (struct flk_permit){ .ticket = ticket,
				       .weight = __atomic_load_n(&s->weight, __ATOMIC_RELAXED),
				       .limit = __atomic_load_n(&s->in_force, __ATOMIC_RELAXED),
				       .seat = __atomic_load_n(&s->seat, __ATOMIC_RELAXED),
				       .fence = __atomic_load_n(&s->fence, __ATOMIC_RELAXED),
				       .seats = __atomic_load_n(&s->seats, __ATOMIC_RELAXED) };
	permit->seats = flki_seats_of_weight(permit->seats, permit->seat, permit->weight);
	/*
	 * The copy is right if the slot has the same ticket after it.  Pairing: with the fence of
	 * flki_state_store_in_order(), behind which the next permit's words are written.
	 */
	atomic_thread_fence(memory_order_acquire);
	return (flki_alive_is(&s->alive) || flki_orphan_is(f, slot)) && state_of(s) == HELD &&
	       __atomic_load_n(&s->ticket, __ATOMIC_RELAXED) == ticket;
}
