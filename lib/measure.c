/* SPDX-License-Identifier: ISC */
/*
 * measure.c - values for the conditions of a gate, from /proc and the cgroups of this process.
 *
 * A process in a cgroup with a limit dies, or waits, by what the group has left and not by what the
 * machine has.  So available memory is the least of the two, and of all groups around; and a pressure
 * is the group's own where any group around limits the resource.
 */
#include "measure.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/statvfs.h>

#include "cancel.h"
#include "cgroup.h"
#include "clock.h"
#include "futex.h"
#include "proc.h"
#include "thread.h"

#define LEAST_SPAN (2 * SECOND - 50 * MS) /* a timer of two seconds may be read a little early */
#define MOST_SPAN  (5 * SECOND)           /* older looks say nothing about now */

/* The number after NAME at the beginning of a line of TEXT. */
static bool
number_after(const char *text, const char *name, uint64_t *value)
{
	size_t n = strlen(name);
	const char *line = text;

	while (line != NULL) {
		/* The analyser does not know that read(2) has filled the text. */
		if (strncmp(line, name, n) == 0 &&
		    (line[n] == ' ' || line[n] == ':')) { /* NOLINT(clang-analyzer-core.*) */
			*value = strtoull(line + n + 1, NULL, 10);
			return true;
		}
		line = strchr(line, '\n');
		line = line != NULL ? line + 1 : NULL;
	}
	return false;
}

/* ---- memory ---- */

static bool
number_in(const char *dir, const char *name, uint64_t *value)
{
	char text[32], *end;

	if (!flki_read_text_in(dir, name, text, sizeof(text)))
		return false;
	*value = strtoull(text, &end, 10);
	return end != text; /* "max" is no number */
}

/* The file pages of a group can be had back, as MemAvailable has it for the machine. */
static uint64_t
file_pages(const char *dir, bool v1)
{
	uint64_t active = 0, inactive = 0;
	char text[4096];

	if (flki_read_text_in(dir, "memory.stat", text, sizeof(text))) {
		number_after(text, v1 ? "total_active_file" : "active_file", &active);
		number_after(text, v1 ? "total_inactive_file" : "inactive_file", &inactive);
	}
	return active + inactive;
}

static void
look_at_memory(const char *dir, void *least)
{
	uint64_t limit = UINT64_MAX, high, used, left;
	bool v1 = false;

	if (number_in(dir, "memory.high", &high))
		limit = high;
	if (number_in(dir, "memory.max", &high) && high < limit)
		limit = high;
	if (limit != UINT64_MAX) {
		if (!number_in(dir, "memory.current", &used))
			return;
	} else {
		v1 = true;
		if (!number_in(dir, "memory.limit_in_bytes", &limit) ||
		    limit >= UINT64_C(1) << 60 || !number_in(dir, "memory.usage_in_bytes", &used))
			return;
	}
	left = (used < limit ? limit - used : 0) + file_pages(dir, v1);
	if (left > limit)
		left = limit;
	if (left < *(uint64_t *)least)
		*(uint64_t *)least = left;
}

static uint64_t
available_memory(void)
{
	uint64_t least = UINT64_MAX, kib;
	char text[2048];

	if (flki_read_text("/proc/meminfo", text, sizeof(text)) > 0 &&
	    number_after(text, "MemAvailable", &kib))
		least = kib * 1024;
	flki_cgroups(getpid(), "memory", look_at_memory, &least);
	return least;
}

/* ---- pressure ---- */

static const struct {
	const char *group, *machine, *limits[2], *controller;
} pressure_files[3] = {
	{ "cpu.pressure", "/proc/pressure/cpu", { "cpu.max" }, "cpu" },
	{ "memory.pressure", "/proc/pressure/memory", { "memory.max", "memory.high" }, "memory" },
	{ "io.pressure", "/proc/pressure/io", { "io.max" }, "io" },
};

struct group {
	unsigned which;
	bool limited;
	char dir[400]; /* of the process itself, if it has a pressure file */
};

static void
look_at_limit(const char *dir, void *ctx)
{
	struct group *g = ctx;
	char text[64];
	unsigned i;

	if (g->dir[0] == '\0' &&
	    flki_read_text_in(dir, pressure_files[g->which].group, text, sizeof(text)))
		snprintf(g->dir, sizeof(g->dir), "%s", dir);
	for (i = 0; i < 2 && pressure_files[g->which].limits[i] != NULL; i++)
		if (flki_read_text_in(dir, pressure_files[g->which].limits[i], text,
				      sizeof(text)) &&
		    strncmp(text, "max", 3) != 0)
			g->limited = true;
}

/* The line of a pressure file about some tasks that waited. */
static bool
read_pressure(unsigned which, uint64_t *total_us, uint64_t *avg10)
{
	struct group g = { .which = which };
	unsigned long long total;
	unsigned percent, part;
	char text[256];

	flki_cgroups(getpid(), pressure_files[which].controller, look_at_limit, &g);
	if (!(g.limited &&
	      flki_read_text_in(g.dir, pressure_files[which].group, text, sizeof(text))) &&
	    flki_read_text(pressure_files[which].machine, text, sizeof(text)) <= 0)
		return false;
	if (sscanf(text, "some avg10=%u.%2u avg60=%*s avg300=%*s total=%llu", &percent, &part,
		   &total) != 3)
		return false;
	*total_us = total;
	*avg10 = percent * UINT64_C(100) + part;
	return true;
}

