/* SPDX-License-Identifier: ISC */
/*
 * flocklimit - run a command when a limiter has room for it.
 */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kind.h"
#include "background.h"
#include "commands.h"
#include "environment.h"
#include "explain.h"
#include "fd.h"
#include "flocklimit.h"
#include "habits.h"
#include "hold.h"
#include "job.h"
#include "jobserver.h"
#include "limiter.h"
#include "parse.h"
#include "pid1.h"
#include "pin.h"
#include "ready.h"
#include "run.h"
#include "say.h"
#include "seats.h"
#include "shim.h"
#include "spawn.h"
#include "tree.h"

#define FAILED 125

static char **
make_environment(const struct job *j)
{
	char links[ALSO_LINKS], room[LIMITER_NAME];

	if (j->bare)
		return environ;
	links[0] = '\0';
	if (!j->joined)
		environment_link(j->limiter, j->is_kept ? j->slot : flk_slot(j->taker),
				 j->permit.ticket, links);
	also_links(&j->also, links);
	return environment_make(limiter_for_command(j->path, room), &j->permit,
				links[0] != '\0' ? links : NULL,
				j->joined ? NULL : kind_key(j->taker));
}

/* A joined permit counts as well: it is the permit of the one job that needs no token. */
static struct jobserver *
open_jobserver(struct job *j)
{
	uint32_t jobs = j->permit.limit / j->o.want.request.weight;
	struct jobserver_plan plan = {
		.limiter = j->limiter,
		.limiter_name = j->o.want.limiter,
		.want = { .weight = j->o.want.request.weight,
			  .limit = j->o.want.request.limit,
			  .role = FLK_CREW },
		/* An operator has set the limit below one job's weight: one job runs alone. */
		.jobs = jobs > 0 ? jobs : 1,
		.style = j->o.want.how.style,
		.command = j->o.command,
		.quiet = j->o.want.how.quiet
	};

	return jobserver_open(&plan, &j->heritage);
}

static struct jobserver *
begin_jobserver(struct job *j)
{
	const struct manner *how = &j->o.want.how;
	char **command = j->o.command;

	if (how->drops_jobs)
		command = clients_drop_jobs(command, j->o.want.limiter, how->verbose);
	if (command == NULL) {
		say(j->o.want.limiter, "no memory for the command");
		return NULL;
	}
	j->o.command = command;
	return open_jobserver(j);
}

/* What the user may have meant by the first word; "" if nothing is known. */
static const char *
advice(const struct options *o)
{
	const char *word = o->command[0], *hint = suggest_habit(word, word_habits);
	uint64_t ns;

	if (hint != NULL)
		return hint;
	if (strncmp(word, ":::", 3) == 0)
		return "for a command per item use flockmap";
	if (o->command[1] != NULL && parse_duration(word, &ns))
		return "for timeout's DURATION use -T DUR";
	if (word[strspn(word, "0123456789")] == '\0')
		return "for an open descriptor use --fd N";
	if (strpbrk(word, " \t;|&<>") != NULL)
		return "for a shell line use -c";
	if (strchr(word, '/') != NULL && o->command[1] != NULL)
		return o->want.weight_given
			   ? "for a lock file use -f PATH, and for flock's -w use -t"
			   : "for a lock file use -f PATH";
	return "";
}

static int
cannot_start(const struct job *j, int error)
{
	const char *hint = advice(&j->o), *program = j->heritage.program;

	say(j->o.want.limiter, "cannot run '%s': %s%s%s",
	    program != NULL ? program : j->o.command[0], strerror(error), *hint != '\0' ? ": " : "",
	    hint);
	return cannot_run(error);
}

/*
 * The command is ready, and runs on without a permit.  Nothing of the limiter stays open.  A file that
 * was cut short meanwhile has no permits left, and must not be touched.
 */
static void
give_back(void *job)
{
	struct job *j = job;

	if (flk_verify(j->limiter) != -FLK_DAMAGED) {
		flk_ended(j->taker, FLK_READY);
		also_ended(&j->also, FLK_READY, &(struct usage){ .memory = 0 });
		job_release(j);
		job_close(j);
	} else {
		also_release(&j->also, 0, UINT64_MAX);
	}
	j->taker = NULL;
}

