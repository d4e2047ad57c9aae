/* SPDX-License-Identifier: ISC */
/*
 * store_use.c - a limiter of many permits whose line is never empty: how many of them are in use?
 *
 * Each loop runs one command after the other.  In the mean as many run at once as end in a second, times
 * the seconds that each takes.
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "report.h"
#include "store.h"
#include "store_http.h"

#define LIMIT  "100"
#define LOOPS  300
#define WARM_S 6
#define TIME_S 20

static const char *const seconds[] = { "2", "1", "0.3" };

struct shared {
	atomic_long ended; /* so many commands */
	atomic_bool over;
};

#define TIMES (int)(sizeof(seconds) / sizeof(seconds[0]))

static void
loop(const struct command *c, struct shared *at)
{
	while (!atomic_load(&at->over)) {
		command_finish(command_start(c, NULL), c->label);
		atomic_fetch_add(&at->ended, 1);
	}
	_exit(0);
}

static void
measure(const struct bench *b, const struct stage *s, enum peer p, const char *takes,
	struct shared *at)
{
	struct traffic before, after;
	struct command c;
	double cpu, each;
	pid_t pid[LOOPS];
	int i, span = b->quick ? TIME_S / 4 : TIME_S;
	long n;

	peer_limiter(&c, b, s, p, "use", LIMIT, NULL);
	if (!command_is_there(&c))
		return;
	command_add(&c, "sleep");
	command_add(&c, takes);
	for (i = 0; i < LOOPS; i++)
		if ((pid[i] = fork()) == 0)
			loop(&c, at);
	sleep(WARM_S);
	peer_traffic(s, p, &before);
	cpu = peer_cpu(s, p);
	n = atomic_load(&at->ended);
	sleep((unsigned)span);
	n = atomic_load(&at->ended) - n;
	cpu = peer_cpu(s, p) - cpu;
	peer_traffic(s, p, &after);
	atomic_store(&at->over, true);
	for (i = 0; i < LOOPS; i++)
		waitpid(pid[i], NULL, 0);
	atomic_store(&at->over, false);
	each = n > 0 ? (double)n : 1;
	fprintf(report, "| %s | %s | %.1f | %.0f | %.1f | %.1f | %.2f |\n", c.label, takes,
		(double)n / span * strtod(takes, NULL), (double)n / span,
		(after.messages - before.messages) / each, (after.syncs - before.syncs) / each,
		cpu * 1000 / each);
	command_free(&c);
}

void
store_use(const struct bench *b, const struct stage *s)
{
	struct shared *at =
	    mmap(NULL, sizeof(*at), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int i;

	if (at == MAP_FAILED)
		return;
	fprintf(report, "\n### A limit of %s, and %d loops: %s\n", LIMIT, LOOPS, s->title);
	report_head(
	    "through|a command takes, s|in use|grants a second|messages each|disk syncs each|"
	    "CPU of the server each, ms");
	for (i = 0; i < TIMES; i++) {
		measure(b, s, OURS, seconds[i], at);
		measure(b, s, POSTGRES, seconds[i], at);
	}
	munmap(at, sizeof(*at));
}
