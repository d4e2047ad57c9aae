/* SPDX-License-Identifier: ISC */
/*
 * judge [-n LIMIT] [-o MS] LOG... - whether the laws held, by what witnesses have written: see
 * witness.c.  Says each crime, and exits with 1 if there was one; with 2 if the log makes no sense.
 *
 *	weight	whoever begins fits under the limit, beside those that run: -n, and from each
 *		LIMIT on that; a heavier one counts as the whole of it
 *	order	grants are in the order of their tickets.  Where several may run at once they
 *		may begin in another order than they were granted: -o MS, by so much
 *	once	no ticket has two runs, and no seat two at once
 *	seat	in a seat, each next run has a higher ticket
 *	end	each run has ended, and each taker
 *
 * A run is over at the first that is said of it: that it ends, is being killed, or was seen dead.
 * So what is said here against a run is so; a run may well have been longer.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MANY 65536

struct run {
	uint64_t from, to; /* to: UINT64_MAX until something is said */
	uint64_t ticket, seat, weight;
	int pid;
};

struct line {
	uint64_t at;
	char kind[16], rest[256];
	size_t number; /* in the log, for those of the same instant */
};

static struct line lines[MANY];
static struct run runs[MANY];
static char waits[MANY][64]; /* labels of takers that have not ended; "": has */
static size_t n_lines, n_runs, n_waits;
static uint64_t limit = UINT64_MAX, slack;
static unsigned crimes;

#define crime(...) (crimes++, printf(__VA_ARGS__))

static double
ms(uint64_t at)
{
	return (double)(at - lines[0].at) / 1e6;
}

/* ---- the laws ------------------------------------------------------------------------------ */

static void
judge_weight(const struct run *r)
{
	uint64_t sum = 0, units;
	size_t i;

	for (i = 0; i < n_runs; i++) {
		if (runs[i].to <= r->from)
			continue;
		units = runs[i].weight;
		sum += units < limit ? units : limit;
	}
	if (sum > limit)
		crime("weight: %" PRIu64 " units at %.3f ms, when %d began with ticket %" PRIu64
		      ": the limit is %" PRIu64 "\n",
		      sum, ms(r->from), r->pid, r->ticket, limit);
}

static void
judge_order(const struct run *r)
{
	size_t i;

	for (i = 0; i < n_runs; i++)
		if (runs[i].ticket > r->ticket && runs[i].from + slack < r->from)
			crime("order: ticket %" PRIu64 " began at %.3f ms, %" PRIu64
			      " at %.3f ms\n",
			      runs[i].ticket, ms(runs[i].from), r->ticket, ms(r->from));
}

/* The others are those that began before. */
static void
judge_seat(const struct run *r)
{
	size_t i;

	for (i = 0; i + 1 < n_runs; i++) {
		if (runs[i].ticket == r->ticket)
			crime("once: ticket %" PRIu64 " has two runs, %d and %d\n", r->ticket,
			      runs[i].pid, r->pid);
		if (runs[i].seat != r->seat)
			continue;
		if (runs[i].to > r->from)
			crime("once: %d and %d run in seat %" PRIu64 " at %.3f ms\n", runs[i].pid,
			      r->pid, r->seat, ms(r->from));
		if (runs[i].ticket >= r->ticket)
			crime("seat: in seat %" PRIu64 " ticket %" PRIu64 " came after %" PRIu64
			      "\n",
			      r->seat, r->ticket, runs[i].ticket);
	}
}

static void
judge_ends(void)
{
	size_t i;

	for (i = 0; i < n_runs; i++)
		if (runs[i].to == UINT64_MAX)
			crime("end: the run of %d with ticket %" PRIu64 " never ended\n",
			      runs[i].pid, runs[i].ticket);
	for (i = 0; i < n_waits; i++)
		if (waits[i][0] != '\0')
			crime("end: the taker %s never ended\n", waits[i]);
}

/* ---- the log ------------------------------------------------------------------------------- */

static _Noreturn void
nonsense(const struct line *l)
{
	printf("line %zu makes no sense: %s %s\n", l->number, l->kind, l->rest);
	exit(2);
}

static void
begin(const struct line *l)
{
	struct run *r = &runs[n_runs++];

	r->from = l->at;
	r->to = UINT64_MAX;
	if (sscanf(l->rest, "%d %" SCNu64 " %" SCNu64 " %" SCNu64, &r->pid, &r->ticket, &r->seat,
		   &r->weight) != 4)
		nonsense(l);
	judge_weight(r);
	judge_order(r);
	judge_seat(r);
}

static void
end(const struct line *l)
{
	size_t i = n_runs;

	/* The last with this number: numbers are used again. */
	while (i-- > 0)
		if (runs[i].pid == atoi(l->rest))
			break;
	if (i == SIZE_MAX)
		nonsense(l);
	if (runs[i].to == UINT64_MAX)
		runs[i].to = l->at;
}

static void
gone(const struct line *l)
{
	char label[64];
	size_t i;

	if (sscanf(l->rest, "%63s %*d", label) != 1)
		nonsense(l);
	for (i = 0; i < n_waits; i++) {
		if (strcmp(waits[i], label) == 0) {
			waits[i][0] = '\0';
			return;
		}
	}
	nonsense(l);
}

static void
hear(const struct line *l)
{
	if (strcmp(l->kind, "BEGIN") == 0)
		begin(l);
	else if (strcmp(l->kind, "END") == 0 || strcmp(l->kind, "KILLED") == 0 ||
		 strcmp(l->kind, "DEAD") == 0)
		end(l);
	else if (strcmp(l->kind, "WAITS") == 0 && sscanf(l->rest, "%63s", waits[n_waits]) == 1)
		n_waits++;
	else if (strcmp(l->kind, "GONE") == 0)
		gone(l);
	else if (strcmp(l->kind, "LIMIT") == 0)
		limit = strtoull(l->rest, NULL, 10);
	else if (strcmp(l->kind, "SIGNAL") != 0 && strcmp(l->kind, "WATCHING") != 0)
		nonsense(l);
}

/* Written a little later than it happened, and so perhaps behind what happened later. */
static int
by_time(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static void
read_log(const char *path)
{
	FILE *f = fopen(path, "re");
	char text[512];
	struct line *l;

	if (f == NULL) {
		perror(path);
		exit(2);
	}
	while (fgets(text, sizeof(text), f) != NULL) {
		if (n_lines == MANY)
			exit(2);
		l = &lines[n_lines++];
		l->number = n_lines;
		if (sscanf(text, "%15s %" SCNu64 " %255[^\n]", l->kind, &l->at, l->rest) < 3)
			nonsense(l);
	}
	fclose(f);
}

int
main(int argc, char **argv)
{
	size_t i;
	int c;

	while ((c = getopt(argc, argv, "n:o:")) != -1) {
		if (c == 'n')
			limit = strtoull(optarg, NULL, 10);
		else if (c == 'o')
			slack = strtoull(optarg, NULL, 10) * 1000000;
		else
			return 2;
	}
	for (; optind < argc; optind++)
		read_log(argv[optind]);
	qsort(lines, n_lines, sizeof(lines[0]), by_time);
	for (i = 0; i < n_lines; i++)
		hear(&lines[i]);
	judge_ends();
	printf("%zu runs, %zu takers, %u crimes\n", n_runs, n_waits, crimes);
	return crimes != 0;
}
