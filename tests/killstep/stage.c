/* SPDX-License-Identifier: ISC */
/*
 * stage.c - what those do who are not killed.
 */
#include "killstep.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../helpers/common.h"

#define IMAGE_SLOTS (FIRST_SLOTS * sizeof(struct slot))
#define ROUNDS      200 /* more than that to come to rest is no rest */

const char *const stage_roles[CAST] = { "the first",  "the second",  "the third",
					"the fourth", "the steward", "the victim" };

void
stage_fail(struct stage *s, const char *words, ...)
{
	va_list args;

	if (s->failed)
		return;
	s->failed = true;
	va_start(args, words);
	vsnprintf(s->why, sizeof(s->why), words, args);
	va_end(args);
}

/* ---- acts ---- */

/* What one who took a step of its own accord must now be able to say of itself. */
static void
hear(struct stage *s, enum role who)
{
	struct actor *a = &s->cast[who];

	if (a->crash != 0)
		stage_fail(s, "%s ended by signal %d", stage_roles[who], a->crash);
	a->crash = 0;
	if (a->where != AT_DESK)
		return;
	if (a->desk->code != 0 && a->desk->code != -FLK_CLOSED && a->desk->code != -EINPROGRESS &&
	    a->desk->code != -FLK_CANCELLED && a->desk->code != -FLK_EVICTED)
		stage_fail(s, "%s was told: %s", stage_roles[who], flk_strerror(a->desk->code));
	if (a->desk->held != 0 && a->desk->ticket > s->ticket)
		s->ticket = a->desk->ticket;
}

void
act(struct stage *s, enum role who, deed *what)
{
	struct actor *a = &s->cast[who];

	if (s->failed)
		return;
	if (a->where == NOT_THERE) {
		actor_start(a, s->path);
		a->extra = true;
		actor_do_at_once(a, come);
	}
	if (a->where != AT_DESK) {
		stage_fail(s, "%s is not free to act", stage_roles[who]);
		return;
	}
	actor_do(a, what);
	hear(s, who);
}

void
slay(struct stage *s, enum role who)
{
	actor_kill(&s->cast[who]);
}

void
stage_look_around(struct stage *s)
{
	int i;

	for (i = 0; i < CAST; i++)
		actor_refresh(&s->cast[i]);
}

void
stage_settle(struct stage *s, unsigned style)
{
	int i, who, rounds = 0;
	bool any = true;

	while (any && !s->failed) {
		any = false;
		stage_look_around(s);
		for (i = 0; i < CAST; i++) {
			who = style & BACKWARD ? CAST - 1 - i : i;
			if (s->cast[who].where != WOKEN)
				continue;
			any = true;
			actor_run(&s->cast[who]);
			hear(s, (enum role)who);
		}
		if (++rounds > ROUNDS)
			stage_fail(s, "they never come to rest");
	}
}

/* ---- the rest of the queue ---- */

static int
oldest_holder(const struct stage *s)
{
	int who, best = -1;

	for (who = 0; who < CAST; who++)
		if (s->cast[who].where == AT_DESK && s->cast[who].desk->held > 0 &&
		    (best == -1 || s->cast[who].desk->ticket < s->cast[best].desk->ticket))
			best = who;
	return best;
}

static bool
somebody_sleeps(const struct stage *s)
{
	int who;

	for (who = 0; who < CAST; who++)
		if (s->cast[who].where == ASLEEP && !actor_follows(&s->cast[who]))
			return true;
	return false;
}

/* Takes back what is in the way of those who wait; false if nothing is. */
static bool
unblock(struct stage *s)
{
	const struct header *h = s->eye->file.h;

	if (h->paused)
		act(s, STEWARD, resume);
	else if (h->override >= 0)
		act(s, STEWARD, lift_override);
	else if (stage_withheld(s) > 0)
		act(s, STEWARD, restore_all);
	else if (h->closed)
		act(s, STEWARD, admit);
	else if (flki_gate_is_set(h))
		act(s, STEWARD, lift_gate);
	else if (h->seats_off != 0)
		act(s, STEWARD, put_seat_back);
	else
		return false;
	return true;
}

