/* SPDX-License-Identifier: ISC */
/*
 * scripts.c - what scripts do with a limiter: a shell line, as with sem, and a descriptor of the shell,
 * as with flock.
 */
#include "bench.h"

#include <stdio.h>
#include <string.h>

#include "process.h"
#include "report.h"
#include "samples.h"

enum { LINE, FLOCKSEM, SEM, LATER, LATER_SEM, SCRIPT, FD, FLOCK, ROWS };

struct row {
	struct command command;
	int share;           /* it runs once in so many rounds: sem is slow */
	struct samples time; /* us */
};

static void
make_rows(const struct bench *b, struct row row[ROWS])
{
	char flocksem[PATH_SIZE], file[PATH_SIZE], lock[PATH_SIZE];
	struct command first;
	const char *slash = strrchr(b->program, '/');
	int n = slash != NULL ? (int)(slash - b->program) : 0;

	if (slash == NULL)
		die("%s: give its path", b->program);
	if (snprintf(flocksem, sizeof(flocksem), "%.*s/flocksem", n, b->program) >= PATH_SIZE)
		die("%s: path too long", b->program);
	world_path(file, "fd");
	world_path(lock, "flock.fd");
	command_make(&row[LINE].command, "sh -c :", "sh", "-c", ":", NULL);
	command_make(&row[FLOCKSEM].command, "flocksem --fg :", flocksem, "--fg", "-j4", "--id",
		     "fg", ":", NULL);
	command_make(&row[SEM].command, "sem --fg :", "sem", "--fg", "-j4", "--id", "fg", ":",
		     NULL);
	command_make(&row[LATER].command, "flocksem :", flocksem, "-j4", "--id", "bg", ":", NULL);
	command_make(&row[LATER_SEM].command, "sem :", "sem", "-j4", "--id", "bg", ":", NULL);
	command_make(&row[SCRIPT].command, "sh -c 'exec 9<>F'", "sh", "-c", "exec 9<>\"$0\"", lock,
		     NULL);
	command_make(&row[FD].command, "sh -c 'exec 9<>F; flocklimit --fd 9'", "sh", "-c",
		     "exec 9<>\"$0\" && exec \"$1\" --fd 9 -n 1 -q", file, b->program, NULL);
	command_make(&row[FLOCK].command, "sh -c 'exec 9<>F; flock 9'", "sh", "-c",
		     "exec 9<>\"$0\" && exec flock 9", lock, NULL);
	/* The descriptor is of a limiter that exists. */
	command_make(&first, "make a limiter", b->program, "-f", file, "-n", "1", "true", NULL);
	command_time(&first);
	command_free(&first);
	row[SEM].share = row[LATER_SEM].share = 20;
}

static void
print_ratio(struct row *row, int of, int to, double goal)
{
	report_ratio(row[of].command.label, &row[of].time, row[to].command.label, &row[to].time,
		     goal);
}

void
scripts(const struct bench *b)
{
	struct row row[ROWS] = { 0 };
	int rounds = b->quick ? 40 : 400, round, i, r;

	make_rows(b, row);
	for (round = -1; round < rounds; round++)
		for (i = 0; i < ROWS; i++) {
			r = (i + round + ROWS) % ROWS;
			if (!command_is_there(&row[r].command) ||
			    (row[r].share != 0 && round % row[r].share != 0))
				continue;
			uint64_t ns = command_time(&row[r].command);
			if (round >= 0)
				samples_add(&row[r].time, (double)ns / 1e3);
		}
	fprintf(report, "\n### 3b. Scripts, with room\n");
	report_head("run|median, us|quartiles|runs");
	for (i = 0; i < ROWS; i++)
		report_times(row[i].command.label, &row[i].time);
	report_head("ratio of medians|value|goal, at most|met");
	print_ratio(row, FLOCKSEM, SEM, 1.0 / 30);
	print_ratio(row, LATER, LATER_SEM, 1.0 / 30);
	print_ratio(row, FD, FLOCK, 0);
	for (i = 0; i < ROWS; i++) {
		command_free(&row[i].command);
		samples_free(&row[i].time);
	}
}
