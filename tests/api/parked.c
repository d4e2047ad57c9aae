/* SPDX-License-Identifier: ISC */
/*
 * parked.c - who waits does nothing: no context switch and no time of a processor in 3 s.
 */
#include "../helpers/common.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/prctl.h>

#define WAITERS 50

struct usage {
	unsigned long long switches, cpu_ns;
};

static bool
read_file(pid_t pid, const char *name, char *text, size_t size)
{
	char path[128];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd == -1)
		return false;
	n = read(fd, text, size - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	return n > 0;
}

static unsigned long long
field(const char *text, const char *name)
{
	const char *p = strstr(text, name);

	return p != NULL ? strtoull(p + strlen(name), NULL, 10) : 0;
}

static struct usage
usage_of(pid_t pid)
{
	char text[4096];
	struct usage u = { 0 };

	if (!read_file(pid, "status", text, sizeof(text)))
		tap_bail("no /proc/%d/status", (int)pid);
	u.switches =
	    field(text, "\nvoluntary_ctxt_switches:") + field(text, "nonvoluntary_ctxt_switches:");
	if (read_file(pid, "schedstat", text, sizeof(text)))
		u.cpu_ns = strtoull(text, NULL, 10);
	return u;
}

static void
measure(const pid_t *pid, const char *what)
{
	struct usage before[WAITERS], after;
	unsigned long long switches = 0, cpu_ns = 0;
	int i;

	for (i = 0; i < WAITERS; i++) {
		until_asleep(pid[i]);
		before[i] = usage_of(pid[i]);
	}
	sleep(3);
	for (i = 0; i < WAITERS; i++) {
		after = usage_of(pid[i]);
		switches += after.switches - before[i].switches;
		cpu_ns += after.cpu_ns - before[i].cpu_ns;
	}
	is(switches, 0, "%d %s wait for 3 s without one context switch", WAITERS, what);
	is(cpu_ns, 0, "and without a nanosecond of a processor");
}

static void
test_library(void)
{
	struct flk *f = fresh(1);
	struct flk_taker *t = taker(f);
	struct agent a[WAITERS];
	pid_t pid[WAITERS];
	int i, failed = 0;

	flk_acquire(t, &(struct flk_request){ .limit = 1 }, NULL);
	for (i = 0; i < WAITERS; i++) {
		a[i] = agent_start(flk_path(f));
		pid[i] = a[i].pid;
		agent_tell(&a[i], (struct order){ .kind = ACQUIRE, .limit = 1, .ms = -1 });
		failed += !stands(f, 1, i + 1);
	}
	is(failed, 0, "%d processes wait", WAITERS);
	measure(pid, "processes");
	flk_release(t);
	for (i = 0; i < WAITERS; i++) {
		failed += agent_hear(&a[i]).code != 0;
		failed += agent_do(&a[i], (struct order){ .kind = RELEASE }).code != 0;
		agent_stop(&a[i]);
	}
	is(failed, 0, "then each has its turn");
	flk_taker_free(t);
	whole(f, "after a long wait");
	flk_detach(f);
}

static void
test_program(const char *program)
{
	struct flk *f = fresh(1);
	struct flk_taker *t = taker(f);
	pid_t pid[WAITERS];
	int i, failed = 0;

	flk_acquire(t, &(struct flk_request){ .limit = 1 }, NULL);
	for (i = 0; i < WAITERS; i++) {
		pid[i] = fork_child();
		if (pid[i] == 0) {
			execl(program, program, "-f", flk_path(f), "-n", "1", "true", (char *)NULL);
			_exit(99);
		}
	}
	ok(stands(f, 1, WAITERS), "%d commands wait", WAITERS);
	measure(pid, "commands");
	flk_release(t);
	for (i = 0; i < WAITERS; i++)
		failed += reap_child(pid[i]) != 0;
	is(failed, 0, "then each has its turn");
	flk_taker_free(t);
	whole(f, "after many commands");
	flk_detach(f);
}

int
main(void)
{
	const char *program = getenv("FLOCKLIMIT");

	begin();
	if (slow_tick())
		tap_skip_all("no futex_waitv: a waiter looks around regularly");
	test_library();
	if (program != NULL)
		test_program(program);
	else
		tap_skip("FLOCKLIMIT does not name the program");
	return tap_done();
}
