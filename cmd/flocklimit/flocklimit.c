/* SPDX-License-Identifier: ISC */
/*
 * flocklimit - run a command when a limiter has room for it.
 */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend.h"
#include "background.h"
#include "commands.h"
#include "environment.h"
#include "fd.h"
#include "find_program.h"
#include "flocklimit.h"
#include "hold.h"
#include "jobserver.h"
#include "limiter.h"
#include "line.h"
#include "options.h"
#include "patience.h"
#include "pid1.h"
#include "ready.h"
#include "run.h"
#include "say.h"
#include "spawn.h"
#include "store_exec.h"
#include "tend.h"

#define FAILED 125

const char *flocklimit_overflow;

struct job {
	struct options o;
	struct heritage heritage;
	char path[LIMITER_NAME], fd_path[LIMITER_NAME];
	struct patience patience;
	struct flk *limiter;
	struct flk_taker *taker;
	struct flk_permit permit;
	bool joined;    /* under a permit that we run under already */
	int cannot_run; /* why the program can't be executed, if attach() found that out; else 0 */
	int ended;      /* for flk_ended(): how the command ended */
};

/*
 * A limiter that does not exist yet is created only for a program that can be executed.  If the
 * limiter exists we do not look for the program first, which saves time: exec finds out.
 */
static int
attach(struct job *j)
{
	bool runs = options_run(&j->o);
	struct flk_options options = { .existing = runs && !backend_is_store(),
				       .mode = j->o.want.mode,
				       .stuck = patience_stuck,
				       .context = &j->patience };
	int error = -ENOENT;

	if (options.existing)
		error = backend_attach(&j->limiter, j->path, &options);
	if (error != -ENOENT)
		return error;
	if (runs && (j->cannot_run = check_program(j->o.command[0])) != 0)
		return -ECANCELED;
	options.existing = false;
	return backend_attach(&j->limiter, j->path, &options);
}

static int
open_limiter(struct job *j)
{
	int error;

	if ((error = attach(j)) != 0)
		return error;
	limiter_count_units(&j->o.want);
	if ((error = limiter_set_pace(&j->o.want, j->limiter)) != 0)
		return error;
	return flk_taker_new(&j->taker, j->limiter);
}

static void
close_limiter(struct job *j)
{
	flk_taker_free(j->taker);
	flk_detach(j->limiter);
	j->taker = NULL;
	j->limiter = NULL;
}

/* The words of the command, which flocklimitctl shows. */
static const char *
command_line(const struct job *j, char text[FLK_COMMAND])
{
	size_t n = 0, i;

	if (j->o.hold_for != 0) {
		snprintf(text, FLK_COMMAND, "--hold-for %d", (int)j->o.hold_for);
		return text;
	}
	if (j->o.fd != -1) {
		fd_words(&j->o, text);
		return text;
	}
	text[0] = '\0';
	for (i = 0; j->o.command[i] != NULL && n < FLK_COMMAND; i++)
		n += (size_t)snprintf(text + n, FLK_COMMAND - n, "%s%s", i > 0 ? " " : "",
				      j->o.command[i]);
	return text;
}

/*
 * 0 with a permit, or the library's code.
 *
 * If the limiter's file was removed, newcomers create another limiter: we release a permit of the
 * old one, and take one of the new.  If the kernel has marked our taker as dead by mistake, it has
 * lost its place in the line: a new taker joins the line.
 */