/* A joined permit is not ours to give back. */
static int
open_ready(struct job *j, struct ready **ready)
{
	if (!j->o.until_ready || j->bare)
		return 0;
	if (job_holds(j))
		return (*ready = ready_open(&j->o, give_back, j)) != NULL ? 0 : -1;
	if (!j->o.want.how.quiet)
		say(j->o.want.limiter, "--until-ready has no effect: this command joins the permit "
				       "that it runs under, and that permit is not its own");
	return 0;
}

/* Whether the command may start. */
static bool
open_pin(struct job *j, struct pin **pin)
{
	const char *tail = options_tail(&j->o);
	char list[SEATS_TEXT];
	int error;

	if (!j->o.want.how.pin || j->bare)
		return true;
	if (j->joined) {
		if (!j->o.want.how.quiet && !options_given(&j->o.want.declared, "pin"))
			say(j->o.want.limiter, "--pin has no effect: this command joins the permit "
					       "that it runs under, and runs where that one does");
		return true;
	}
	*pin = pin_new(&j->o, j->limiter, &j->permit);
	error = *pin == NULL ? ENOMEM : pin_adopts(*pin) ? tree_begin() : 0;
	if (error == 0)
		error = pin_enter(*pin);
	if (error == 0)
		return true;
	if (error == EINVAL)
		say(j->o.want.limiter,
		    "--pin: the limit has become %u, and there are no usable CPUs for seats %s%s",
		    j->permit.limit,
		    j->permit.seats != 0 ? seats_ranges(j->permit.seats, list) : "above 63",
		    tail != NULL ? ": it runs on all" : ": use flocklimitctl limit");
	else
		say(j->o.want.limiter,
		    "--pin: the command can't be given the CPUs of seats %s: %s%s",
		    seats_ranges(j->permit.seats, list), strerror(error),
		    tail != NULL ? "; it runs on all" : "");
	pin_free(*pin);
	*pin = NULL;
	return tail != NULL;
}

static int
run_command(struct job *j)
{
	struct jobserver *server = NULL;
	struct ready *ready = NULL;
	struct pin *pin = NULL;
	int error = 0, status;
	char **envp;
	pid_t pid;

	j->end = (struct ending){ .status = FLK_UNKNOWN };
	if (j->o.background && (status = background_begin(&j->o, &j->heritage)) != -1)
		return status;
	if (j->o.want.how.jobserver && !j->bare && (server = begin_jobserver(j)) == NULL)
		return FAILED;
	if (open_ready(j, &ready) != 0)
		return FAILED;
	if (j->o.shim != NULL) {
		shim_starts(j->o.shim, !j->o.no_fork);
		j->heritage.program = j->o.command[0];
		j->o.command[0] = (char *)(uintptr_t)j->o.shim;
	}
	envp = make_environment(j);
	if (envp == NULL) {
		say(j->o.want.limiter, "no memory for the environment");
		return FAILED;
	}
	if (!open_pin(j, &pin))
		return FAILED;
	if (j->o.no_fork) {
		if (job_is_taker(j))
			flk_entrust(j->taker);
		also_entrust(&j->also);
		error = become(j->o.command, envp, &j->heritage);
		status = cannot_start(j, error);
		j->end.status = status << 8; /* as wait(2) has it */
		return status;
	}
	j->heritage.taker = job_is_taker(j) ? j->taker : NULL;
	on_fault(j->o.want.limiter, FAULT_SLEEPS);
	if (j->o.want.how.tree && (error = tree_begin()) != 0)
		say(j->o.want.limiter, "--tree: %s: only the command itself is waited for",
		    strerror(error));
	pid = spawn(j->o.command, envp, &j->heritage, &error);
	if (pin != NULL)
		pin_leave(pin);
	if (pid == -1) {
		say(j->o.want.limiter, "cannot start a process: %s%s", strerror(errno),
		    remedy_for(errno));
		return FAILED;
	}
	if (job_is_taker(j))
		kind_working(j->taker, pid);
	if (j->o.background && error == 0)
		background_started();
	ready_from(ready, pid);
	jobserver_from(server, pid);
	status = run(&j->o, pid, server, ready, pin, &j->end);
	pin_free(pin);
	ready_close(ready);
	jobserver_close(server);
	if (!j->bare)
		free(envp);
	if (error == 0)
		return status;
	j->end.usage.memory = 0; /* it was our own child, not the command */
	return cannot_start(j, error);
}

/* ---- without a permit ---- */

static int
run_bare(struct job *j)
{
	say_tail = NULL;
	j->joined = j->bare = true;
	on_fault(j->o.want.limiter, FAULT_SLEEPS);
	return run_command(j);
}

