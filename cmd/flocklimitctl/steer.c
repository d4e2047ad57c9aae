/*
 * steer.c - the verbs that change something.
 */
#include "ctl.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/syscall.h>

#include "cpus.h"
#include "now.h"
#include "parse.h"
#include "process.h"
#include "say.h"

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434 /* the same on every architecture */
#endif
#ifndef SYS_pidfd_send_signal
#define SYS_pidfd_send_signal 424
#endif

/* One call on one limiter. */
static int
apply(const struct ctl *c, int (*change)(struct flk *))
{
	struct flk *f;
	int status, error;

	if ((f = open_only(c, &status)) == NULL)
		return status;
	error = change(f);
	status = error == 0 ? DONE : refuse(name_of(c), flk_path(f), f, error);
	flk_detach(f);
	return status;
}

int
pause_it(const struct ctl *c)
{
	return apply(c, flk_pause);
}

int
resume_it(const struct ctl *c)
{
	return apply(c, flk_resume);
}

int
close_it(const struct ctl *c)
{
	return apply(c, flk_close);
}

int
open_it(const struct ctl *c)
{
	return apply(c, flk_reopen);
}

/* ---- limit ---- */

bool
parse_limit(const char *word, int64_t *limit)
{
	size_t n = strlen(word);
	char number[16];
	uint64_t v;

	if (strcmp(word, "auto") == 0) {
		*limit = FLK_AUTO;
		return true;
	}
	if (parse_number(word, 0, FLK_MAX_UNITS, &v)) {
		*limit = (int64_t)v;
		return true;
	}
	if (n < 2 || n > sizeof(number) || word[n - 1] != '%')
		return false;
	snprintf(number, sizeof(number), "%.*s", (int)(n - 1), word);
	if (!parse_number(number, 1, 100000, &v))
		return false;
	*limit = cpus((uint32_t)v);
	return true;
}

int
limit(const struct ctl *c)
{
	int rests, status, error;
	char **rest;
	int64_t to;
	struct flk *f = open_named(c, &rest, &rests, &status);

	if (f == NULL)
		return status;
	if (rests != 1 || !parse_limit(rest[0], &to)) {
		say(NULL, "limit %s '%s': one of a number from 0 to %u, N%% of the CPUs, or auto",
		    name_of(c), rests > 0 ? rest[rests - 1] : "", FLK_MAX_UNITS);
		status = FAILED;
	} else {
		error = flk_override(f, to);
		status = error == 0 ? DONE : refuse(name_of(c), flk_path(f), f, error);
	}
	flk_detach(f);
	return status;
}

/* ---- wait ---- */

int
wait_for(const struct ctl *c)
{
	struct flk_taker *t = NULL;
	struct timespec until, *deadline = NULL;
	struct flk *f;
	int status, error;

	if ((f = open_only(c, &status)) == NULL)
		return status;
	if (c->timeout_ns != NEVER) {
		uint64_t at = now_ns() + c->timeout_ns;
		until = (struct timespec){ .tv_sec = (time_t)(at / SECOND),
					   .tv_nsec = (long)(at % SECOND) };
		deadline = &until;
	}
	if ((error = flk_taker_new(&t, f)) == 0)
		error = flk_wait_idle(t, deadline);
	if (error == -ETIMEDOUT)
		status = NO;
	else
		status = error == 0 ? DONE : refuse(name_of(c), flk_path(f), f, error);
	flk_taker_free(t);
	flk_detach(f);
	return status;
}

/* ---- cancel, release: one taker each ---- */

static const struct flk_entry *
find(const struct flk_snapshot *s, uint64_t ticket)
{
	uint32_t i;

	for (i = 0; i < s->holders + s->waiters; i++)
		if (s->entry[i].ticket == ticket)
			return &s->entry[i];
	return NULL;
}

static bool
still_holds(struct flk *f, const struct flk_entry *e)
{
	const struct flk_entry *now;
	struct flk_snapshot *s;
	bool holds;

	if (flk_snapshot(f, &s) != 0)
		return false;
	now = find(s, e->ticket);
	holds = now != NULL && now->holds && now->pid == e->pid;
	free(s);
	return holds;
}

/*
 * flocklimit hands on what it can catch, and only once; the rest must go to the command itself.
 * A pid is a number that may be another's by the time of the kill: the process is pinned first,
 * and then must hold that permit still, or be the child of one that does.
 */
