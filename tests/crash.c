/*
 * crash.c - takers that are killed or stopped in a crowd, and the others, who go on by themselves.
 */
#include "common.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/wait.h>

#include "internal.h"

static struct order
take(uint32_t weight)
{
	return (struct order){ .kind = ACQUIRE, .weight = weight, .limit = 2, .ms = -1 };
}

static const struct order release = { .kind = RELEASE };

static const struct flk_request all_of_it = { .weight = 2, .limit = 2 };

/* ---- how soon ---- */

#define CROWD 12

static int
by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/*
 * One holds and the others wait; those with a bit in `victims' are killed at one stroke (bit 0:
 * the holder), and the holder with them if it is not one.  The first that is left must run next,
 * and the rest after it, in order.
 */
static uint64_t
massacre(unsigned victims, bool *in_order)
{
	struct flk *f = fresh(1);
	struct agent a[CROWD];
	uint64_t killed, next = 0;
	int i, last = -1;

	for (i = 0; i < CROWD; i++) {
		a[i] = agent_start(flk_path(f));
		agent_tell(&a[i], (struct order){ .kind = ACQUIRE, .limit = 1, .ms = -1 });
		if (!stands(f, 1, i))
			tap_bail("nobody comes");
	}
	agent_hear(&a[0]);
	killed = now_ns();
	for (i = 0; i < CROWD; i++)
		if (victims >> i & 1)
			kill(a[i].pid, SIGKILL);
	if (!(victims & 1)) {
		agent_tell(&a[0], release);
		agent_hear(&a[0]);
	}
	for (i = 1; i < CROWD; i++) {
		struct answer answer;
		if (victims >> i & 1)
			continue;
		answer = agent_hear(&a[i]);
		if (next == 0)
			next = answer.when_ns - killed;
		else if (agent_answered(&a[i], 0))
			*in_order = false;
		if (answer.code != 0 || (int)answer.permit.ticket <= last)
			*in_order = false;
		last = (int)answer.permit.ticket;
		if (agent_do(&a[i], release).code != 0)
			*in_order = false;
	}
	for (i = 0; i < CROWD; i++)
		victims >> i & 1 ? agent_reap(&a[i]) : agent_stop(&a[i]);
	if (flk_check(f, NULL, 0) != 0 || units_used(f) != 0)
		*in_order = false;
	flk_detach(f);
	return next;
}

static void
test_massacre(const char *whom, unsigned victims)
{
	enum { ROUNDS = 15 };
	uint64_t took[ROUNDS], bound = slow_tick() ? 1500 : 20;
	bool in_order = true;
	int i;

	for (i = 0; i < (slow_tick() ? 3 : ROUNDS); i++)
		took[i] = massacre(victims, &in_order);
	qsort(took, (size_t)i, sizeof(took[0]), by_size);
	tap_note("kill -9 of %s: the next runs after %.0f us (median), at most %.0f us", whom,
		 (double)took[i / 2] / 1e3, (double)took[i - 1] / 1e3);
	ok(in_order, "kill -9 of %s: the rest goes on in order", whom);
	ok(took[i / 2] < bound * 1000000u, "soon");
}

/* ---- stopped ---- */

static void
test_stopped_head(void)
{
	struct flk *f = fresh(1);
	struct agent a[4];
	char why[200];
	int i;

	for (i = 0; i < 4; i++) {
		a[i] = agent_start(flk_path(f));
		agent_tell(&a[i], (struct order){ .kind = ACQUIRE, .limit = 1, .ms = -1 });
		stands(f, 1, i);
	}
	agent_hear(&a[0]);
	stop_child(a[1].pid);
	is(agent_do(&a[0], release).code, 0, "the head is stopped, the holder releases");
	ok(stands(f, 1, 2), "the head holds");
	is(flk_check(f, why, sizeof(why)), 0, "nothing is broken");
	ok(!agent_answered(&a[2], 50), "nobody overtakes it");
	kill(a[1].pid, SIGCONT);
	is(agent_hear(&a[1]).code, 0, "it runs when it is continued");
	stop_child(a[2].pid);
	agent_kill(&a[1], SIGKILL);
	ok(stands(f, 1, 1), "the next is stopped, the holder killed: it holds");
	agent_kill(&a[2], SIGKILL);
	is(agent_hear(&a[3]).code, 0, "killed while it was stopped: the last runs");
	is(agent_do(&a[3], release).code, 0, "and releases");
	agent_stop(&a[0]);
	agent_stop(&a[3]);
	whole(f, "after stops");
	flk_detach(f);
}

static void
test_stopped_inside(bool is_killed)
{
	struct flk *f = fresh(2);
	struct flk_taker *t = taker(f), *waits = taker(f), *many[16];
	struct agent a = agent_start(flk_path(f));
	char why[200];
	struct flk_place place;
	int i, busy = 0;
	struct state st;
	uint64_t start;
	pid_t pid;
	int code;

	agent_do(&a, take(2));
	is(flk_enqueue(waits, &all_of_it), -EINPROGRESS, "one waits");
	pid = fork_child();
	if (pid == 0) {
		struct flk_taker *mine = taker(f);
		if (flki_enter(mine, &st, true) != 0)
			_exit(1);
		raise(SIGSTOP);
		_exit(flki_quit(mine, &st) == 0 ? 0 : 1);
	}
	if (waitpid(pid, &code, WUNTRACED) != pid || !WIFSTOPPED(code))
		tap_bail("it does not stop");
	agent_tell(&a, release);
	start = now_ns();
	code = flk_try(t, &all_of_it);
	is(code, -FLK_STUCK, "stopped where it keeps everyone out");
	ok(now_ns() - start > 1500000000u && now_ns() - start < 6000000000u, "after 2 s");
	is(flk_stuck_pid(f), pid, "and it is known who");
	is(agent_hear(&a).code, -FLK_STUCK, "the holder could not release");
	flk_taker_free(waits); /* can't leave the line either: it is as good as dead */
	if (is_killed) {
		kill(pid, SIGKILL);
		is(WTERMSIG(reap_child(pid)), SIGKILL, "killed");
	} else {
		kill(pid, SIGCONT);
		is(reap_child(pid), 0, "continued");
	}
	/* Somebody claims each slot that looks free. */
	for (i = 0; i < 16; i++) {
		many[i] = taker(f);
		flk_place(many[i], &place);
	}
	for (i = 0; i < 16; i++)
		busy += flk_try(many[i], &all_of_it) == -EAGAIN;
	is(busy, 16, "the permit is held as before");
	is(flk_check(f, why, sizeof(why)), 0, "and nothing is broken");
	for (i = 0; i < 16; i++)
		flk_taker_free(many[i]);
	is(agent_do(&a, release).code, 0, "then it can be released");
	is(flk_acquire(t, &all_of_it, NULL), 0, "and taken again");
	agent_stop(&a);
	flk_taker_free(t);
	whole(f, is_killed ? "after one killed inside" : "after one stopped inside");
	flk_detach(f);
}

int
main(void)
{
	begin(100);
	test_massacre("the holder", 1);
	test_massacre("the head of the line", 2);
	test_massacre("the second in the line", 4);
	test_massacre("the holder and the first five", 0x3f);
	test_massacre("every second", 0x555);
	test_stopped_head();
	test_stopped_inside(false);
	test_stopped_inside(true);
	return tap_done();
}
