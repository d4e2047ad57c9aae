/* SPDX-License-Identifier: ISC */
/*
 * pidns.c - takers in PID namespaces of their own, as containers have them: each is process 1,
 * and they share one limiter.  The killing is done from outside.
 */
#include "../helpers/common.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/syscall.h>

#include "internal.h"

static int home; /* the namespace of the test itself */

/* An agent that is process 1. */
static struct agent
start_inside(const char *path)
{
	struct agent a;

	if (unshare(CLONE_NEWPID) == -1)
		tap_skip_all("no PID namespaces here");
	a = agent_start(path);
	if (setns(home, CLONE_NEWPID) == -1)
		tap_bail("setns");
	return a;
}

static const struct order take_one = { .kind = ACQUIRE, .limit = 1, .ms = -1 };
static const struct order release = { .kind = RELEASE };

/* Four that are all process 1: a holder and three who wait. */
static void
line_up(struct agent *a, struct flk *f)
{
	int i;

	for (i = 0; i < 4; i++) {
		a[i] = start_inside(flk_path(f));
		agent_tell(&a[i], take_one);
		if (!stands(f, 1, i))
			tap_bail("it does not come");
	}
	is(agent_hear(&a[0]).code, 0, "one holds");
}

static void
test_kill_holder(void)
{
	struct flk *f = fresh(1);
	struct agent a[4];
	struct flk_snapshot *s;
	uint64_t start;
	int i;

	line_up(a, f);
	is(flk_snapshot(f, &s), 0, "as they see themselves");
	for (i = 0; i < 4; i++)
		is(s->entry[i].pid, 1, "each is process 1");
	free(s);
	start = now_ns();
	agent_kill(&a[0], SIGKILL);
	is(agent_hear(&a[1]).code, 0, "the holder is killed: the next runs");
	tap_note("after %.0f us", (double)(now_ns() - start) / 1e3);
	ok(!agent_answered(&a[2], 0), "and nobody else");
	agent_kill(&a[2], SIGKILL);
	is(units_used(f), 1, "one who waits is killed, which frees nothing");
	is(agent_do(&a[1], release).code, 0, "the holder releases");
	is(agent_hear(&a[3]).code, 0, "and the one behind the dead runs");
	agent_stop(&a[1]);
	is(units_used(f), 1, "one that ends without a permit takes none along");
	agent_stop(&a[3]);
	whole(f, "after process 1 was killed");
	flk_detach(f);
}

static void
test_kill_many(void)
{
	struct flk *f = fresh(1);
	struct agent a[4];

	line_up(a, f);
	agent_kill(&a[1], SIGKILL);
	agent_kill(&a[0], SIGKILL);
	agent_kill(&a[2], SIGKILL);
	is(agent_hear(&a[3]).code, 0, "all but the last are killed: that runs");
	is(agent_do(&a[3], release).code, 0, "and releases");
	agent_stop(&a[3]);
	whole(f, "after all but one were killed");
	flk_detach(f);
}

/* Two who come and go while a third is killed over and over: nobody is ever taken for another. */
static void
test_storm(int kills)
{
	struct flk *f = fresh(2);
	struct agent a[3];
	struct order take = { .kind = ACQUIRE, .weight = 2, .limit = 2, .ms = -1 };
	int i, wrong = 0;

	for (i = 0; i < 3; i++)
		a[i] = start_inside(flk_path(f));
	for (i = 0; i < kills; i++) {
		wrong += agent_do(&a[0], take).code != 0;
		agent_tell(&a[2], take);
		agent_tell(&a[1], take);
		if (random_below(2) == 0)
			wrong += !stands(f, 1, 2);
		wrong += units_used(f) != 2;
		wrong += agent_answered(&a[1], 0);
		agent_kill(&a[2], SIGKILL);
		wrong += units_used(f) != 2;
		wrong += agent_do(&a[0], release).code != 0;
		wrong += agent_hear(&a[1]).code != 0;
		wrong += agent_do(&a[1], release).code != 0;
		a[2] = start_inside(flk_path(f));
	}
	is(wrong, 0, "one of three is killed %d times: the others never notice", kills);
	for (i = 0; i < 3; i++)
		agent_stop(&a[i]);
	whole(f, "after a storm");
	flk_detach(f);
}

/* ---- one thread id in two namespaces: the kernel marks a living taker as dead ---- */

static const struct flk_request all_of_it = { .weight = 1, .limit = 1 };

/* The kernel's view of a thread's robust list. */
struct robust {
	uintptr_t first;
	intptr_t futex_offset;
	uintptr_t pending;
};

