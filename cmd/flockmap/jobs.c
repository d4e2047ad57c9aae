/* SPDX-License-Identifier: ISC */
/*
 * jobs.c - what happens to each item: the functions that the library's map calls, from the thread
 * that leads it and from those that wait for the commands.
 */
#include "jobs.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "conduct.h"
#include "explain.h"
#include "item_wait.h"
#include "joblog.h"
#include "results.h"
#include "screen.h"
#include "stuck.h"

void
jobs_settle(struct jobs *a, int status)
{
	int none = 0;

	atomic_compare_exchange_strong(&a->status, &none, status);
}

/* ---- a beginning ---- */

int
jobs_before(void *jobs, void *item, struct flk *limiter)
{
	struct jobs *a = jobs;

	return several_before(&a->several, item, limiter);
}

int
jobs_next(void *jobs, void **item, struct flk_request *want)
{
	struct jobs *a = jobs;
	struct job *j;
	int got;

	item_wait_reset();
	j = a->again;
	a->again = NULL;
	got = j != NULL ? 1 : source_next(&a->source, &j, &want->weight);
	if (got == 1) {
		want->weight = a->o.unlimited && j->weight > want->limit && want->limit != 0
				   ? want->limit
				   : j->weight;
		if (a->o.weight_from != NULL)
			want->most = want->weight;
		want->command = j->text;
		*item = j;
	}
	return got;
}

uint64_t
jobs_wait(void *jobs, struct flk_taker *taker)
{
	struct jobs *a = jobs;

	return item_wait_show(&a->o, a->o.want.limiter, taker);
}

/* ---- an end ---- */

void
jobs_cannot_run(const struct jobs *a, const char *program, int error)
{
	if (error == ENOENT && strpbrk(a->o.command.words[0], " \t\n;|&<>$") != NULL)
		screen_say(a->o.want.limiter,
			   "cannot run '%s': the command is a program and its arguments, and not a "
			   "shell line: use -c",
			   program);
	else
		screen_say(a->o.want.limiter, "cannot run '%s': %s", program, strerror(error));
}

static void
fail(struct jobs *a, const struct job *j)
{
	char fate[64];

	/* A command that can't be executed ends everything, and has a line of its own below. */
	if (j->exec_error == 0 && !conduct_has_sent())
		screen_failed(j->number, j->items[0], job_fate(j, fate));
	jobs_settle(a, j->exec_error != 0 ? cannot_run(j->exec_error) : ITEM_FAILED);
	if (j->exec_error == 0 && (a->o.fail_fast == GO_ON || conduct_has_sent()))
		return;
	if (!conduct_end(a->o.fail_fast == END_ALL))
		return;
	if (j->exec_error != 0)
		jobs_cannot_run(a, j->argv[0], j->exec_error);
	else
		screen_say(a->o.want.limiter, "item %llu '%.100s' failed: %s",
			   (unsigned long long)j->number, j->items[0], job_fate(j, fate));
	a->said += j->exec_error == 0;
}

/* Under every permit of the job.  Returns what jobs_work() does. */
static int
work(struct jobs *a, struct job *j, struct flk_taker *taker)
{
	bool ended;
	int error;

	if (a->o.want.ands.n > 0 && (error = several_take_rest(&a->several, j, taker)) != 0) {
		item_wait_end();
		conduct_end(false);
		return error == -FLK_CANCELLED ? 0 : error;
	}
	item_wait_end();
	error = conduct_is_ending() ? -ECANCELED : job_run(j, &a->context, taker);
	if (error == -ECANCELED)
		return 0;
	if (error != 0) {
		jobs_settle(a, FAILED);
		if (conduct_end(false))
			screen_say(a->o.want.limiter, "cannot start a process: %s%s",
				   error > -FLK_BADNAME ? strerror(-error) : explain(error),
				   remedy_for(-error));
		return 0;
	}
	/* A command that we ended is not logged: --resume must run it again. */
	ended = job_exit(j) == 0 || !conduct_has_sent();
	if (ended && (results_add(j) != 0 || joblog_add(j) != 0)) {
		jobs_settle(a, FAILED);
		conduct_end(false);
	}
	if (ended)
		screen_ended();
	if (job_exit(j) != 0)
		fail(a, j);
	return 0;
}

/*
 * The job gives its permits back when it is known whether the map goes on: with --fail-fast, an item
 * that waits for one of them must not start.  The taker is given back by our caller.
 */
int
jobs_work(void *jobs, void *item, struct flk_taker *taker)
{
	struct jobs *a = jobs;
	struct job *j = item;
	int code = work(a, j, taker);

	several_free(j);
	job_forget_words(j, a->o.tag);
	return code;
}

/* All that is left, or only whole lines. */
static void
print(struct jobs *a, const struct job *j, struct capture *c, int fd, bool lines)
{
	const char *tag = a->o.tag ? j->items[0] : NULL;
	int error;

	if (c->total == c->printed)
		return;
	screen_take();
	conduct_await_terminal(fd, SIGTTOU);
	error = lines ? capture_print_lines(c, fd, tag, a->o.results != NULL)
		      : capture_print(c, fd, tag);
	screen_give();
	if (error == 0)
		return;
	jobs_settle(a, error == -EPIPE ? 128 + SIGPIPE : FAILED);
	if (conduct_end(error == -EPIPE) && error != -EPIPE)
		screen_say(NULL, "%s: %s", fd == STDOUT_FILENO ? "stdout" : "stderr",
			   strerror(-error));
}

void
jobs_came(void *jobs, struct job *j)
{
	print(jobs, j, &j->out, STDOUT_FILENO, true);
	print(jobs, j, &j->err, STDERR_FILENO, true);
}

void
jobs_done(void *jobs, void *item, int result)
{
	struct jobs *a = jobs;
	struct job *j = item;

	(void)result;
	print(a, j, &j->out, STDOUT_FILENO, false);
	print(a, j, &j->err, STDERR_FILENO, false);
	job_free(j);
}

void
jobs_drop(void *jobs, void *item)
{
	struct jobs *a = jobs;
	struct job *j = item;

	item_wait_end();
	a->dropped = j->number;
	a->dropped_weight = j->weight;
	several_free(j);
	if (a->o.want.how.or_run && !a->o.unlimited)
		a->again = j;
	else
		job_free(j);
}

/* One line for each process that keeps us out; the thread that finds it first prints it. */
bool
jobs_are_stuck(void *jobs, const char *limiter, pid_t pid)
{
	struct jobs *a = jobs;
	char why[STUCK_TEXT];

	if (a->o.want.timeout_ns == 0 || conduct_is_ending() || item_wait_is_over())
		return false;
	if (!a->o.quiet && atomic_exchange(&a->stuck, pid + 1) != pid + 1)
		screen_say(limiter, "waiting: %s", stuck_text(pid, why));
	return true;
}

bool
jobs_say_stuck(void *jobs, pid_t pid)
{
	struct jobs *a = jobs;

	return jobs_are_stuck(a, a->o.want.limiter, pid);
}
