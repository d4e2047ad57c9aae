/*
 * flockmap - run a command for each item, under a limiter.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conduct.h"
#include "elsewhere.h"
#include "environment.h"
#include "explain.h"
#include "find.h"
#include "init.h"
#include "job.h"
#include "joblog.h"
#include "option.h"
#include "say.h"
#include "screen.h"
#include "signals.h"
#include "source.h"
#include "standing.h"
#include "stuck.h"
#include "template.h"
#include "tend.h"

#define FAILED      125
#define ITEM_FAILED 123

struct all {
	struct options o;
	struct place place;
	struct source source;
	_Atomic pid_t stuck; /* 1 + the process that was said to keep everyone out */
	_Atomic int status;  /* to exit with, the first that is not 0 */

	/* Of the jobs that failed, how many a line of their own has named. */
	_Atomic uint64_t said;

	/* The last that got no permit, for a line about it. */
	uint64_t dropped;
	uint32_t dropped_weight;
};

static void
settle(struct all *a, int status)
{
	int none = 0;

	atomic_compare_exchange_strong(&a->status, &none, status);
}

/* ---- a job's beginning ---- */

static int
next_item(void *context, void **item, struct flk_request *want)
{
	struct all *a = context;
	struct job *j;
	int got;

	standing_begin();
	got = source_next(&a->source, &j, &want->weight);
	if (got == 1) {
		want->command = j->text;
		*item = j;
	}
	return got;
}

static uint64_t
waits(void *context, struct flk_taker *taker)
{
	struct all *a = context;

	return standing_wait(&a->o, taker);
}

/* ---- its end ---- */

static void
say_cannot_run(const struct all *a, const char *program, int error)
{
	if (error == ENOENT && strpbrk(a->o.command[0], " \t\n;|&<>$") != NULL)
		screen_say(a->o.want.limiter,
			   "cannot run '%s': the command is a program and its arguments, and not a "
			   "shell line: use sh -c",
			   program);
	else
		screen_say(a->o.want.limiter, "cannot run '%s': %s", program, strerror(error));
}

static void
fail(struct all *a, const struct job *j)
{
	char fate[64];

	/* A command that can't be run ends all, and the line below says everything about it. */
	if (j->exec_error == 0 && !conduct_has_sent())
		screen_failed(j->number, j->items[0], job_fate(j, fate));
	settle(a, j->exec_error != 0 ? cannot_run(j->exec_error) : ITEM_FAILED);
	if (j->exec_error == 0 && (a->o.fail_fast == GO_ON || conduct_has_sent()))
		return;
	if (!conduct_end(a->o.fail_fast == END_ALL))
		return;
	if (j->exec_error != 0)
		say_cannot_run(a, j->argv[0], j->exec_error);
	else
		screen_say(a->o.want.limiter, "item %llu '%.100s' failed: %s",
			   (unsigned long long)j->number, j->items[0], job_fate(j, fate));
	a->said += j->exec_error == 0;
}

static int
work(void *context, void *item, struct flk_taker *taker)
{
	struct all *a = context;
	struct job *j = item;
	bool ended;
	int error;

	standing_end();
	error = conduct_is_ending() ? -ECANCELED : job_run(j, &a->place, taker);
	if (error == -ECANCELED)
		return 0;
	if (error != 0) {
		settle(a, FAILED);
		if (conduct_end(false))
			screen_say(a->o.want.limiter, "cannot start a process: %s%s",
				   error > -FLK_BADNAME ? strerror(-error) : explain(error),
				   error == -EAGAIN   ? ": raise ulimit -u, or let others end"
				   : error == -EMFILE ? ": raise ulimit -n"
						      : "");
		return 0;
	}
	/* What we ended is to be done again. */
	ended = job_exit(j) == 0 || !conduct_has_sent();
	if (ended && joblog_add(j) != 0) {
		settle(a, FAILED);
		conduct_end(false);
	}
	if (ended)
		screen_ended();
	if (job_exit(j) != 0)
		fail(a, j);
	return 0;
}

static void
print(struct all *a, const struct capture *c, int fd, const char *tag)
{
	int error;

	if (c->total == 0)
		return;
	screen_take();
	conduct_await_terminal(fd, SIGTTOU);
	error = capture_print(c, fd, tag);
	screen_give();
	if (error == 0)
		return;
	settle(a, error == -EPIPE ? 128 + SIGPIPE : FAILED);
	if (conduct_end(error == -EPIPE) && error != -EPIPE)
		screen_say(NULL, "%s: %s", fd == STDOUT_FILENO ? "stdout" : "stderr",
			   strerror(-error));
}

