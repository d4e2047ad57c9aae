/* SPDX-License-Identifier: ISC */
/*
 * flockmap - run a command for each item, under a shared limiter.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kind.h"
#include "commands.h"
#include "conduct.h"
#include "descriptors.h"
#include "environment.h"
#include "explain.h"
#include "find_program.h"
#include "joblog.h"
#include "jobs.h"
#include "now.h"
#include "option.h"
#include "pid1.h"
#include "question.h"
#include "results.h"
#include "say.h"
#include "screen.h"
#include "seats.h"
#include "signals.h"
#include "template.h"
#include "unlimited.h"

static int
run_dry(struct jobs *a)
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

/* --resume skips commands that failed.  That must not look like success. */
static void
say_skipped_failures(struct jobs *a)
{
	uint64_t n = joblog_skipped_failures();

	if (n == 0)
		return;
	jobs_settle(a, ITEM_FAILED);
	if (!a->o.quiet)
		screen_say(
		    a->o.want.limiter,
		    "%llu skipped item%s had failed before: use --resume-failed to run %s again",
		    (unsigned long long)n, n == 1 ? "" : "s", n == 1 ? "it" : "them");
}

static bool
begin(struct jobs *a, struct flk_map *map)
{
	bool line = !a->o.quiet && say_has_terminal();
	int error;

	if (conduct_lead(map))
		return true;
	screen_start(a->o.want.limiter, line, a->o.quiet, line ? input_total(a->source.input) : 0);
	error = conduct_start(&a->o);
	if (error != 0)
		say(NULL, "cannot start a thread: %s%s", strerror(error), remedy_for(error));
	return error == 0;
}

#define ALL_THE_SAME "; the items run without permits"

/* How a line ends that says why there is no permit. */
static const char *
tail(const struct jobs *a)
{
	return a->o.want.how.or_run && !a->o.unlimited ? ALL_THE_SAME : "";
}

static int
refuse_limiter(const struct jobs *a, int code)
{
	int status;

	say_tail = tail(a);
	status = limiter_refuse(&a->o.want, a->context.name, NULL, code);
	say_tail = NULL;
	return status;
}

/* Why there was no permit, or what is wrong. */
static int
refuse(struct jobs *a, int code)
{
	const char *limiter = a->several.name[0] != '\0' ? a->several.name : a->o.want.limiter;
	const char *why = NULL;
	char seats[SEATS_TEXT], closed[LIMITER_NAME + 64];

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
		snprintf(closed, sizeof(closed),
			 "the limiter is closed, until flocklimitctl open %s%s",
			 limiter_option(limiter), limiter);
		why = closed;
		break;
	case FLK_EVICTED:
		why = "cancelled";
		break;
	case FLK_STUCK:
		why = "another process keeps everyone out";
		break;
	case FLK_HEAVY:
		if (a->o.want.request.not_seats != 0)
			screen_say(
			    a->o.want.limiter,
			    "item %llu weighs %u, and --not-seat %s leaves too few seats, or the "
			    "limit is lower: it could never run; exclude fewer, or raise it with "
			    "-n%s",
			    (unsigned long long)a->dropped, a->dropped_weight,
			    seats_ranges(a->o.want.request.not_seats, seats), tail(a));
		else
			screen_say(a->o.want.limiter,
				   "item %llu weighs %u, which is above the limit: it could never "
				   "run; raise the limit with -n%s",
				   (unsigned long long)a->dropped, a->dropped_weight, tail(a));
		return FAILED;
	default:
		return refuse_limiter(a, code);
	}
	if (!a->o.quiet)
		screen_say(limiter, "no permit: %s%s", why,
			   *tail(a) != '\0' ? tail(a) : "; nothing more was started");
	return a->o.want.conflict_exit;
}

/*
 * We run under a permit of this limiter already: run one command after the other, under that
 * permit.
 */
static int
run_joined(struct jobs *a)
{
	struct flk_permit alone = a->context.permit;
	uint32_t weight;
	struct job *j;
	int got, error;

	alone.limit = 1; /* so many run at once here */
	if (!a->o.quiet)
		limiter_joined(&a->o.want, &alone);
	if (!begin(a, NULL))
		return FAILED;
	while ((got = source_next(&a->source, &j, &weight)) == 1) {
		error = jobs_work(a, j, NULL);
		jobs_done(a, j, 0);
		if (error != 0)
			return refuse(a, error);
	}
	return got == 0 ? 0 : FAILED;
}

static int
run_map(struct jobs *a)
{
	struct taker_options *w = &a->o.want;
	struct flk_options options = {
		.mode = w->mode, .stuck = jobs_say_stuck, .inside = conduct_inside, .context = a
	};
	struct timespec patience = flki_timespec(w->timeout_ns);
	struct flk_map_options m = { .options = &options,
				     .want = w->request,
				     .to = &w->to,
				     .which = w->which,
				     .patience = w->timeout_ns == NEVER ? NULL : &patience,
				     .in_order = a->o.order == IN_ORDER,
				     .go_on = true,
				     .context = a,
				     .next = jobs_next,
				     .waits = jobs_wait,
				     .work = jobs_work,
				     .done = jobs_done,
				     .drop = jobs_drop };
	struct question question;
	struct flk_map *map;
	int error;

	m.want.role = FLK_CREW;
	limiter_ask(w, &a->context.heritage, &m.want, &question);
	if (a->o.want.ands.n > 0)
		m.before = jobs_before;

	if ((error = here.map_new(&map, a->context.name, &m)) != 0)
		return error;
	if (begin(a, map))
		return flk_map_run(map);
	flk_map_free(map);
	return -ECANCELED;
}