void
flki_measure_pressures(struct pressures *p)
{
	int cancel FLKI_RESTORED = flki_no_cancel();
	unsigned n = p->looks % 4, which;
	uint64_t avg10;

	p->look[n].at_ns = flki_clock_ns(CLOCK_MONOTONIC);
	for (which = 0; which < 3; which++)
		if (!read_pressure(which, &p->look[n].total_us[which], &avg10))
			p->look[n].total_us[which] = UINT64_MAX;
	p->looks++;
}

/* Hundredths of a per cent of the time since the latest look that is two seconds old. */
static uint64_t
pressure(unsigned which, const struct pressures *p)
{
	uint64_t avg10, before, now, span, total = UINT64_MAX;
	unsigned k;

	if (p == NULL)
		return read_pressure(which, &total, &avg10) ? avg10 : UINT64_MAX;
	if (p->looks == 0)
		return UINT64_MAX;
	now = p->look[(p->looks - 1) % 4].at_ns;
	total = p->look[(p->looks - 1) % 4].total_us[which];
	for (k = 2; k <= 4 && k <= p->looks; k++) {
		span = now - p->look[(p->looks - k) % 4].at_ns;
		if (span < LEAST_SPAN)
			continue;
		before = p->look[(p->looks - k) % 4].total_us[which];
		if (span > MOST_SPAN || before > total || total == UINT64_MAX)
			return UINT64_MAX;
		return (total - before) * 10000 / (span / 1000);
	}
	return UINT64_MAX;
}

/* ---- the rest ---- */

/* The fourth word of the file is RUNNING/ALL; this process runs, too, while it looks. */
static uint64_t
running_tasks(void)
{
	unsigned long long n;
	char text[128];

	if (flki_read_text("/proc/loadavg", text, sizeof(text)) <= 0 ||
	    sscanf(text, "%*s %*s %*s %llu/", &n) != 1)
		return UINT64_MAX;
	return n > 0 ? n - 1 : 0;
}

/* ---- disks ---- */

/*
 * On a dead server a file system answers statvfs(2) when it likes: no deadline ends the call, and no
 * signal that a taker has blocked.  So a thread asks, and the taker waits for its answer for a moment
 * only; without one the free space is not known.  While MOST_ASKED have no answer, nobody asks anew:
 * else each look of a waiter would leave one more thread behind.
 */
#define ANSWER_NS  SECOND
#define MOST_ASKED 4
#define STACK      65536

/* It is the asker's and the thread's: the last of the two frees it. */
struct question {
	_Atomic uint32_t owners, answered; /* answered: a futex; pairs the answer with its reader */
	uint64_t bytes;
	int error;
	char path[256];
};

static _Atomic uint32_t unanswered;

static uint64_t
free_bytes(const char *path)
{
	struct statvfs fs;

	return statvfs(path, &fs) == 0 ? (uint64_t)fs.f_bavail * fs.f_frsize : UINT64_MAX;
}

static void
drop(struct question *q)
{
	if (atomic_fetch_sub(&q->owners, 1) == 1)
		free(q);
}

static void *
answer(void *question)
{
	struct question *q = question;

	q->bytes = free_bytes(q->path);
	q->error = errno;
	atomic_fetch_sub(&unanswered, 1);
	atomic_store(&q->answered, 1);
	flki_futex_wake(&q->answered);
	drop(q);
	return NULL;
}

static uint64_t
await(struct question *q)
{
	uint64_t until = flki_monotonic_ns() + ANSWER_NS;

	while (atomic_load(&q->answered) == 0 && flki_monotonic_ns() < until)
		flki_futex_sleep(&q->answered, 0, until);
	if (atomic_load(&q->answered) == 0) {
		errno = ETIMEDOUT;
		return UINT64_MAX;
	}
	errno = q->error;
	return q->bytes;
}

/* Where it is not known, errno says why: ETIMEDOUT, as there is no answer yet. */
static uint64_t
free_space(const struct condition *c)
{
	struct question *q;
	uint64_t bytes;

	if (c->path_length >= sizeof(q->path))
		return UINT64_MAX;
	if (atomic_fetch_add(&unanswered, 1) >= MOST_ASKED || (q = calloc(1, sizeof(*q))) == NULL) {
		atomic_fetch_sub(&unanswered, 1);
		errno = ETIMEDOUT;
		return UINT64_MAX;
	}
	memcpy(q->path, c->path, c->path_length);
	q->owners = 2;
	if (flki_thread_start(answer, q, STACK) == 0) {
		bytes = await(q);
		drop(q);
	} else {
		bytes = free_bytes(q->path); /* it takes as long as it takes */
		atomic_fetch_sub(&unanswered, 1);
		free(q);
	}
	return bytes;
}

uint64_t
flki_measure(const struct condition *c, const struct pressures *p)
{
	int cancel FLKI_RESTORED = flki_no_cancel();

	switch (c->kind) {
	case MEM:
		return available_memory();
	case PSI_CPU:
		return pressure(0, p);
	case PSI_MEM:
		return pressure(1, p);
	case PSI_IO:
		return pressure(2, p);
	case RUNNING:
		return running_tasks();
	default:
		return free_space(c);
	}
}