static void
done(void *context, void *item, int result)
{
	struct all *a = context;
	struct job *j = item;

	(void)result;
	print(a, &j->out, STDOUT_FILENO, a->o.tag ? j->items[0] : NULL);
	print(a, &j->err, STDERR_FILENO, a->o.tag ? j->items[0] : NULL);
	job_free(j);
}

static void
drop(void *context, void *item)
{
	struct all *a = context;
	struct job *j = item;

	standing_end();
	a->dropped = j->number;
	a->dropped_weight = j->weight;
	job_free(j);
}

/* ---- the whole ---- */

static int
run_dry(struct all *a)
{
	struct job *j;
	bool failed = false;
	char *line;

	if ((a->source.input = input_open(&a->o, -1)) == NULL)
		return FAILED;
	while (!ferror(stdout) && (j = source_read(&a->source, &failed)) != NULL) {
		line = template_quote(j->argv);
		if (line != NULL)
			puts(line);
		else
			failed = true;
		free(line);
		job_free(j);
	}
	if (fflush(stdout) != 0 || ferror(stdout)) {
		say(NULL, "stdout: %s", strerror(errno));
		return FAILED;
	}
	return failed ? FAILED : 0;
}

/* --resume skips commands that failed; that they are not run again must not look like success. */
static void
tell_skipped_failures(struct all *a)
{
	uint64_t n = joblog_skipped_failures();

	if (n == 0)
		return;
	settle(a, ITEM_FAILED);
	if (!a->o.quiet)
		screen_say(
		    a->o.want.limiter,
		    "%llu skipped item%s had failed before: use --resume-failed to run %s again",
		    (unsigned long long)n, n == 1 ? "" : "s", n == 1 ? "it" : "them");
}

static bool
begin(struct all *a, struct flk_map *map)
{
	bool line = !a->o.quiet && say_has_terminal();
	int error;

	screen_start(a->o.want.limiter, line, a->o.quiet, line ? input_total(a->source.input) : 0);
	error = conduct_start(&a->o, map);
	if (error != 0)
		say(NULL, "cannot start a thread: %s: raise ulimit -u", strerror(error));
	return error == 0;
}

/* Under a permit of this limiter already: one after the other, under that. */
static int
run_joined(struct all *a)
{
	struct flk_permit alone = a->place.permit;
	uint32_t weight;
	struct job *j;
	int got;

	a->place.joined = true;
	alone.limit = 1; /* that is how many run at once here */
	if (!a->o.quiet)
		limiter_joined(&a->o.want, &alone);
	if (!begin(a, NULL))
		return FAILED;
	while ((got = source_next(&a->source, &j, &weight)) == 1) {
		work(a, j, NULL);
		done(a, j, 0);
	}
	return got == 0 ? 0 : FAILED;
}

/* Why there was no permit, or what is wrong. */
static int
refuse(struct all *a, int code)
{
	const char *why = NULL;

	switch (-code) {
	case ECANCELED: /* said */
		return FAILED;
	case ETIMEDOUT:
		why = "an item waited longer than --timeout (to limit its run use -T)";
		break;
	case EAGAIN:
		why = "an item would have to wait";
		break;
	case FLK_FULL:
		why = "too many others wait already (--max-queue)";
		break;
	case FLK_CLOSED:
		why = "the limiter is closed, until flocklimitctl open";
		break;
	case FLK_EVICTED:
		why = "cancelled";
		break;
	case FLK_STUCK:
		why = "another process keeps everyone out";
		break;
	case FLK_HEAVY:
		screen_say(
		    a->o.want.limiter,
		    "item %llu weighs %u, which is above the limit: it could never run; raise "
		    "the limit with -n",
		    (unsigned long long)a->dropped, a->dropped_weight);
		return FAILED;
	default:
		return limiter_refuse(&a->o.want, a->place.name, NULL, code);
	}
	if (!a->o.quiet)
		screen_say(a->o.want.limiter, "no permit: %s; nothing more was started", why);
	return a->o.conflict_exit;
}

/* Once for each process; by whichever thread finds it first. */
static bool
say_that_stuck(void *context, pid_t pid)
{
	struct all *a = context;
	char why[STUCK_TEXT];

	if (a->o.want.timeout_ns == 0 || conduct_is_ending() || standing_is_over())
		return false;
	if (!a->o.quiet && atomic_exchange(&a->stuck, pid + 1) != pid + 1)
		screen_say(a->o.want.limiter, "waiting: %s", stuck_text(pid, why));
	return true;
}

