/* SPDX-License-Identifier: ISC */
/*
 * steer.c - operators and readers that are killed: one who takes others out of the line,
 * who removes, repairs, ends another's permit, reads the history or follows it.
 *
 * The cast have the slots of their roles, so one can be named by its slot.
 */
#include "killstep.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../helpers/common.h"
#include "../helpers/steer.h"

#include "own.h"

/* ---- deeds ---- */

static int
evict(struct part *p, enum role who)
{
	return flk_evict(p->f, p->f->file.slots[who].ticket);
}

static int
evict_second(struct part *p)
{
	return evict(p, SECOND);
}

static int
evict_third(struct part *p)
{
	return evict(p, THIRD);
}

static int
shrink_first(struct part *p)
{
	return flk_shrink(p->f, p->f->file.slots[FIRST].ticket, 1);
}

static int
evict_victim(struct part *p)
{
	return evict(p, VICTIM);
}

static int
remove_it(struct part *p)
{
	return flk_remove(p->f);
}

int
repair(struct part *p)
{
	static const struct flk_options damaged = { .existing = true, .damaged = true };
	int error = 0;

	if (p->f == NULL && (error = flk_attach(&p->f, p->path, &damaged)) == 0)
		error = flk_taker_new(&p->t, p->f);
	return error != 0 ? error : flk_repair(p->f);
}

static int
hear_that_it_is_gone(struct part *p)
{
	int error = try_one(p);

	return error == -FLK_GONE ? 0 : -EEXIST;
}

static int
read_history(struct part *p)
{
	static struct flk_event seen[FLK_HISTORY];

	return flk_history(p->f, 0, seen, FLK_HISTORY) > 0 ? 0 : -ENOENT;
}

static int
follow_the_past(struct part *p)
{
	return flk_follow(p->f, 0, NULL);
}

static int
follow(struct part *p)
{
	return flk_follow(p->f, atomic_load(&p->f->file.h->events), NULL);
}

static int
keep_all(struct part *p)
{
	static const struct flk_request all = { .weight = 2, .limit = 2, .role = FLK_KEEPER };

	return flk_acquire(p->t, &all, NULL);
}

/* As flocklimitctl release does, but that its keeper can't be another process by now. */
static int
end_keeper(struct part *p)
{
	struct flk_snapshot *s;
	int error = flk_snapshot(p->f, &s);

	if (error != 0)
		return error;
	if (s->holders != 1 || s->entry[0].role != FLK_KEEPER ||
	    kill((pid_t)s->entry[0].pid, SIGTERM) == -1)
		error = -ESRCH;
	free(s);
	return error;
}

/* Of which nothing has to wait, so no clock has a say. */
static int
set_pace(struct part *p)
{
	static const struct flk_pace fast = { .interval_ns = 1,
					      .burst = 65535,
					      .ramp_from = 65535,
					      .ramp_step = 1,
					      .ramp_period_ns = 1000000 };

	return steer_pace(p->f, &fast, FLK_SET_RATE | FLK_SET_STAGGER | FLK_SET_RAMP);
}

static int
set_stagger(struct part *p)
{
	static const struct flk_pace slow = { .stagger_ns = 8000000 };

	return steer_pace(p->f, &slow, FLK_SET_STAGGER);
}

static int
guard_by(struct part *p)
{
	int fd = flk_guard_open(p->f);

	return fd < 0 ? fd : flk_guard_by(p->t, fd);
}

/* The permit ends with the victim, or with its descriptor. */
static int
lend(struct part *p)
{
	int fd = open(flk_path(p->f), O_RDONLY | O_CLOEXEC);
	int error = flk_entrust_to(p->t, fd, getpid());

	close(fd);
	return error;
}

static int
lend_and_take_back(struct part *p)
{
	int fd = open(flk_path(p->f), O_RDONLY | O_CLOEXEC);
	int error = flk_entrust_to(p->t, fd, getpid());

	if (error == 0)
		error = flk_take_back(p->f, fd);
	close(fd);
	return error;
}

/* The victim is its own command, as after an exec: whoever reaps it looks whether it is gone. */
static int
name_worker_and_release(struct part *p)
{
	flki_working_child(p->t);
	return flk_release(p->t);
}

static int
wait_elsewhere_and_release(struct part *p)
{
	int error = flk_waits_for(p->t, "a limiter of another name");

	return error != 0 ? error : flk_release(p->t);
}

static int
tell_status_and_release(struct part *p)
{
	int error = flk_ended(p->t, 0x100);

	if (error == 0)
		error = flk_took(p->t, 1 << 20, 1000000000);
	return error != 0 ? error : flk_release(p->t);
}

/* A look that needs few instructions, and always the same; and one that lets nothing start. */
static int
set_gate(struct part *p)
{
	static const struct flk_gate open = { .when = "disk:/tmp>1", .patience_ns = UINT64_MAX };

	return steer_gate(p->f, &open);
}

