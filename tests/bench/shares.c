/* SPDX-License-Identifier: ISC */
/*
 * shares.c - unmodified builds, make -j"$(nproc)", that share the processors by --pin.
 *
 * A build is make(1) with targets that count in a shell: some one after the other, as a configure and
 * a link do, and the rest at once.
 */
#include "bench.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "process.h"
#include "report.h"
#include "samples.h"

#define FOUR 4
#define TEN  10

static const char makefile[] = "many := $(shell seq $(MANY))\n"
			       "all: last\n"
			       "first:; @$(COUNT)\n"
			       "$(many): first; @$(COUNT)\n"
			       "last: $(many); @n=0; while [ $$n -lt $(FEW) ]; do n=$$((n + 1)); "
			       "$(COUNT); done\n"
			       "COUNT = i=0; while [ $$i -lt 40000 ]; do i=$$((i + 1)); done\n";

/* How a build gets its processors. */
enum way { ALONE, PINNED, FIXED, WHOLE, WAYS };

static const struct {
	const char *weight, *pin, *jobs;
} words[WAYS] = {
	[ALONE] = { NULL, NULL, "$(nproc)" },
	[PINNED] = { "1-", "--pin", "$(nproc)" },
	[FIXED] = { "1-", NULL, "$FLOCKLIMIT_WEIGHT" },
	[WHOLE] = { "100%", NULL, "$FLOCKLIMIT_WEIGHT" },
};

static char file[PATH_SIZE];

static void
write_makefile(void)
{
	FILE *f = fopen(world_path(file, "Makefile"), "we");

	if (f == NULL || fputs(makefile, f) == EOF || fclose(f) != 0)
		die("%s: cannot be written", file);
}

/* FEW: targets one after the other; MANY: at once. */
static void
make_build(struct command *c, const struct bench *b, enum way way, int many, int few)
{
	char line[PATH_SIZE + 128];

	snprintf(line, sizeof(line), "exec make -s -f %s -j\"%s\" MANY=%d FEW=%d", file,
		 words[way].jobs, many, few);
	if (way == ALONE) {
		command_make(c, "make", "sh", "-c", line, NULL);
		return;
	}
	command_make(c, "flocklimit make", b->program, "-q", "-N", "cpu", "-n", "100%", "-w",
		     words[way].weight, NULL);
	if (words[way].pin != NULL)
		command_add(c, words[way].pin);
	command_add(c, "sh");
	command_add(c, "-c");
	command_add(c, line);
}

/* ---- four at once ---- */

static double
one_after_the_other(const struct bench *b, int many)
{
	uint64_t took = 0;
	struct command c;
	int i;

	make_build(&c, b, ALONE, many, 0);
	for (i = 0; i < FOUR; i++)
		took += command_time(&c);
	command_free(&c);
	return (double)took / 1e6;
}

static double
at_once(const struct bench *b, enum way way, int many)
{
	uint64_t began = now_ns();
	struct command c;
	pid_t pid[FOUR];
	int i;

	make_build(&c, b, way, many, 0);
	for (i = 0; i < FOUR; i++)
		pid[i] = command_start(&c, NULL);
	for (i = 0; i < FOUR; i++)
		command_finish(pid[i], c.label);
	command_free(&c);
	return (double)(now_ns() - began) / 1e6;
}

static void
four(const struct bench *b)
{
	struct samples serial = { 0 }, pinned = { 0 }, alone = { 0 };
	int rounds = b->quick ? 1 : 2, many = b->quick ? 20 : 80, i;

	for (i = 0; i < rounds; i++) {
		samples_add(&serial, one_after_the_other(b, many));
		samples_add(&pinned, at_once(b, PINNED, many));
		samples_add(&alone, at_once(b, ALONE, many));
	}
	fprintf(report, "\n### 11. Four builds, make -j\"$(nproc)\", on %ld processors\n",
		sysconf(_SC_NPROCESSORS_ONLN));
	report_head("until the last has ended|value|goal, at most|met");
	report_ratio("at once, -w 1- --pin", &pinned, "one after the other", &serial, 1.1);
	report_ratio("at once, without a limiter", &alone, "one after the other", &serial, 0);
	samples_free(&serial);
	samples_free(&pinned);
	samples_free(&alone);
}

/* ---- ten that come at random ---- */

struct one {
	pthread_t thread;
	struct command command;
	uint64_t comes_ns, took_ns;
};

static void *
run(void *one)
{
	struct one *o = one;
	struct timespec at = { .tv_sec = (time_t)(o->comes_ns / 1000000000u),
			       .tv_nsec = (long)(o->comes_ns % 1000000000u) };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) != 0)
		;
	o->took_ns = command_time(&o->command);
	return NULL;
}

/* From its arrival to its end, in ms, on average; the same ten for the same seed. */
static double
ten(const struct bench *b, enum way way, unsigned seed)
{
	uint64_t comes = now_ns();
	struct one each[TEN];
	double sum = 0;
	int i, targets;

	srand(seed);
	for (i = 0; i < TEN; i++) {
		targets = b->quick ? 1 + rand() % 4 : 1 + rand() % 40;
		comes += (uint64_t)(rand() % 100) * (b->quick ? 2000000 : 20000000);
		each[i].comes_ns = comes;
		make_build(&each[i].command, b, way, targets, targets);
		if (pthread_create(&each[i].thread, NULL, run, &each[i]) != 0)
			die("no thread");
	}
	for (i = 0; i < TEN; i++) {
		pthread_join(each[i].thread, NULL);
		command_free(&each[i].command);
		sum += (double)each[i].took_ns / 1e6;
	}
	return sum / TEN;
}

static void
random_ten(const struct bench *b)
{
	struct samples time[WAYS] = { { 0 } };
	enum way way;

	for (way = PINNED; way < WAYS; way++)
		samples_add(&time[way], ten(b, way, 1));
	fprintf(report, "\n### 12. Ten builds that come at random; half of each is serial\n");
	report_head("from the arrival to the end|value|goal, at most|met");
	report_ratio("-w 1- --pin", &time[PINNED], "-w 100%", &time[WHOLE], 0.7);
	report_ratio("-w 1- --pin", &time[PINNED], "-w 1-", &time[FIXED], 0);
	for (way = PINNED; way < WAYS; way++)
		samples_free(&time[way]);
}

void
shares(const struct bench *b)
{
	write_makefile();
	four(b);
	random_ten(b);
}