static void
check_end(struct stage *s)
{
	const struct header *h = s->eye->file.h;
	uint32_t i, state, n = stage_slots(s);
	uint64_t before = s->ticket;

	act(s, STEWARD, take_all);
	if (!s->failed && s->cast[STEWARD].desk->held != 2)
		stage_fail(s, "a newcomer does not get everything");
	if (!s->failed && s->cast[STEWARD].desk->ticket <= before)
		stage_fail(s, "a ticket was drawn twice");
	act(s, STEWARD, check_it);
	act(s, STEWARD, release);
	stage_settle(s, 0);
	stage_check(s);
	for (i = 0; i < n && !s->failed; i++) {
		state = atomic_load(&s->eye->file.slots[i].state);
		if (state == HELD || state == WAITING)
			stage_fail(s, "slot %u is left in state %u", i, state);
	}
	if (!s->failed &&
	    (h->used != 0 || h->withheld != 0 || h->lock != 0 || h->damaged || h->doubted))
		stage_fail(
		    s, "at the end: %llu used, %llu withheld, lock %llx, damaged %u, doubted %u",
		    (unsigned long long)h->used, (unsigned long long)h->withheld,
		    (unsigned long long)h->lock, h->damaged, h->doubted);
}

void
stage_drain(struct stage *s, unsigned style)
{
	int who, turns;

	for (turns = 0; turns < 4 * CAST && !s->failed; turns++) {
		stage_settle(s, style);
		stage_check(s);
		if (s->failed)
			return;
		if ((who = oldest_holder(s)) != -1) {
			if (style & BY_DEATH)
				slay(s, (enum role)who);
			else
				act(s, (enum role)who, release);
		} else if (!unblock(s)) {
			break;
		}
	}
	if (somebody_sleeps(s))
		stage_fail(s, "somebody is left behind");
	if (s->eye != NULL) /* or the victim made no file, as it should have */
		check_end(s);
}

/* ---- the same stage for each round ---- */

/*
 * The file as it is when everybody has a slot and nothing else.  It is put back before each
 * round, so every round begins with the same tickets, slots and generations.
 */
static void
save_image(struct stage *s)
{
	memcpy(s->image, s->eye->file.h, HEADER);
	memcpy((char *)s->image + HEADER, s->eye->file.slots, IMAGE_SLOTS);
}

static void
hire(struct stage *s, enum role who)
{
	struct header *h = s->eye->file.h;

	memset(&s->eye->file.slots[who], 0, sizeof(struct slot));
	atomic_store(&h->hint, (uint32_t)who);
	actor_start(&s->cast[who], s->path);
	actor_do_at_once(&s->cast[who], come);
	actor_do_at_once(&s->cast[who], idle);
	if (s->cast[who].where != AT_DESK || s->cast[who].desk->code != 0)
		tap_bail("an actor can't come: %s", flk_strerror(s->cast[who].desk->code));
	atomic_store(&h->hint, VICTIM);
}

static void
new_file(struct stage *s)
{
	struct flk_options options = { .limit = 2 };
	int error;

	strcpy(s->path, fresh_path());
	if ((error = flk_attach(&s->eye, s->path, &options)) != 0)
		tap_bail("flk_attach: %s", flk_strerror(error));
}

static void
dismiss(struct stage *s)
{
	int who;

	for (who = 0; who < CAST; who++)
		actor_kill(&s->cast[who]);
	if (s->eye != NULL)
		flk_detach(s->eye);
	s->eye = NULL;
	unlink(s->path);
}

void
stage_open(struct stage *s, const struct operation *op)
{
	bool was_failed = s->failed;
	int who;

	s->op = op;
	s->failed = false;
	s->why[0] = '\0';
	s->most = 2;
	s->ticket = 0;
	s->told = 0;
	s->round++;
	if (s->image == NULL && (s->image = malloc(HEADER + IMAGE_SLOTS)) == NULL)
		tap_bail("memory");
	if (was_failed || (op->flags & NEW_FILE) != 0)
		dismiss(s);
	if (op->flags & NO_FILE) {
		dismiss(s);
		strcpy(s->path, fresh_path());
		return;
	}
	if (s->eye == NULL) {
		new_file(s);
		save_image(s);
	}
	memcpy(s->eye->file.h, s->image, HEADER);
	memcpy(s->eye->file.slots, (char *)s->image + HEADER, IMAGE_SLOTS);
	for (who = 0; who <= STEWARD; who++)
		if (s->cast[who].where == NOT_THERE)
			hire(s, (enum role)who);
	save_image(s);
	s->ticket = s->eye->file.h->last_ticket;
}

/*
 * The next round needs idle actors.  An actor that was interrupted may look idle, but if its grant
 * came first, the interrupt ends its next wait, which is in the next round.
 */
static bool
is_as_new(const struct actor *a)
{
	return a->where == AT_DESK && a->desk->held == 0 && !a->extra && !a->dirty;
}

void
stage_close(struct stage *s)
{
	int who;

	actor_kill(&s->cast[VICTIM]);
	for (who = 0; who < CAST; who++)
		if (!is_as_new(&s->cast[who]))
			actor_kill(&s->cast[who]);
	if (s->op->flags & NEW_FILE)
		dismiss(s);
}
