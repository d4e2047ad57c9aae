/* SPDX-License-Identifier: ISC */
/*
 * store_inside.c - a permit as the engine gives it, in a process that is there already and has its
 * connection: tests/store/takers, told by lines what to do, and telling what happened.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <fcntl.h>
#include <sys/wait.h>

#include "report.h"
#include "samples.h"
#include "store.h"

#define PATIENCE_MS 60000
#define SETTLE_US   150000
#define WARM        5 /* rounds that are not counted */

/* Takers of one limiter, in a process of their own. */
struct driver {
	pid_t pid;
	int to, from;
	char said[4096]; /* of which no line was taken yet */
	size_t n;
};

static bool
driver_start(struct driver *d, const struct bench *b, const struct stage *s, enum peer p,
	     const char *limiter)
{
	posix_spawn_file_actions_t files;
	char program[PATH_SIZE], url[URL_SIZE];
	char *words[] = { program, url, (char *)(uintptr_t)limiter, NULL };
	int in[2], out[2], error;

	if (!peer_takers(program, url, b, s, p))
		return false;
	if (pipe2(in, O_CLOEXEC) == -1 || pipe2(out, O_CLOEXEC) == -1)
		die("pipe: %s", strerror(errno));
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_adddup2(&files, in[0], STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&files, out[1], STDOUT_FILENO);
	if ((error = posix_spawn(&d->pid, program, &files, NULL, words, environ)) != 0)
		die("cannot start %s: %s", program, strerror(error));
	posix_spawn_file_actions_destroy(&files);
	close(in[0]);
	close(out[1]);
	d->to = in[1];
	d->from = out[0];
	d->n = 0;
	return true;
}

static void
driver_stop(struct driver *d)
{
	close(d->to);
	close(d->from);
	kill(d->pid, SIGKILL);
	waitpid(d->pid, NULL, 0);
}

static void
tell(const struct driver *d, const char *verb, int taker, const char *rest)
{
	char line[128];
	int n = snprintf(line, sizeof(line), "%s t%d%s\n", verb, taker, rest);

	if (write(d->to, line, (size_t)n) != n)
		die("a driver of takers is gone");
}

/* Until a line says that this taker was told of that; returns when it came. */
static uint64_t
await(struct driver *d, int taker, const char *kind)
{
	struct pollfd p = { .fd = d->from, .events = POLLIN };
	char wanted[64], *end;
	bool found = false;
	uint64_t now = 0;
	ssize_t got;

	snprintf(wanted, sizeof(wanted), " t%d %s", taker, kind);
	while (!found) {
		if ((end = memchr(d->said, '\n', d->n)) == NULL) {
			if (d->n == sizeof(d->said) || poll(&p, 1, PATIENCE_MS) != 1 ||
			    (got = read(d->from, d->said + d->n, sizeof(d->said) - d->n)) <= 0)
				die("a taker waits for%s in vain", wanted);
			now = now_ns();
			d->n += (size_t)got;
			continue;
		}
		*end++ = '\0';
		found = strstr(d->said, wanted) != NULL;
		if (!found && strstr(d->said, "REFUSED") != NULL)
			die("a taker was refused: %s", d->said);
		d->n -= (size_t)(end - d->said);
		memmove(d->said, end, d->n);
	}
	return now != 0 ? now : now_ns();
}

struct inside {
	struct samples acquire, release, handover; /* ms */
};

static void
add(struct samples *s, int round, uint64_t start, uint64_t end)
{
	if (round >= 0)
		samples_add(s, (double)(end - start) / 1e6);
}

/* Each round has a taker of its own; they are numbered. */
static void
come_and_go(struct driver *d, struct inside *in, int rounds)
{
	int round, taker = 0;
	uint64_t start;

	for (round = -WARM; round < rounds; round++, taker++) {
		tell(d, "new", taker, "");
		start = now_ns();
		tell(d, "enter", taker, " n=1");
		add(&in->acquire, round, start, await(d, taker, "GRANTED"));
		start = now_ns();
		tell(d, "release", taker, "");
		add(&in->release, round, start, await(d, taker, "RELEASED"));
		tell(d, "free", taker, "");
	}
}

/* To and fro: who waits in one process gets it from the holder in the other. */
static void
take_turns(struct driver d[2], struct inside *in, int rounds)
{
	int round, taker = WARM + rounds;
	uint64_t start;

	tell(&d[0], "new", taker, "");
	tell(&d[0], "enter", taker, " n=1");
	await(&d[0], taker, "GRANTED");
	for (round = -WARM; round < rounds; round++, taker++) {
		struct driver *holder = &d[(round + WARM) % 2], *next = &d[(round + WARM + 1) % 2];

		tell(next, "new", taker + 1, "");
		tell(next, "enter", taker + 1, " n=1");
		await(next, taker + 1, "QUEUED");
		/* It comes to rest. */
		usleep(SETTLE_US);
		start = now_ns();
		tell(holder, "release", taker, "");
		add(&in->handover, round, start, await(next, taker + 1, "GRANTED"));
		await(holder, taker, "RELEASED");
		tell(holder, "free", taker, "");
	}
}

static void
print(const char *what, enum peer p, struct samples *s)
{
	fprintf(report, "| %s | %s | %.2f | %.2f | %zu |\n", what, peer_label[p], samples_median(s),
		samples_quantile(s, 0.99), s->count);
	samples_free(s);
}

static void
measure(const struct bench *b, const struct stage *s, enum peer p)
{
	struct inside in = { 0 };
	struct driver d[2];

	if (!driver_start(&d[0], b, s, p, "inside") || !driver_start(&d[1], b, s, p, "inside"))
		return;
	come_and_go(&d[0], &in, runs(b, s, 250));
	take_turns(d, &in, runs(b, s, 250));
	driver_stop(&d[0]);
	driver_stop(&d[1]);
	print("acquire, with room", p, &in.acquire);
	print("release", p, &in.release);
	print("release to the next holder, in another process", p, &in.handover);
}

void
store_inside(const struct bench *b, const struct stage *s)
{
	fprintf(report, "\n### Inside a process that has its connection: %s\n", s->title);
	report_head("what|through|median, ms|p99|runs");
	measure(b, s, OURS);
	measure(b, s, POSTGRES);
}