static int
set_shut_gate(struct part *p)
{
	static const struct flk_gate shut = { .when = "disk:/>1000000T",
					      .patience_ns = UINT64_MAX };

	return steer_gate(p->f, &shut);
}

int
lift_gate(struct part *p)
{
	static const struct flk_gate none = { .when = "" };

	return steer_gate(p->f, &none);
}

/* ---- what the others do ---- */

static void
gated(struct stage *s)
{
	act(s, STEWARD, set_gate);
}

static void
shut_two_wait(struct stage *s)
{
	act(s, STEWARD, set_shut_gate);
	act(s, SECOND, take_one);
	act(s, THIRD, take_one);
}

static void
shut_two_behind(struct stage *s)
{
	act(s, STEWARD, set_shut_gate);
	two_behind(s);
}

static void
first_has_one(struct stage *s)
{
	act(s, FIRST, take_one);
}

/* One of the two seats is out of use, and the other is held. */
static void
seat_is_out(struct stage *s)
{
	act(s, STEWARD, take_seat_out);
	act(s, FIRST, take_one);
}

/* The head waits for both seats. */
static void
seat_two_behind(struct stage *s)
{
	act(s, SECOND, take_all);
	act(s, THIRD, take_one);
}

/* The head needs all of it; who is behind would fit. */
static void
big_head(struct stage *s)
{
	act(s, FIRST, take_one);
	act(s, SECOND, take_all);
	act(s, THIRD, take_one);
	act(s, FOURTH, take_one);
}

static void
three_wait(struct stage *s)
{
	first_holds(s);
	act(s, SECOND, take_one);
	act(s, THIRD, take_all);
	act(s, FOURTH, take_one);
}

/* When whom it evicted knows that already, and no longer looks after those it watched. */
static void
second_dies_later(struct stage *s)
{
	stage_settle(s, 0);
	second_dies(s);
}

static void
paced(struct stage *s)
{
	act(s, STEWARD, set_pace);
}

static void
paced_first_holds(struct stage *s)
{
	paced(s);
	first_holds_second_waits(s);
}

/* The next has to wait for its time. */
static void
staggered(struct stage *s)
{
	act(s, STEWARD, set_stagger);
	act(s, FIRST, take_one);
}

/* Those who come after the dead have no clock. */
static void
no_longer_staggered(struct stage *s)
{
	act(s, STEWARD, set_pace);
}

static void
third_comes(struct stage *s)
{
	act(s, THIRD, take_one);
}

static void
steward_evicts_victim(struct stage *s)
{
	act(s, STEWARD, evict_victim);
}

/* It sleeps, or does not run, and does not know it. */
static void
evicted_unawares(struct stage *s)
{
	two_behind(s);
	steward_evicts_victim(s);
}

static void
first_keeps(struct stage *s)
{
	act(s, FIRST, keep_all);
}

/* And by the time that it runs there is nothing left to wait for. */
static void
evicted_and_removed_unawares(struct stage *s)
{
	steward_evicts_victim(s);
	act(s, FIRST, release);
	act(s, STEWARD, remove_it);
}

static void
first_and_second_die(struct stage *s)
{
	slay(s, FIRST);
	slay(s, SECOND);
}

static void
first_follows(struct stage *s)
{
	s->heard = atomic_load(&s->eye->file.h->events);
	act(s, FIRST, follow);
}

static void
followed_line(struct stage *s)
{
	act(s, SECOND, take_one);
	act(s, THIRD, take_all);
	first_follows(s);
}

/* Who inherits the lock from it has something to tell, and nobody waits who would come next. */
static void
fourth_dies_inside_followed(struct stage *s)
{
	act(s, SECOND, take_all);
	first_follows(s);
	act(s, FOURTH, break_index);
	slay(s, FOURTH);
}

/* ---- removed ---- */

/* Whoever knew the old one hears so, and then everybody comes to the new one. */
static void
gone_or_as_before(struct stage *s)
{
	uint64_t birth = flk_identity(s->eye);
	int who;

	if (atomic_load(&s->eye->file.h->dead) == 0)
		return;
	act(s, THIRD, hear_that_it_is_gone);
	for (who = 0; who < CAST; who++)
		slay(s, (enum role)who);
	flk_detach(s->eye);
	s->eye = NULL;
	s->ticket = 0;
	newcomer_finds_it_whole(s);
	if (!s->failed && (flk_verify(s->eye) != 0 || flk_identity(s->eye) == birth))
		stage_fail(s, "a newcomer is left behind in a limiter that is gone");
}

static void
dead_one(struct stage *s)
{
	struct flk *f = attach(s->path);

	atomic_store(&f->file.h->dead, 1);
	flk_detach(f);
}