/* A process 1 in a namespace of its own; 0 in the child. */
static pid_t
fork_inside(void)
{
	pid_t pid;

	if (unshare(CLONE_NEWPID) == -1)
		tap_bail("unshare");
	pid = fork_child();
	if (pid != 0 && setns(home, CLONE_NEWPID) == -1)
		tap_bail("setns");
	return pid;
}

/* It ends just as it is about to claim that slot, for all that the kernel knows. */
static void
die_claiming(struct flk *f, uint32_t slot)
{
	pid_t pid = fork_inside();

	if (pid == 0) {
		static struct robust list;
		list.first = (uintptr_t)&list;
		list.futex_offset =
		    (intptr_t)offsetof(struct alive, word) - (intptr_t)offsetof(struct alive, NEXT);
		list.pending = (uintptr_t)&f->file.slots[slot].alive.NEXT;
		_exit(syscall(SYS_set_robust_list, &list, sizeof(list)) == -1);
	}
	is(reap_child(pid), 0, "its namesake dies");
	ok(!flki_alive_is(&f->file.slots[slot].alive), "and the kernel takes it for dead, too");
}

enum deed { LOOKS, GRANTS, RUINS };

struct ghost {
	pid_t pid;
	int to, from;
};

static int
hear(const struct ghost *g)
{
	int code = 12345;

	if (read(g->from, &code, sizeof(code)) != sizeof(code))
		tap_bail("nothing is heard of it");
	return code;
}

static void
say(int fd, int code)
{
	if (write(fd, &code, sizeof(code)) != sizeof(code))
		_exit(1);
}

/*
 * A process 1 that goes into the lock and stays there until it is told to leave.  Before it does, it
 * takes a permit, or ruins the index as two at once may.  It says what flki_quit() returned,
 * and its next call.
 */
static struct ghost
start_ghost(struct flk *f, enum deed deed)
{
	int to[2], from[2], code;
	struct ghost g;

	if (pipe2(to, O_CLOEXEC) == -1 || pipe2(from, O_CLOEXEC) == -1)
		tap_bail("pipe2");
	g = (struct ghost){ .pid = fork_inside(), .to = to[1], .from = from[0] };
	if (g.pid == 0) {
		struct flk *own = attach(flk_path(f));
		struct flk_taker *t = taker(own);
		struct state st;
		close(to[1]);
		if (flki_enter(t, &st) != 0)
			_exit(1);
		say(from[1], (int)flk_slot(t));
		if (read(to[0], &code, sizeof(code)) != sizeof(code))
			_exit(1);
		if (deed == GRANTS) {
			taker_slot(t)->least = taker_slot(t)->limit = 1;
			flki_state_enqueue(&st, flk_slot(t), TAKER, NULL);
		} else if (deed == RUINS) {
			st.h->used = 7;
			st.h->waiting = (struct list){ NIL, NIL, 0 };
		}
		say(from[1], flki_quit(t, &st));
		say(from[1], flk_try(t, &all_of_it));
		flk_taker_free(t);
		_exit(0);
	}
	close(to[0]);
	close(from[1]);
	return g;
}

static void
end_ghost(struct ghost *g)
{
	is(reap_child(g->pid), 0, "and ends");
	close(g->to);
	close(g->from);
}

static void
test_namesake(enum deed deed)
{
	struct flk *f = fresh(1);
	struct header *h = f->file.h;
	struct flk_taker *heir = taker(f), *next = taker(f);
	struct ghost g = start_ghost(f, deed);
	struct agent waits = agent_start(flk_path(f));
	uint32_t slot = (uint32_t)hear(&g);
	uint64_t before, lock;
	struct state st;

	is(flki_lock_owner(h), slot, "a process 1 is inside");
	die_claiming(f, slot);
	is(flki_enter(heir, &st), 0, "another inherits the lock");
	is(flki_lock_owner(h), flk_slot(heir), "and is inside");
	lock = atomic_load(&h->lock);
	say(g.to, 0);
	is(hear(&g), -FLK_MISTAKEN, "the first leaves, and hears of it");
	is(atomic_load(&h->lock), lock, "the lock is the second's still");
	is(hear(&g), -FLK_STRANGER, "the first can do nothing more");
	end_ghost(&g);
	is(flki_lock_owner(h), flk_slot(heir), "nor has its end let anybody in");
	is(flki_quit(heir, &st), 0, "the second leaves");
	before = h->repaired;
	is(flk_try(next, &all_of_it), 0, "the next is let in, and served");
	is(h->repaired, before + 1, "after it has made the index anew");
	agent_tell(&waits, take_one);
	ok(stands(f, 1, 1), "another waits");
	is(flk_release(next), 0, "it releases");
	is(agent_hear(&waits).code, 0, "the other runs");
	is(h->repaired, before + 1, "and nobody doubts any more");
	is(agent_do(&waits, release).code, 0, "it releases, too");
	agent_stop(&waits);
	flk_taker_free(next);
	flk_taker_free(heir);
	whole(f, deed == GRANTS ? "after two were inside, and one took a permit"
				: "after two were inside");
	flk_detach(f);
}