int
signal_holder(struct flk *f, const struct flk_entry *e, int sig)
{
	bool command = e->role == FLK_WRAPPER && (sig == SIGKILL || sig == SIGSTOP);
	pid_t pid = command ? process_child((pid_t)e->pid) : (pid_t)e->pid, parent;
	int fd = pid > 0 ? (int)syscall(SYS_pidfd_open, pid, 0) : -1, error = 0;
	char state;

	if (pid <= 0 || (fd == -1 && errno == ESRCH))
		return -ENOENT;
	if (fd == -1)
		return -errno;
	if ((command && (!process_stat(pid, &state, &parent) || parent != (pid_t)e->pid)) ||
	    !still_holds(f, e))
		error = -ENOENT;
	else if (syscall(SYS_pidfd_send_signal, fd, sig, NULL, 0) == -1)
		error = -errno;
	close(fd);
	return error;
}

static int
cannot(const struct ctl *c, uint64_t ticket, const char *what)
{
	say(name_of(c), "ticket %" PRIu64 ": %s", ticket, what);
	return NO;
}

static int
cancel_one(const struct ctl *c, struct flk *f, uint64_t ticket)
{
	struct flk_snapshot *s;
	const struct flk_entry *e;
	int error, status;

	if (c->signal == 0) {
		error = flk_evict(f, ticket);
		if (error != -FLK_NOPERMIT)
			return error == 0 ? DONE : refuse(name_of(c), flk_path(f), f, error);
	}
	if ((error = flk_snapshot(f, &s)) != 0)
		return refuse(name_of(c), flk_path(f), f, error);
	e = find(s, ticket);
	if (e == NULL) {
		status = cannot(c, ticket, "nobody waits or holds with it");
	} else if (!e->holds) {
		status = cannot(c, ticket, "it waits: cancel it without --signal");
	} else if (c->signal == 0) {
		status = cannot(c, ticket, "it holds its permit: end it with --signal TERM");
	} else if (outlived(e)) {
		status =
		    cannot(c, ticket, "its flocklimit is dead: kill what it left by its own pid");
	} else if ((error = signal_holder(f, e, c->signal)) == 0) {
		status = DONE;
	} else if (error == -ENOENT) {
		status = cannot(c, ticket, "it has just ended, or its pid is of another namespace");
	} else {
		say(name_of(c), "ticket %" PRIu64 ": pid %u: %s", ticket, e->pid, strerror(-error));
		status = FAILED;
	}
	free(s);
	return status;
}

static int
release_one(const struct ctl *c, struct flk *f, uint64_t ticket)
{
	struct flk_snapshot *s;
	const struct flk_entry *e;
	int error, status = DONE;

	if ((error = flk_snapshot(f, &s)) != 0)
		return refuse(name_of(c), flk_path(f), f, error);
	e = find(s, ticket);
	if (e == NULL || !e->holds)
		status = cannot(c, ticket, "nobody holds with it");
	else if (e->role != FLK_KEEPER)
		status = cannot(c, ticket, "not a permit of --hold-for: cancel it with --signal");
	else if ((error = signal_holder(f, e, SIGTERM)) == -ENOENT)
		status = cannot(c, ticket, "it has just ended, or its pid is of another namespace");
	else if (error != 0) {
		say(name_of(c), "ticket %" PRIu64 ": pid %u: %s", ticket, e->pid, strerror(-error));
		status = FAILED;
	}
	free(s);
	return status;
}

static int
for_tickets(const struct ctl *c, int (*one)(const struct ctl *, struct flk *, uint64_t))
{
	int rests, status, worst = DONE, i;
	uint64_t ticket;
	char **rest;
	struct flk *f = open_named(c, &rest, &rests, &status);

	if (f == NULL)
		return status;
	if (rests == 0) {
		say(name_of(c), "which ticket? flocklimitctl show tells them");
		worst = FAILED;
	}
	for (i = 0; i < rests; i++) {
		if (parse_number(rest[i], 1, UINT64_C(1) << 60, &ticket)) {
			status = one(c, f, ticket);
		} else {
			say(name_of(c), "'%s': not a ticket: flocklimitctl show tells them",
			    rest[i]);
			status = FAILED;
		}
		worst = status > worst ? status : worst;
	}
	flk_detach(f);
	return worst;
}

int
cancel(const struct ctl *c)
{
	return for_tickets(c, cancel_one);
}

int
release(const struct ctl *c)
{
	return for_tickets(c, release_one);
}