/* One who was killed between the mark and the unlink; and then others need it. */
static void
another_in_its_place(struct stage *s)
{
	uint64_t birth = flk_identity(s->eye);

	atomic_store(&s->eye->file.h->dead, 1);
	act(s, FOURTH, be_made);
	flk_detach(s->eye);
	s->eye = attach(s->path);
	s->ticket = 0;
	if (!s->failed && flk_identity(s->eye) == birth)
		stage_fail(s, "nobody took the dead one's name away");
}

/* That one is not the late one's to remove. */
static void
another_stays(struct stage *s)
{
	int who;

	for (who = 0; who < CAST; who++)
		slay(s, (enum role)who);
	newcomer_finds_it_whole(s);
	if (!s->failed && flk_verify(s->eye) != 0)
		stage_fail(s, "another limiter was removed");
}

/* ---- damaged ---- */

/* Two of one ticket, a seat that can't be, an index of nonsense; the holder's weight is right. */
static void
damage(struct stage *s)
{
	struct header *h = s->eye->file.h;
	struct slot *slots = s->eye->file.slots;

	three_wait(s);
	slots[FIRST].seat = 4000000;
	slots[THIRD].ticket = slots[SECOND].ticket;
	slots[FOURTH].weight = 0;
	h->waiting = h->holders = (struct list){ 77, 3, 1 };
	h->used = 99;
	atomic_store(&h->damaged, 1);
}

static void
steward_repairs(struct stage *s)
{
	act(s, STEWARD, repair);
	if (!s->failed && atomic_load(&s->eye->file.h->damaged) != 0)
		stage_fail(s, "it stays damaged");
}

/* ---- read ---- */

static unsigned char before[HEADER + FIRST_SLOTS * sizeof(struct slot)];

static void
copy_file(const struct stage *s, unsigned char *to)
{
	memcpy(to, s->eye->file.h, HEADER);
	memset(to + offsetof(struct header, followed), 0, sizeof(uint32_t));
	memcpy(to + HEADER, s->eye->file.slots, FIRST_SLOTS * sizeof(struct slot));
}

static void
remembered_line(struct stage *s)
{
	first_holds(s);
	two_behind(s);
	copy_file(s, before);
}

static uint64_t
events_in(const unsigned char *copy)
{
	uint64_t n;

	memcpy(&n, copy + offsetof(struct header, events), sizeof(n));
	return n;
}

/* But the mark that somebody follows, which is gone with the next event. */
static void
nothing_is_left(struct stage *s)
{
	static unsigned char now[sizeof(before)];

	copy_file(s, now);
	/* Where others went on, that tells nothing. */
	if (events_in(now) == events_in(before) && memcmp(before, now, sizeof(now)) != 0)
		stage_fail(s, "a reader has left something behind");
}

/* ---- the table ---- */