static int
take_permit(struct job *j)
{
	char text[FLK_COMMAND];
	struct flk_request want = { .limit_queue = j->o.want.limit_queue,
				    .max_queue = j->o.want.max_queue,
				    .command = command_line(j, text),
				    .role = j->o.hold_for != 0 ? FLK_KEEPER
					    : j->o.no_fork     ? FLK_WORKER
							       : FLK_WRAPPER };
	uint64_t deadline = 0;
	int error, guard;

	j->patience = (struct patience){ .o = &j->o, .mask = &j->heritage.mask, .said = -1 };
	for (;;) {
		if ((error = open_limiter(j)) != 0)
			return error;
		if (j->o.fd != -1 &&
		    (error = fd_holds(&j->o, j->limiter, &j->permit)) != -FLK_NOPERMIT) {
			j->joined = error == 0;
			return error;
		}
		if (!j->o.queue_nested && j->o.hold_for == 0 &&
		    environment_find(j->limiter, &j->permit)) {
			j->joined = true;
			if (!j->o.quiet)
				limiter_joined(&j->o.want, &j->permit);
			return 0;
		}
		want.weight = j->o.want.weight;
		want.most = j->o.want.most;
		want.yield = j->o.want.yield;
		want.limit = j->o.want.limit;
		error = line_take(j->taker, &j->o, &want, &deadline, &j->heritage.mask);
		if (error == 0)
			error = flk_verify(j->limiter);
		if (error != -FLK_GONE && error != -FLK_MISTAKEN)
			break;
		close_limiter(j);
	}
	/*
	 * From here on only the command's start waits for us: patience_stuck() must not let it
	 * wait.
	 */
	j->patience.is_over = true;
	if (error == 0)
		error = flk_permit(j->taker, &j->permit);
	if (error == 0 && !j->o.close_fd && options_run(&j->o)) {
		error = flk_guard(j->taker, &guard);
		j->heritage.guard_fd = guard;
	}
	return error;
}

/*
 * The limiter keeps its limit: the command has a permit of the other one, in which people see it, and
 * for which they can wait.
 */
static int
take_overflow(struct job *j)
{
	int error;

	if (!j->o.quiet)
		say(j->o.want.limiter, "the command runs above the limit, in the limiter '%s'",
		    flocklimit_overflow);
	close_limiter(j);
	j->o.want.limiter = j->o.want.name = flocklimit_overflow;
	j->o.want.limit = FLK_MAX_UNITS;
	j->o.want.timeout_ns = NEVER;
	error = limiter_name(&j->o.want, j->path);
	return error != 0 ? error : take_permit(j);
}

static char **
make_environment(const struct job *j)
{
	char link[HELD_LINK], room[LIMITER_NAME];

	if (!j->joined)
		environment_link(j->limiter, flk_slot(j->taker), j->permit.ticket, link);
	return environment_make(limiter_for_command(j->path, room), &j->permit,
				j->joined ? NULL : link, j->joined ? NULL : tend_key(j->taker));
}

/* A joined permit counts as well: it is the permit of the one job that needs no token. */
static struct jobserver *
open_jobserver(struct job *j)
{
	uint32_t jobs = j->permit.limit / j->o.want.weight;
	struct jobserver_plan plan = {
		.limiter = j->limiter,
		.limiter_name = j->o.want.limiter,
		.want = { .weight = j->o.want.weight, .limit = j->o.want.limit, .role = FLK_CREW },
		/* An operator has set the limit below one job's weight: one job runs alone. */
		.jobs = jobs > 0 ? jobs : 1,
		.style = j->o.style,
		.command = j->o.command,
		.quiet = j->o.quiet
	};

	return jobserver_open(&plan, &j->heritage);
}

/* What the user may have meant by the first word. */
static const char *
advice(char *const *command)
{
	const char *word = command[0];

	if (strncmp(word, ":::", 3) == 0)
		return ": for a command per item use flockmap";
	if (word[strspn(word, "0123456789")] == '\0')
		return ": for an open descriptor use --fd N";
	if (strpbrk(word, " \t;|&<>") != NULL)
		return ": for a shell line use -c";
	if (strchr(word, '/') != NULL && command[1] != NULL)
		return ": for a lock file use -f PATH";
	return "";
}

static int
cannot_start(const struct job *j, int error)
{
	const char *word = j->o.command[0];

	say(j->o.want.limiter, "cannot run '%s': %s%s", word, strerror(error),
	    advice(j->o.command));
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
		flk_release(j->taker);
		close_limiter(j);
	}
	j->taker = NULL;
}

/* A joined permit is not ours to give back. */
static int
open_ready(struct job *j, struct ready **ready)
{
	if (!j->o.until_ready)
		return 0;
	if (!j->joined)
		return (*ready = ready_open(&j->o, give_back, j)) != NULL ? 0 : -1;
	if (!j->o.quiet)
		say(j->o.want.limiter, "--until-ready has no effect: this command joins the permit "
				       "that it runs under, and that permit is not its own");
	return 0;
}

