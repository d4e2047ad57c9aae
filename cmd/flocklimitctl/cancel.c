/*
 * cancel.c - the verbs that are about single takers, and the signals to these.
 */
#include "ctl.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "parse.h"
#include "process.h"
#include "say.h"
#include "where.h"
#include "who.h"

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

/* ---- signals ---- */

/* Who has the guard by now, and whether that one is among them. */
static size_t
heirs_of(struct flk *f, const struct flk_entry *e, pid_t pid[HEIRS], pid_t one, bool *among)
{
	size_t n = flk_heirs(f, e->slot, pid, HEIRS), i;

	*among = false;
	for (i = 0; i < n; i++)
		*among |= pid[i] == one;
	return n;
}

/* Is this process, which is pinned, the one that the entry means? */
static int
is_meant(struct flk *f, const struct flk_entry *e, pid_t pid)
{
	pid_t heir[HEIRS], parent;
	struct flk_permit permit;
	bool among;
	char state;

	if (e->orphan) {
		heirs_of(f, e, heir, pid, &among);
		/* The slot may be another's by now, and so its heirs. */
		return among && flk_holds(f, e->slot, e->ticket, &permit) ? 1 : 0;
	}
	if (pid != (pid_t)e->pid &&
	    (!process_stat(pid, &state, &parent) || parent != (pid_t)e->pid))
		return 0;
	if (!still_holds(f, e))
		return 0;
	return where_belongs(f, e, pid);
}

/* A pid is a number that may be another's by the time of the kill: so the process is pinned first. */
static int
signal_process(struct flk *f, const struct flk_entry *e, pid_t pid, int sig)
{
	int fd = pid > 0 ? process_pidfd(pid) : -1, meant, error = 0;

	if (pid <= 0 || (fd == -1 && errno == ESRCH))
		return -ENOENT;
	if (fd == -1)
		return -errno;
	if ((meant = is_meant(f, e, pid)) <= 0)
		error = meant == 0 ? -ENOENT : meant;
	else if (process_signal(fd, sig) == -1)
		error = errno == ESRCH ? -ENOENT : -errno;
	close(fd);
	return error;
}

/* What an orphan's permit is kept by: all of it, or the command that was exec'd, if it is there. */
static int
signal_heirs(struct flk *f, const struct flk_entry *e, int sig)
{
	pid_t heir[HEIRS];
	int error = -ENOENT, one;
	bool by_itself;
	size_t n, i;

	n = heirs_of(f, e, heir, (pid_t)e->pid, &by_itself);
	if (e->role == FLK_CARRIED && by_itself)
		return signal_process(f, e, (pid_t)e->pid, sig);
	for (i = 0; i < n; i++)
		if ((one = signal_process(f, e, heir[i], sig)) == 0 || error == -ENOENT)
			error = one;
	return error;
}

/* The process of one of a crew: the taker has told of it, or it is among the taker's children. */
static pid_t
crew_member(const struct flk_entry *e)
{
	struct crowd *crowd = e->worker == 0 ? crowd_look() : NULL;
	pid_t pid = e->worker != 0 ? (pid_t)e->worker : crowd_command(crowd, e);

	crowd_free(crowd);
	return pid;
}

/* flocklimit hands on what it can catch, and only once; the rest must go to the command itself. */
int
signal_holder(struct flk *f, const struct flk_entry *e, int sig)
{
	bool command = e->role == FLK_WRAPPER && (sig == SIGKILL || sig == SIGSTOP);

	if (e->orphan)
		return signal_heirs(f, e, sig);
	if (e->role == FLK_CREW)
		return signal_process(f, e, crew_member(e), sig);
	return signal_process(f, e, command ? process_child((pid_t)e->pid) : (pid_t)e->pid, sig);
}

/* ---- the verbs ---- */

static int
cannot(const struct ctl *c, uint64_t ticket, const char *what)
{
	say(name_of(c), "ticket %" PRIu64 ": %s", ticket, what);
	return NO;
}

/* What is elsewhere can't be signalled from here. */
static int
is_abroad(const struct ctl *c, const struct flk_entry *e)
{
	say(name_of(c),
	    "ticket %" PRIu64 ": its process, pid %u, is on %s: signal it there, or take its "
	    "permit away: flocklimitctl break",
	    e->ticket, e->pid, e->host);
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
		status = cannot(c, ticket, "no taker has this ticket");
	} else if (!e->holds) {
		status = cannot(c, ticket, "it waits: cancel it without --signal");
	} else if (c->signal == 0) {
		status = cannot(c, ticket, "it holds its permit: end it with --signal TERM");
	} else if (e->host != NULL) {
		status = is_abroad(c, e);
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
		status = cannot(c, ticket, "no holder has this ticket");
	else if (e->role != FLK_KEEPER)
		status = cannot(c, ticket, "not a permit of --hold-for: cancel it with --signal");
	else if (e->host != NULL)
		status = is_abroad(c, e);
	else if ((error = signal_holder(f, e, SIGTERM)) == -ENOENT)
		status = cannot(c, ticket, "it has just ended, or its pid is of another namespace");
	else if (error != 0) {
		say(name_of(c), "ticket %" PRIu64 ": pid %u: %s", ticket, e->pid, strerror(-error));
		status = FAILED;
	}
	free(s);
	return status;
}

/* Nothing is done where one word is no ticket: it may be the name of the limiter that was meant. */
static bool
are_tickets(const struct ctl *c, char **word, int words)
{
	uint64_t ticket;
	int i;

	if (words == 0)
		say(name_of(c), "which ticket? flocklimitctl show lists them");
	for (i = 0; i < words; i++) {
		if (parse_number(word[i], 1, UINT64_C(1) << 60, &ticket))
			continue;
		say(name_of(c), "'%s': not a ticket: flocklimitctl show lists them", word[i]);
		return false;
	}
	return words > 0;
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
	if (!are_tickets(c, rest, rests))
		worst = FAILED;
	for (i = 0; i < rests && worst != FAILED; i++) {
		parse_number(rest[i], 1, UINT64_C(1) << 60, &ticket);
		status = one(c, f, ticket);
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

static int
break_one(const struct ctl *c, struct flk *f, uint64_t ticket)
{
	int error = where_break(f, ticket);

	if (error == -FLK_NOPERMIT)
		return cannot(c, ticket, "no holder has this ticket");
	return error == 0 ? DONE : refuse(name_of(c), flk_path(f), f, error);
}

int
break_it(const struct ctl *c)
{
	if (!where_is_store()) {
		say(NULL, "break: only for stores: a permit on this machine goes back by itself");
		return FAILED;
	}
	return for_tickets(c, break_one);
}