const struct operation operator_operations[] = {
	{ "evict the head", "flk_evict", big_head, NULL, NULL, evict_second, NULL, 0, NULL, 0 },
	{ "evict from the middle", "flk_evict", three_wait, NULL, NULL, evict_third, NULL, 0, NULL,
	  0 },
	{ "evict, and the one before it dies", "flk_evict", three_wait, NULL, NULL, evict_third,
	  NULL, 0, second_dies_later, 0 },
	{ "evict one just granted", "flk_evict", first_holds_second_waits, NULL, first_releases,
	  evict_second, NULL, -FLK_NOPERMIT, NULL, 0 },
	{ "evict one who is dead", "flk_evict", big_head, NULL, second_dies, evict_second, NULL, 0,
	  NULL, 0 },
	{ "take a seat out of use", "flk_set", first_has_one, NULL, seat_two_behind, take_seat_out,
	  NULL, 0, NULL, 0 },
	{ "take a seat out that is held", "flk_set", first_holds, NULL, two_behind, take_seat_out,
	  NULL, 0, NULL, 0 },
	{ "put a seat back", "flk_set", seat_is_out, NULL, seat_two_behind, put_seat_back, NULL, 0,
	  NULL, 0 },
	{ "shrink", "flk_shrink", first_holds, NULL, two_behind, shrink_first, NULL, 0, NULL, 0 },
	{ "be evicted", "flk_evict flk_wait", first_holds_second_waits, line_up_for_all,
	  third_comes, wait_on, steward_evicts_victim, -FLK_EVICTED, NULL, 0 },
	{ "be evicted unawares", "flk_evict flk_wait", first_holds, line_up_for_all,
	  evicted_unawares, wait_on, NULL, -FLK_EVICTED, NULL, 0 },
	{ "be evicted, and it is removed", "flk_evict flk_remove flk_wait", first_holds,
	  line_up_for_all, evicted_and_removed_unawares, wait_on, NULL, -FLK_EVICTED,
	  gone_or_as_before, NEW_FILE },
	{ "leave when evicted", "flk_evict flk_leave", first_holds, line_up_for_all,
	  evicted_unawares, leave, NULL, 0, NULL, 0 },
	{ "remove", "flk_remove", NULL, NULL, NULL, remove_it, NULL, 0, gone_or_as_before,
	  NEW_FILE },
	{ "remove what the dead left", "flk_remove", first_holds_second_waits, NULL,
	  first_and_second_die, remove_it, NULL, 0, gone_or_as_before, NEW_FILE },
	{ "remove what is used", "flk_remove", first_holds, NULL, two_behind, remove_it, NULL,
	  -FLK_BUSY, NULL, 0 },
	{ "remove, and another has its name", "flk_remove", NULL, NULL, another_in_its_place,
	  remove_it, NULL, 0, another_stays, NEW_FILE },
	{ "come to what was removed", "flk_attach", dead_one, NULL, NULL, be_made, NULL, 0,
	  newcomer_finds_it_whole, RAW | NO_FILE },
	{ "repair what is damaged", "flk_repair", NULL, NULL, damage, repair, NULL, 0,
	  steward_repairs, 0 },
	{ "repair what is whole", "flk_repair", first_holds, NULL, two_behind, repair, NULL, 0,
	  NULL, 0 },
	{ "read the history", "flk_history", NULL, NULL, remembered_line, read_history, NULL, 0,
	  nothing_is_left, 0 },
	{ "follow what has happened", "flk_follow", NULL, NULL, remembered_line, follow_the_past,
	  NULL, 0, nothing_is_left, 0 },
	{ "follow", "flk_follow", NULL, NULL, remembered_line, follow, first_releases, 0,
	  nothing_is_left, 0 },
	{ "release, followed", "flk_release", NULL, take_all, followed_line, release, NULL, 0, NULL,
	  0 },
	{ "check what the dead left, followed", "flk_check", NULL, NULL,
	  fourth_dies_inside_followed, check_it, NULL, 0, NULL, 0 },
	{ "make room for the history", "flk_acquire", history_runs_short, NULL, NULL, take_one,
	  NULL, 0, newcomer_finds_it_whole, NEW_FILE },
	{ "release a keeper's permit", "flk_snapshot", first_keeps, NULL, two_behind, end_keeper,
	  NULL, 0, NULL, 0 },
	{ "tell a status and release", "flk_ended flk_took flk_release", NULL, take_all, two_behind,
	  tell_status_and_release, NULL, 0, NULL, 0 },
	{ "say what it waits for and release", "flk_waits_for flk_release", NULL, take_all,
	  two_behind, wait_elsewhere_and_release, NULL, 0, NULL, 0 },
	{ "name a worker and release", "flki_working_child flk_release", NULL, take_all, two_behind,
	  name_worker_and_release, NULL, 0, NULL, 0 },
	{ "name a worker with a guard and release", "flki_working_child flk_release", NULL,
	  take_all_guarded, two_behind, name_worker_and_release, NULL, 0, NULL, 0 },
	{ "set a gate", "flk_set", first_holds, NULL, two_behind, set_shut_gate, NULL, 0, NULL, 0 },
	{ "lift a gate", "flk_set", shut_two_wait, NULL, NULL, lift_gate, NULL, 0, NULL, 0 },
	{ "acquire through a gate", "flk_acquire", gated, NULL, NULL, take_all, NULL, 0, NULL, 0 },
	{ "release behind a gate", "flk_release", NULL, take_all, shut_two_behind, release, NULL, 0,
	  NULL, 0 },
	{ "set a pace", "flk_set", first_holds, NULL, two_behind, set_pace, NULL, 0, NULL, 0 },
	{ "acquire under a pace", "flk_acquire", paced, NULL, NULL, take_all, NULL, 0, NULL, 0 },
	{ "release under a pace", "flk_release", paced, take_all, two_behind, release, NULL, 0,
	  NULL, 0 },
	{ "be granted under a pace", "flk_wait", paced_first_holds, line_up_for_one, third_comes,
	  wait_on, first_releases, 0, NULL, 0 },
	{ "wait for its time", "flk_acquire flk_wait", staggered, NULL, NULL, take_one, NULL, 0,
	  no_longer_staggered, SLEEPS_ON },
	{ "guard by another descriptor", "flk_guard_by flk_guard_open", NULL, take_all, two_behind,
	  guard_by, NULL, 0, NULL, 0 },
	{ "entrust to a descriptor", "flk_entrust_to", NULL, take_all, two_behind, lend, NULL, 0,
	  NULL, 0 },
	{ "take back from a descriptor", "flk_entrust_to flk_take_back", NULL, take_all, two_behind,
	  lend_and_take_back, NULL, 0, NULL, 0 },
};

const unsigned operator_operations_count =
    sizeof(operator_operations) / sizeof(operator_operations[0]);