static int
run_command(struct job *j)
{
	struct jobserver *server = NULL;
	struct ready *ready = NULL;
	int error = 0, status;
	char **envp;
	pid_t pid;

	j->ended = FLK_UNKNOWN;
	if (j->o.background && (status = background_begin(&j->o, &j->heritage)) != -1)
		return status;
	if (j->o.jobserver && (server = open_jobserver(j)) == NULL)
		return FAILED;
	if (open_ready(j, &ready) != 0)
		return FAILED;
	envp = make_environment(j);
	if (envp == NULL) {
		say(j->o.want.limiter, "no memory for the environment");
		return FAILED;
	}
	if (j->o.no_fork) {
		flk_entrust(j->taker);
		error = become(j->o.command, envp, &j->heritage);
		status = cannot_start(j, error);
		j->ended = status << 8; /* as wait(2) has it */
		return status;
	}
	j->heritage.taker = j->joined ? NULL : j->taker;
	pid = spawn(j->o.command, envp, &j->heritage, &error);
	if (pid == -1) {
		say(j->o.want.limiter, "cannot start a process: %s%s", strerror(errno),
		    errno == EAGAIN ? ": raise ulimit -u, or let others end" : "");
		return FAILED;
	}
	if (!j->joined)
		tend_working(j->taker, pid);
	if (j->o.background && error == 0)
		background_started();
	ready_from(ready, pid);
	status = run(&j->o, pid, server, ready, &j->ended);
	ready_close(ready);
	jobserver_close(server);
	free(envp);
	return error != 0 ? cannot_start(j, error) : status;
}

int
flocklimit_main(int argc, char **argv)
{
	static struct job j;
	int status, error;

	say_program = "flocklimit";
	if ((status = options_parse(&j.o, argc, argv)) != -1)
		return status;
	if (j.o.fd != -1 && (status = fd_find(&j.o, j.fd_path)) != -1)
		return status;
	if ((status = store_exec(&j.o.want, argv)) != -1 || (status = ready_refuse(&j.o)) != -1)
		return status;
	if (j.o.hold_for != 0 && (status = hold_split(&j.o)) != -1)
		return status;
	if (j.o.background && (status = background_split(&j.o)) != -1)
		return status;
	tend_quiet(j.o.quiet);
	heritage_save(&j.heritage);
	if (!j.o.no_fork && j.o.fd == -1 && (status = pid1_split()) != -1)
		return status;
	on_fault(j.o.want.limiter, FAILED);
	tend_open(&j.heritage.mask);
	error = limiter_name(&j.o.want, j.path);
	if (error == 0 && j.o.unlock)
		return fd_unlock(&j.o, j.path);
	if (error == 0)
		error = take_permit(&j);
	if (error == -ETIMEDOUT && flocklimit_overflow != NULL)
		error = take_overflow(&j);
	if (error == 0 && j.o.fd != -1 && !j.joined)
		error = fd_entrust(&j.o, j.taker);
	tend_open(NULL);
	if (j.cannot_run != 0)
		return cannot_start(&j, j.cannot_run);
	if (error != 0) {
		switch (-error) {
		case ETIMEDOUT:
		case EAGAIN:
		case FLK_FULL:
		case FLK_CLOSED:
		case FLK_EVICTED:
			return j.o.conflict_exit;
		case FLK_STUCK:
			if (j.taker == NULL) /* else line_take() has printed a line */
				limiter_refuse(&j.o.want, j.path, j.limiter, error);
			return j.o.conflict_exit;
		default:
			if (fd_refuse(&j.o, error))
				return FAILED;
			return limiter_refuse(&j.o.want, j.path, j.limiter, error);
		}
	}
	if (j.o.fd != -1)
		return 0;
	status = j.o.hold_for != 0 ? hold_keep(&j.o, j.taker) : run_command(&j);
	/* The command has ended: damage to the limiter's file does not change its exit status. */
	on_fault(j.o.want.limiter, status);
	if (!j.joined && j.o.hold_for == 0 && j.taker != NULL) {
		flk_ended(j.taker, j.ended);
		error = flk_release(j.taker);
		if (error == -FLK_LOST)
			status = LOST_STATUS;
		sched_yield(); /* let the next holder start its command before we exit */
	}
	return status;
}
