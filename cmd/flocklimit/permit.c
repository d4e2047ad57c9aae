/* SPDX-License-Identifier: ISC */
/*
 * permit.c - from the options to the permits: it opens the limiters, joins or takes in their order, and
 * ties the permits to guards.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "environment.h"
#include "fd.h"
#include "job.h"
#include "line.h"
#include "pin.h"
#include "place_kept.h"
#include "process.h"
#include "question.h"
#include "say.h"

const char *flocklimit_overflow;

/* NULL: the permit is for no command. */
static const char *
program_of(const struct job *j)
{
	return options_run(&j->o) ? j->o.command[0] : NULL;
}

/* Before the wait.  A later limit may be another: then seats above the CPUs are none. */
static bool
pin_is_possible(struct job *j)
{
	j->said = pin_check(&j->o, j->limiter) != 0;
	return !j->said;
}

static int
open_limiter(struct job *j)
{
	struct flk_options options = { .mode = j->o.want.mode,
				       .stuck = patience_stuck,
				       .context = &j->patience };
	int error = limiter_attach(&j->limiter, j->path, &options, program_of(j), &j->cannot_run);

	if (error != 0)
		return error;
	limiter_count_units(&j->o.want);
	if ((error = limiter_set(&j->o.want, j->limiter)) != 0)
		return error;
	if (!j->o.want.how.quiet)
		limiter_say_unfair(&j->o.want, j->limiter);
	return flk_taker_new(&j->taker, j->limiter);
}

void
job_close(struct job *j)
{
	also_close(&j->also);
	flk_taker_free(j->taker);
	flk_detach(j->limiter);
	j->taker = NULL;
	j->limiter = NULL;
}

/* What the permit is for, where it is for no command of ours, and the command line of that process. */
static void
words_of(pid_t pid, const char *option, int number, char text[FLK_COMMAND])
{
	size_t n = (size_t)snprintf(text, FLK_COMMAND, "%s %d: ", option, number);

	if (*process_command(pid, text + n, FLK_COMMAND - n) == '\0')
		text[n - 2] = '\0';
}

/* A shell's line, as one. */
static void
words_of_line(const char *line, char *text, size_t size)
{
	size_t n;

	line += strspn(line, " \t\n");
	for (n = 0; n < size - 1 && line[n] != '\0'; n++)
		text[n] = strchr("\t\n", line[n]) == NULL ? line[n] : ' ';
	text[n] = '\0';
}

/* The words of the command, which flocklimitctl shows. */
static const char *
command_line(const struct job *j, char text[FLK_COMMAND])
{
	size_t n = 0, i;

	text[0] = '\0';
	if (j->o.want.how.keep_ns != 0)
		n = (size_t)snprintf(text, FLK_COMMAND, "--keep-place: ");
	if (j->o.hold_for != 0)
		words_of(j->o.hold_for, "--hold-for", (int)j->o.hold_for, text);
	else if (j->o.fd != -1)
		words_of(getppid(), "--fd", j->o.fd, text);
	else if (j->o.line != NULL)
		words_of_line(j->o.line, text + n, FLK_COMMAND - n);
	else
		for (i = 0; j->o.command[i] != NULL && n < FLK_COMMAND; i++)
			n += (size_t)snprintf(text + n, FLK_COMMAND - n, "%s%s", i > 0 ? " " : "",
					      i == 0 && j->o.shim != NULL ? j->o.shim
									  : j->o.command[i]);
	return text;
}

static struct patience
patience_for(const struct job *j, const struct taker_options *want)
{
	return (struct patience){
		.want = want, .quiet = j->o.want.how.quiet, .mask = &j->heritage.mask, .said = -1
	};
}

/* ---- the limiters of --and ---- */

static void
also_options(void *job, struct also *one, struct flk_options *options)
{
	struct job *j = job;

	j->also_patience[one->word] = patience_for(j, &one->want);
	options->stuck = patience_stuck;
	options->context = &j->also_patience[one->word];
}

static int
take_also(void *job, struct also *one, const struct flk_request *want)
{
	struct job *j = job;
	struct options o = j->o;

	o.want = one->want;
	o.want.how = j->o.want.how;
	return line_take(one->taker, &o, want, &j->deadline, &j->heritage.mask);
}

static int
read_also(struct job *j)
{
	j->extra_ops =
	    (struct extra_ops){ .context = j,
				.quiet = j->o.want.how.quiet,
				.joins = j->o.want.nested == NESTED_JOIN && j->o.hold_for == 0,
				.guarded = !j->o.close_fd,
				.options = also_options,
				.take = take_also };
	return also_read(&j->also, &j->extra_ops, &j->o.want.ands, &j->o.want);
}

/* ---- all of them ---- */

/* What a signal that ends us must release, while we wait for another permit: see line_at_signal(). */
static struct job *waiting;

static void
release_waiting(void)
{
	job_release(waiting);
}

/*
 * All permits, in the order of the limiters' identities: see also.h.  If one cannot be taken, we
 * release those taken before it.
 */
