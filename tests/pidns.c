/*
 * pidns.c - takers in PID namespaces of their own, as containers have them: each is process 1,
 * and they share one limiter.  The killing is done from outside.
 */
#include "common.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/syscall.h>

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
	return tap_done();
}