/* No limiter that others share: 0, or after a line the status to exit with. */
static int
leave_limiter(struct jobs *a)
{
	int error;

	a->o.unlimited = true;
	error = unlimited_begin(&a->o.want, a->context.name);
	return error == 0 ? 0 : cannot_have("TMPDIR", error);
}

/* With --or-run what has no permit runs all the same, and all that comes behind it. */
static int
run_maps(struct jobs *a)
{
	int error = run_map(a), status;

	if (error == 0)
		return 0;
	status = refuse(a, error);
	if (!a->o.want.how.or_run || a->o.unlimited || error == -ECANCELED || conduct_is_ending())
		return status;
	if ((status = leave_limiter(a)) != 0)
		return status;
	error = run_map(a);
	return error == 0 ? 0 : refuse(a, error);
}

static bool
is_nested(struct jobs *a)
{
	struct flk_options existing = { .existing = true, .inside = conduct_inside };
	struct flk *limiter;
	bool nested;

	if (a->o.want.nested == NESTED_QUEUE ||
	    here.attach(&limiter, a->context.name, &existing) != 0) {
		if (!a->o.quiet)
			limiter_say_unfair(&a->o.want, NULL);
		return false;
	}
	nested = environment_find(limiter, &a->context.permit);
	if (!nested && !a->o.quiet)
		limiter_say_unfair(&a->o.want, limiter);
	a->several.identity = flk_identity(limiter);
	flk_detach(limiter);
	return nested;
}

/* A copy of argv for a store's program: map_options_split() cuts argv where the items begin. */
static char **
copy_words(int argc, char **argv)
{
	char **copy = calloc((size_t)argc + 1, sizeof(*copy));

	if (copy != NULL)
		memcpy(copy, argv, (size_t)argc * sizeof(*copy));
	return copy;
}

/* Opens what can fail before the first item: 0, or after a line the status to exit with. */
static int
prepare(struct jobs *a)
{
	int wake_fd, error, status;

	if (a->context.null_fd == -1 && (a->context.null_fd = open_null()) == -1)
		return cannot_have("/dev/null", errno);
	/* Before we create a limiter or a joblog, or wait for the first item. */
	if (template_is_fixed(&a->o.command) &&
	    (error = check_program(a->o.command.words[0])) != 0) {
		jobs_cannot_run(a, a->o.command.words[0], error);
		return cannot_run(error);
	}
	wake_fd = conduct_prepare();
	if (wake_fd == -1)
		return cannot_have("signalfd", errno);
	if (!can_wait_for_commands())
		return cannot_have("pidfd_open", errno);
	a->source.input = input_open(&a->o, wake_fd);
	if (a->source.input == NULL)
		return FAILED;
	if (!a->o.unlimited && (error = limiter_name(&a->o.want, a->context.name)) != 0) {
		status = refuse_limiter(a, error);
		if (!a->o.want.how.or_run)
			return status;
		a->o.unlimited = true;
	}
	if (results_open(&a->o) != OPTION_OK || joblog_open(&a->o) != OPTION_OK)
		return FAILED;
	return a->o.unlimited ? leave_limiter(a) : 0;
}

int
flockmap_main(int argc, char **argv)
{
	static struct jobs a;
	int status, sig;
	char **words = copy_words(argc, argv);

	say_program = "flockmap";
	a.context.null_fd = open_null();
	if (words == NULL) {
		say(NULL, "no memory");
		return FAILED;
	}
	status = map_options_parse(&a.o, argc, argv);
	if (status == OPTION_OK && !a.o.unlimited) {
		say_tail = tail(&a);
		a.o.unlimited = here.choose(&a.o.want, words) != OPTION_OK;
		status = a.o.unlimited && *say_tail == '\0' ? FAILED : OPTION_OK;
		say_tail = NULL;
	}
	free(words);
	if (status != OPTION_OK)
		return status;
	map_options_split(&a.o);
	kind_quiet(a.o.quiet);
	a.context.o = a.source.o = &a.o;
	a.source.context = &a.context;
	a.context.came = a.o.order == AS_LINES ? jobs_came : NULL;
	a.context.jobs = &a;
	heritage_save(&a.context.heritage);
	if ((status = pid1_split()) != -1)
		return status;
	signals_mask(SIG_SETMASK, &a.context.heritage.mask, NULL);
	raise_files(&a.context.heritage.files);
	on_fault(a.o.want.limiter, FAILED);
	if (a.o.dry_run)
		return run_dry(&a);
	if ((status = prepare(&a)) != 0)
		return status;
	limiter_count_units(&a.o.want);
	a.several.is_stuck = jobs_are_stuck;
	a.several.context = &a;
	if (a.o.want.ands.n > 0)
		several_prepare(&a.several, &a.o);
	status = !a.o.unlimited && is_nested(&a) ? run_joined(&a) : run_maps(&a);
	sig = conduct_stop();
	if (a.o.unlimited)
		unlimited_end(a.context.name);
	if (sig == 0)
		say_skipped_failures(&a);
	screen_end(a.said);
	joblog_close();
	input_close(a.source.input);
	if (a.status == 128 + SIGPIPE)
		sig = SIGPIPE;
	if (sig != 0)
		signal_die(sig);
	return status != 0 ? status : a.status;
}