static int
take_all(struct job *j)
{
	uint64_t identity = flk_identity(j->limiter);
	struct flk_request want = j->o.want.request;
	struct question question;
	int error;

	if (j->also.n > 0) {
		waiting = j;
		line_at_signal(release_waiting);
	}
	error = also_take(&j->also, j->taker, 0, identity, want.command, want.role);
	if (error == 0 && !j->joined) {
		if (j->also.n > 0)
			also_waits_for(&j->also, j->taker, j->o.want.limiter);
		limiter_ask(&j->o.want, &j->heritage, &want, &question);
		error = j->o.want.how.keep_ns != 0
			    ? place_take(j, &want)
			    : line_take(j->taker, &j->o, &want, &j->deadline, &j->heritage.mask);
		if (error == 0)
			error = flk_verify(j->limiter);
	}
	if (error == 0)
		error =
		    also_take(&j->also, j->taker, identity, UINT64_MAX, want.command, want.role);
	if (j->also.n == 0)
		return error;
	if (error != 0)
		job_release(j);
	else
		also_waits_for(&j->also, j->taker, NULL);
	return error;
}

/* The limiters are open: finds out which permits the command runs under already.  True: of all. */
static bool
joins_all(struct job *j)
{
	unsigned i;

	/* Another descriptor of the script may have a permit: that is not this one's. */
	j->joined =
	    j->o.want.nested == NESTED_JOIN && j->o.hold_for == 0 &&
	    (j->o.fd != -1 ? environment_inherits : environment_find)(j->limiter, &j->permit);
	if (j->joined && !j->o.want.how.quiet)
		limiter_joined(&j->o.want, &j->permit);
	for (i = 0; i < j->also.n; i++)
		if (!j->also.of[i]->joined)
			return false;
	return j->joined;
}

/* From here on only the command's start waits for us: patience_stuck() must not let it wait. */
static void
end_patience(struct job *j)
{
	unsigned i;

	j->patience.is_over = true;
	for (i = 0; i < j->also.n; i++)
		j->also_patience[i].is_over = true;
}

static int
guard_all(struct job *j)
{
	int error = 0, guard;

	if (j->is_kept) {
		j->heritage.guard_fd = j->o.close_fd ? -1 : j->kept;
		return 0;
	}
	if (!j->joined)
		error = flk_permit(j->taker, &j->permit);
	if (error == 0 && !j->joined && !j->o.close_fd && options_run(&j->o)) {
		error = flk_guard(j->taker, &guard);
		j->heritage.guard_fd = guard;
	}
	if (error == 0 && j->also.n > 0 && (error = also_guard(&j->also)) == 0)
		also_inherit(&j->also, &j->heritage);
	return error;
}

/*
 * If the limiter's file was removed, newcomers create another limiter: we release a permit of the
 * old one, and take one of the new.  If the kernel has marked our taker as dead by mistake, it has
 * lost its place in the line: a new taker joins the line.
 */
int
job_take(struct job *j)
{
	char text[FLK_COMMAND];
	int error;

	j->o.want.request.command = command_line(j, text);
	j->o.want.request.role = j->o.hold_for != 0 ? FLK_KEEPER
				 : j->o.no_fork     ? FLK_WORKER
						    : FLK_WRAPPER;
	j->deadline = 0;
	j->patience = patience_for(j, &j->o.want);
	if (j->o.want.ands.n > 0 && (error = read_also(j)) != 0)
		return error;
	for (;;) {
		if ((error = open_limiter(j)) != 0)
			return error;
		if (j->also.n > 0 && (error = also_open(&j->also, flk_identity(j->limiter),
							program_of(j), &j->cannot_run)) != 0)
			return error;
		if (j->o.fd != -1 &&
		    (error = fd_holds(&j->o, j->limiter, &j->permit)) != -FLK_NOPERMIT) {
			j->joined = error == 0;
			return error;
		}
		if (joins_all(j))
			return 0;
		if (j->o.want.how.pin && !j->joined && !pin_is_possible(j))
			return -ECANCELED;
		error = take_all(j);
		if (error != -FLK_GONE && error != -FLK_MISTAKEN)
			break;
		job_close(j);
	}
	end_patience(j);
	return error != 0 ? error : guard_all(j);
}

int
job_release(struct job *j)
{
	uint64_t identity;
	int error = 0;

	if (j->taker == NULL)
		return 0;
	identity = flk_identity(j->limiter);
	also_release(&j->also, identity, UINT64_MAX);
	if (!j->joined)
		error = j->is_kept ? flk_take_back(j->limiter, j->kept) : flk_release(j->taker);
	also_release(&j->also, 0, identity);
	return error;
}

bool
job_holds(const struct job *j)
{
	return j->taker != NULL && (!j->joined || j->heritage.n_more > 0);
}

int
job_refuse(struct job *j, int error)
{
	if (j->also.failed != NULL)
		return also_refuse(&j->also, error);
	return limiter_refuse(&j->o.want, j->path, j->limiter, error);
}

/*
 * The limiter keeps its limit: the command has a permit of the other one, in which people see it, and
 * for which they can wait.
 */
int
job_take_overflow(struct job *j)
{
	int error;

	if (!j->o.want.how.quiet)
		say(j->o.want.limiter, "the command runs above the limit, in the limiter '%s'",
		    flocklimit_overflow);
	job_close(j);
	j->o.want.limiter = j->o.want.name = flocklimit_overflow;
	j->o.want.request.limit = FLK_MAX_UNITS;
	j->o.want.timeout_ns = NEVER;
	error = limiter_name(&j->o.want, j->path);
	return error != 0 ? error : job_take(j);
}