/* The first leaves with a taker in the line, and nobody comes to see to it but that. */
static void
test_namesake_and_waiter(void)
{
	struct flk *f = fresh(1);
	struct header *h = f->file.h;
	struct agent holds = agent_start(flk_path(f)), waits = agent_start(flk_path(f));
	struct flk_taker *heir = taker(f);
	uint64_t before;
	struct state st;
	struct ghost g;
	uint32_t slot;
	int ms;

	is(agent_do(&holds, take_one).code, 0, "one holds");
	agent_tell(&waits, take_one);
	ok(stands(f, 1, 1), "and one waits");
	g = start_ghost(f, RUINS);
	slot = (uint32_t)hear(&g);
	die_claiming(f, slot);
	is(flki_enter(heir, &st), 0, "another inherits the lock of a process 1");
	is(flki_quit(heir, &st), 0, "and leaves");
	is(agent_do(&holds, release).code, 0, "the holder releases");
	is(agent_hear(&waits).code, 0, "and the waiter is served");
	agent_tell(&holds, take_one);
	ok(stands(f, 1, 1), "and the other waits");
	for (ms = 0; !is_asleep(holds.pid) && ms < PATIENCE_MS; ms++)
		usleep(1000);
	before = h->repaired;
	say(g.to, 0);
	is(hear(&g), -FLK_MISTAKEN, "the process 1 hears that it was taken for dead");
	is(hear(&g), -FLK_STRANGER, "and can do nothing more");
	end_ghost(&g);
	/* It clears `doubted' before it repairs. */
	for (ms = 0; __atomic_load_n(&h->repaired, __ATOMIC_RELAXED) == before && ms < PATIENCE_MS;
	     ms++)
		usleep(1000);
	is(h->repaired, before + 1, "the one that waits has come, and made the index anew");
	is(agent_do(&waits, release).code, 0, "the holder releases");
	is(agent_hear(&holds).code, 0, "and the waiter is served");
	is(agent_do(&holds, release).code, 0, "and releases");
	agent_stop(&holds);
	agent_stop(&waits);
	flk_taker_free(heir);
	whole(f, "after a waiter has seen to it");
	flk_detach(f);
}

/*
 * Of two that were inside, one has left a line without its head.  So the second waiter was granted
 * first; and when the index is made anew, the older waiter is granted after it.
 */
static void
test_order_after_a_torn_line(void)
{
	const struct order one_of_two = { .kind = ACQUIRE, .limit = 2, .ms = -1 };
	const struct flk_request both = { .weight = 2, .limit = 2 };
	struct flk *f = fresh(2);
	struct agent older = agent_start(flk_path(f)), younger = agent_start(flk_path(f));
	struct flk_taker *holder = taker(f), *other = taker(f);
	char why[200] = "";
	struct state st;

	is(flk_try(holder, &both), 0, "one holds both units");
	agent_tell(&older, one_of_two);
	ok(stands(f, 1, 1), "one waits");
	agent_tell(&younger, one_of_two);
	ok(stands(f, 1, 2), "and another");
	is(flki_enter(other, &st), 0, "another enters");
	flki_state_unlink(&st, &st.h->waiting, st.h->waiting.head);
	is(flki_quit(other, &st), 0, "and leaves the line without its head");
	is(flk_release(holder), 0, "the holder releases");
	is(agent_hear(&younger).code, 0, "the younger waiter is granted");
	atomic_store(&f->file.h->doubted, 1);
	is(flk_try(other, &both), -EAGAIN, "another makes the index anew");
	is(agent_hear(&older).code, 0, "the older waiter is granted");
	is(flk_check(f, why, sizeof(why)), 0, "the holders are in the order of their tickets");
	is(agent_do(&older, release).code, 0, "the older releases");
	is(agent_do(&younger, release).code, 0, "and the younger");
	agent_stop(&older);
	agent_stop(&younger);
	flk_taker_free(holder);
	flk_taker_free(other);
	whole(f, "after a torn line");
	flk_detach(f);
}

int
main(void)
{
	begin();
	if (geteuid() != 0)
		tap_skip_all("only root can make PID namespaces");
	home = open("/proc/self/ns/pid", O_RDONLY | O_CLOEXEC);
	if (home == -1)
		tap_skip_all("no PID namespaces here");
	test_kill_holder();
	test_kill_many();
	test_storm(slow_tick() ? 20 : 100);
	test_namesake(LOOKS);
	test_namesake(GRANTS);
	test_namesake_and_waiter();
	test_order_after_a_torn_line();
	return tap_done();
}