static int
run_map(struct all *a)
{
	struct want *w = &a->o.want;
	struct flk_options options = {
		.mode = w->mode, .stuck = say_that_stuck, .inside = conduct_inside, .context = a
	};
	struct timespec patience = { .tv_sec = (time_t)(w->timeout_ns / 1000000000),
				     .tv_nsec = (long)(w->timeout_ns % 1000000000) };
	struct flk_map_options m = { .options = &options,
				     .want = { .weight = w->weight,
					       .limit = w->percent != 0 ? flk_cpus(w->percent)
									: w->limit,
					       .limit_queue = w->limit_queue,
					       .max_queue = w->max_queue,
					       .role = FLK_CREW },
				     .pace = &w->pace,
				     .pacing = w->pacing,
				     .patience = w->timeout_ns == NEVER ? NULL : &patience,
				     .in_order = a->o.order == IN_ORDER,
				     .go_on = true,
				     .context = a,
				     .next = next_item,
				     .waits = waits,
				     .work = work,
				     .done = done,
				     .drop = drop };
	struct flk_map *map;
	int error;

	if ((error = flk_map_new(&map, a->place.name, &m)) != 0)
		return refuse(a, error);
	if (!begin(a, map)) {
		flk_map_free(map);
		return FAILED;
	}
	error = flk_map_run(map);
	return error == 0 ? 0 : refuse(a, error);
}

static bool
is_nested(struct all *a)
{
	struct flk_options existing = { .existing = true, .inside = conduct_inside };
	struct flk *limiter;
	bool nested;

	if (a->o.queue_nested || getenv("FLOCKLIMIT_HELD") == NULL ||
	    flk_attach(&limiter, a->place.name, &existing) != 0)
		return false;
	nested = environment_find(limiter, &a->place.permit);
	flk_detach(limiter);
	return nested;
}

/* Each command that runs takes five; the commands themselves get what we were given. */
static void
raise_files(struct rlimit *given)
{
	struct rlimit more;

	if (getrlimit(RLIMIT_NOFILE, given) == -1 || given->rlim_cur == given->rlim_max) {
		given->rlim_cur = 0;
		return;
	}
	more = *given;
	more.rlim_cur = more.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &more) == -1)
		given->rlim_cur = 0;
}

/* As it was typed: parsing cuts it where the items begin. */
static char **
copy_words(int argc, char **argv)
{
	char **copy = calloc((size_t)argc + 1, sizeof(*copy));

	if (copy != NULL)
		memcpy(copy, argv, (size_t)argc * sizeof(*copy));
	return copy;
}

int
main(int argc, char **argv)
{
	static struct all a;
	int status, wake_fd, error, sig;
	char **words = copy_words(argc, argv);

	do /* as 0, 1 and 2 if these are closed: pipes must not become them */
		a.place.null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	while (a.place.null_fd != -1 && a.place.null_fd <= 2);
	if (words == NULL) {
		say(NULL, "no memory");
		return FAILED;
	}
	status = options_parse(&a.o, argc, argv);
	if (status == OPTION_OK)
		status = elsewhere(&a.o.want, words);
	free(words);
	if (status != OPTION_OK)
		return status;
	options_split(&a.o);
	tend_quiet(a.o.quiet);
	a.place.o = a.source.o = &a.o;
	a.source.place = &a.place;
	heritage_save(&a.place.heritage);
	if ((status = init_split()) != -1)
		return status;
	signals_mask(SIG_SETMASK, &a.place.heritage.mask, NULL);
	raise_files(&a.place.heritage.files);
	on_fault(a.o.want.limiter, FAILED);
	if (a.o.dry_run)
		return run_dry(&a);
	/* Before a limiter or a joblog is made, and before the first item is waited for. */
	if (template_is_fixed(&a.o, a.o.command[0]) && (error = look_for(a.o.command[0])) != 0) {
		say_cannot_run(&a, a.o.command[0], error);
		return cannot_run(error);
	}
	wake_fd = conduct_prepare();
	if (wake_fd == -1 || a.place.null_fd == -1) {
		say(NULL, "cannot open a file descriptor: %s", strerror(errno));
		return FAILED;
	}
	a.source.input = input_open(&a.o, wake_fd);
	if (a.source.input == NULL)
		return FAILED;
	if ((error = limiter_name(&a.o.want, a.place.name)) != 0)
		return limiter_refuse(&a.o.want, a.place.name, NULL, error);
	if (joblog_open(&a.o) != OPTION_OK)
		return FAILED;
	status = is_nested(&a) ? run_joined(&a) : run_map(&a);
	sig = conduct_stop();
	if (sig == 0)
		tell_skipped_failures(&a);
	screen_end(a.said);
	joblog_close();
	input_close(a.source.input);
	if (a.status == 128 + SIGPIPE)
		sig = SIGPIPE;
	if (sig != 0)
		signal_die(sig);
	return status != 0 ? status : a.status;
}
