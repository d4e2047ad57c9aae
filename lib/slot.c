/* SPDX-License-Identifier: ISC */
/*
 * slot.c - a slot of the taker's own: claiming it, and giving it back.
 */
#include "internal.h"

#include <unistd.h>

/* After so many owned slots in a row, it is cheaper to make more slots than to look at more. */
#define LONG_LOOK 64

/*
 * A slot that is FREE, IDLE or OUT concerns its owner alone; if that is dead, any taker may claim
 * it.
 */
static bool
claimable(const struct slot *s)
{
	uint32_t state = atomic_load(&s->state);

	return (state == FREE || state == IDLE || state == OUT) && !flki_alive_is(&s->alive);
}

static bool
claim(struct slot *s)
{
	if (!claimable(s) || !flki_alive_take(&s->alive))
		return false;
	/* Another taker may have claimed it since we looked, enqueued, and died. */
	switch (atomic_load(&s->state)) {
	case FREE:
	case IDLE:
	case OUT:
		break;
	default:
		flki_alive_drop(&s->alive);
		return false;
	}
	atomic_fetch_add(&s->gen, 1);
	atomic_store(&s->state, IDLE);
	s->pid = (uint32_t)getpid();
	s->uid = (uint32_t)getuid();
	s->orphan = 0;
	s->limit = 0; /* nothing is declared yet: the last owner's limit is not this taker's */
	s->command[0] = '\0';
	return true;
}

static uint32_t
find_slot(struct file *f, uint32_t n, uint32_t start, uint32_t looks)
{
	uint32_t k, i;

	for (k = 0; k < looks; k++) {
		i = (uint32_t)(((uint64_t)start + k) % n);
		if (claim(&f->slots[i])) {
			atomic_store(&f->h->hint, (i + 1) % n);
			return i;
		}
	}
	return NIL;
}

/*
 * Slots are freed in about the order in which they were claimed, so the search begins where the
 * last claim ended.  Takers that stay long leave stretches of owned slots, so it looks at eight
 * stretches.
 */
static uint32_t
find_soon(struct file *f, uint32_t n)
{
	uint32_t hint = atomic_load(&f->h->hint), stretch, i = NIL;

	if (n <= LONG_LOOK)
		return find_slot(f, n, hint, n);
	for (stretch = 0; stretch < 8 && i == NIL; stretch++)
		i = find_slot(f, n, hint + n / 8 * stretch, LONG_LOOK);
	return i;
}

int
flki_slot_claim(struct flk_taker *t)
{
	struct file *f = &t->flk->file;
	uint32_t n, slot;
	int error;

	if ((error = flki_alive_prepare()) != 0)
		return error;
	for (;;) {
		n = flki_file_slots(f);
		if (n == 0) {
			error = -FLK_DAMAGED;
			break;
		}
		slot = find_soon(f, n);
		if (slot == NIL && (error = flki_file_grow(f)) != 0) {
			n = flki_file_slots(f); /* another taker may have made more */
			slot = find_slot(f, n, 0, n);
			if (slot == NIL)
				break;
		}
		if (slot != NIL) {
			t->gen = atomic_load(&f->slots[slot].gen);
			t->thread = flki_robust_me();
			t->process = flki_robust_process();
			t->tid = flki_robust_tid();
			t->slot = slot;
			return 0;
		}
		atomic_store(&f->h->hint, n);
	}
	flki_alive_unprepare();
	return error;
}

void
flki_slot_drop(struct flk_taker *t)
{
	struct slot *s;
	bool ours;

	if (t->slot == NIL)
		return;
	s = taker_slot(t);
	ours = taker_has_slot(t);
	t->slot = NIL;
	/* A taker that could not leave the line stays WAITING, and is found dead there. */
	if (ours && (atomic_load(&s->state) == IDLE || atomic_load(&s->state) == OUT))
		atomic_store(&s->state, FREE);
	flki_alive_drop(&s->alive);
}

void
flki_slot_abandon(struct flk_taker *t)
{
	/* It is gone on purpose, so the history is to have a release, not a reaping. */
	if (t->slot != NIL && taker_has_slot(t) && atomic_load(&taker_slot(t)->state) == HELD)
		__atomic_store_n(&taker_slot(t)->role, FLK_CARRIED, __ATOMIC_RELAXED);
	flki_slot_drop(t);
}