/* ---- with one ---- */

/* The code of job_take(): prints why there is no permit, if that was not said; the exit status. */
static int
refuse(struct job *j, int code)
{
	switch (-code) {
	case ETIMEDOUT:
	case EAGAIN:
	case EALREADY:
	case FLK_FULL:
	case FLK_CLOSED:
	case FLK_EVICTED:
		return j->o.want.conflict_exit;
	case FLK_STUCK:
		/* Else line_take() has printed a line. */
		if (j->taker == NULL || (j->also.failed != NULL && j->also.failed->taker == NULL))
			job_refuse(j, code);
		return j->o.want.conflict_exit;
	default:
		if (j->said)
			return FAILED;
		return fd_refuse(&j->o, code) ? FAILED : job_refuse(j, code);
	}
}

static int
run_all_the_same(struct job *j, int code)
{
	/* What was mapped of a file that was cut short must not be touched. */
	if (code != -FLK_DAMAGED)
		job_close(j);
	return run_bare(j);
}

static int
work(struct job *j)
{
	int status = j->o.hold_for != 0 ? hold_keep(&j->o, j->taker) : run_command(j);

	if (j->o.hold_for != 0)
		also_close(&j->also);
	/* The command has ended: damage to the limiter's file does not change its exit status. */
	on_fault(j->o.want.limiter, status);
	if (j->o.hold_for == 0 && job_holds(j)) {
		if (job_is_taker(j))
			usage_record(j->taker, j->end.status, &j->end.usage);
		also_ended(&j->also, j->end.status, &j->end.usage);
		if (job_release(j) == -FLK_LOST)
			status = LOST_STATUS;
		sched_yield(); /* let the next holder start its command before we exit */
	}
	return status;
}

/* The processes that are between us and the command.  -1: go on. */
static int
prepare(struct job *j)
{
	int status;

	/* By which a fair limiter may count us; a process that we split off has another. */
	if (j->o.hold_for != 0 || j->o.background || j->o.want.how.keep_ns != 0)
		j->o.want.request.session = getsid(0);
	if (j->o.hold_for != 0 && (status = hold_split(&j->o)) != -1)
		return status;
	if (j->o.background && (status = background_split(&j->o)) != -1)
		return status;
	kind_quiet(j->o.want.how.quiet);
	heritage_save(&j->heritage);
	return !j->o.no_fork && j->o.fd == -1 ? pid1_split() : -1;
}

/* No limiter was touched, and none will be. */
static int
run_unlimited(struct job *j)
{
	int status;

	if (!options_run(&j->o))
		return 0;
	if (!j->o.background && !j->o.want.how.tree && j->o.want.run_timeout_ns == NEVER)
		j->o.no_fork = true;
	status = prepare(j);
	return status != -1 ? status : run_bare(j);
}

int
flocklimit_main(int argc, char **argv)
{
	static struct job j;
	int status, error;

	say_program = "flocklimit";
	if ((status = shim_words(&argc, &argv)) != -1)
		return status;
	if ((status = options_parse(&j.o, argc, argv)) != -1)
		return status;
	j.words = argv;
	if (j.o.unlimited)
		return run_unlimited(&j);
	if (j.o.fd != -1 && (status = fd_find(&j.o, j.fd_path)) != -1)
		return status;
	say_tail = options_tail(&j.o);
	if ((status = here.choose(&j.o.want, argv)) != -1)
		return say_tail != NULL ? run_unlimited(&j) : status;
	say_tail = NULL;
	if ((status = prepare(&j)) != -1)
		return status;
	on_fault(j.o.want.limiter, FAILED);
	kind_open(&j.heritage.mask);
	error = limiter_name(&j.o.want, j.path);
	if (error == 0 && j.o.unlock)
		return fd_unlock(&j.o, j.path);
	if (error == 0)
		error = job_take(&j);
	if (error == -ETIMEDOUT && flocklimit_overflow != NULL)
		error = job_take_overflow(&j);
	if (error == 0 && j.o.fd != -1 && !j.joined)
		error = fd_entrust(&j.o, j.taker);
	kind_open(NULL);
	if (j.cannot_run != 0)
		return cannot_start(&j, j.cannot_run);
	if (error != 0) {
		say_tail = options_tail(&j.o);
		status = refuse(&j, error);
		return say_tail != NULL ? run_all_the_same(&j, error) : status;
	}
	return j.o.fd != -1 ? 0 : work(&j);
}
