/* SPDX-License-Identifier: ISC */
/*
 * operator.c - the operator: cancels waiters, checks, lists, shows, reads the
 * history and follows it, and removes limiters that nobody uses.  Readers are killed at any time.
 */
#include "driver.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "flocklimit.h"
#include "../helpers/steer.h"
#include "../helpers/tap.h"

#define READERS 6
#define LASTS   UINT64_C(10000000000) /* a reader that runs or sleeps longer hangs */

static char ctl_path[400];
static const char *self_path;

static struct reader {
	pid_t pid;
	unsigned lim;
	enum told what;
	const char *verb;
	uint64_t since;
	bool killed;
	int said_fd; /* its stderr */
} reader[READERS];

unsigned operator_acts[ACTS];

void
operator_begin(const char *self)
{
	self_path = self;
	snprintf(ctl_path, sizeof(ctl_path), "%sctl", getenv("FLOCKLIMIT"));
	if (access(ctl_path, X_OK) == -1)
		ctl_path[0] = '\0';
}

static void
told(unsigned lim, enum told what, int result)
{
	chaos_say("Q %" PRIu64 " %u %d %d", chaos_now(), lim, (int)what, result);
}

/* ---- cancel ---- */

static uint64_t
taker_with(pid_t pid)
{
	unsigned i;

	for (i = 0; i < AT_ONCE; i++)
		if (taker[i].pid == pid)
			return taker[i].id;
	return 0;
}

/* A program that joins its command's permit waits for nobody, so each waiter is a taker. */
static void
cancel(unsigned lim)
{
	struct flk *f = limiter_handle(lim);
	struct flk_snapshot *s;
	uint64_t id, ticket;
	int error = flk_snapshot(f, &s);

	if (error != 0) {
		told(lim, SNAPSHOT, error);
		return;
	}
	if (s->waiters > 0) {
		const struct flk_entry *e = &s->entry[s->holders + below(s->waiters)];
		id = taker_with(e->pid);
		ticket = e->ticket;
		error = id != 0 ? flk_evict(f, ticket) : -FLK_NOPERMIT;
		if (error == 0)
			chaos_say("C %" PRIu64 " %" PRIu64 " %" PRIu64, chaos_now(), id, ticket);
		else if (error != -FLK_NOPERMIT)
			told(lim, EVICT, error);
		operator_acts[CANCELLED] += error == 0;
	}
	free(s);
}

/* ---- pace ---- */

/* So fast that no taker waits long for its time, and a taker that can run still runs soon. */
static void
pace(unsigned lim)
{
	struct flk_pace p = { .interval_ns = below(2) * (1 + below(1000000)),
			      .burst = 1 + below(4),
			      .stagger_ns = below(2) * below(1000000) };
	int error = steer_pace(limiter_handle(lim), &p, 1 + below(3));

	if (error != 0)
		told(lim, PACE, error);
	operator_acts[PACED]++;
}

/* ---- turns ---- */

/* For a moment: it is fair again soon. */
static void
turn(void)
{
	static bool off;
	int error = steer_fair(limiter_handle(FAIR), (off = !off) ? FLK_FAIR_OFF : FLK_FAIR_KEY);

	if (error != 0)
		told(FAIR, TURN, error);
	operator_acts[TURNED]++;
}

/* ---- gate ---- */

static uint64_t gate_until[LIMITERS]; /* 0: none */

/*
 * One that always holds.  While it is there, each start takes a look of its own, and there is one look
 * a second: so it is there for a moment only.  A limiter has one gate: the closed one of limiters.c is
 * left alone, or takers would start while the log has it closed.
 */
static void
gate(unsigned lim, bool on)
{
	struct flk_gate g = { .when = "", .patience_ns = UINT64_MAX };
	struct flk *f = limiter_handle(lim);
	uint64_t since = chaos_now();
	int error;

	if (limiter_gate_is_closed(lim)) {
		gate_until[lim] = 0;
		return;
	}
	if (on)
		strcpy(g.when, "mem>1");
	error = steer_gate(f, &g);
	if (error != 0)
		told(lim, PACE, error);
	chaos_say("G %" PRIu64 " %" PRIu64 " %u %" PRIu64 " %d %d", since, chaos_now(), lim,
		  flk_identity(f), (int)LOOKS, on);
	gate_until[lim] = on ? chaos_now() + below(300) * UINT64_C(1000000) : 0;
	operator_acts[GATED]++;
}

void
operator_lift_gate(unsigned lim)
{
	if (gate_until[lim] != 0)
		gate(lim, false);
}

static void
end_gates(uint64_t now)
{
	unsigned i;

	for (i = 0; i < LIMITERS; i++)
		if (gate_until[i] != 0 && gate_until[i] <= now)
			gate(i, false);
}

/* ---- check, remove ---- */

static void
check(unsigned lim)
{
	char why[400] = "";
	int error = flk_check(limiter_handle(lim), why, sizeof(why));

	if (error != 0)
		tap_note("limiter %u: %s", lim, why);
	told(lim, CHECK, error);
	operator_acts[CHECKED]++;
}

static void
remove_if_idle(unsigned lim)
{
	uint64_t since = chaos_now();
	int error = flk_remove(limiter_handle(lim));

	if (error == 0) {
		chaos_say("M %" PRIu64 " %" PRIu64 " %u %" PRIu64, since, chaos_now(), lim,
			  flk_identity(limiter_handle(lim)));
		limiter_anew(lim);
		operator_acts[REMOVED]++;
		return;
	}
	operator_acts[REFUSED]++;
	if (error != -FLK_BUSY)
		told(lim, REMOVE, error);
}

/* ---- readers ---- */

static void
run_reader(struct reader *r, char *const *words)
{
	r->verb = words[1];
	r->since = chaos_now();
	r->killed = false;
	r->said_fd = memfd_create("reader", MFD_CLOEXEC);
	r->pid = fork();
	if (r->pid == -1)
		tap_bail("fork: %s", strerror(errno));
	if (r->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (freopen("/dev/null", "w", stdout) == NULL || dup2(r->said_fd, 2) == -1)
			_exit(96);
		execv(words[0], words);
		_exit(97);
	}
	operator_acts[READ]++;
}

static char *
word(const char *text)
{
	return (char *)(uintptr_t)text;
}

static void
start_reader(struct reader *r)
{
	static const char *const verbs[] = { "list", "show", "log", "stats", "check" };
	char *path;

	r->lim = below(LIMITERS);
	path = limiter[r->lim].path;
	if (ctl_path[0] == '\0' || chance(40)) {
		r->what = FOLLOW;
		run_reader(r, (char *[]){ word(self_path), word("follower"), path, NULL });
		return;
	}
	r->what = READER;
	run_reader(r, (char *[]){ ctl_path, word(verbs[below(5)]), word("--json"), word("--file"),
				  path, NULL });
}

/*
 * How long it has run or slept.  What it waited for a processor is no fault of its own, and
 * with a sanitizer the start of a program alone takes a busy machine seconds.
 */
static uint64_t
reader_lasted(const struct reader *r)
{
	uint64_t since_fork = chaos_now() - r->since, ran, waited = 0;
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/schedstat", (int)r->pid);
	f = fopen(path, "re");
	if (f != NULL) {
		if (fscanf(f, "%" SCNu64 " %" SCNu64, &ran, &waited) != 2)
			waited = 0;
		fclose(f);
	}
	return since_fork > waited ? since_fork - waited : 0;
}

static bool
reader_has_ended(const struct reader *r)
{
	siginfo_t end = { .si_pid = 0 };

	return waitid(P_PID, (id_t)r->pid, &end, WEXITED | WNOHANG | WNOWAIT) == 0 &&
	       end.si_pid != 0;
}

static void
kill_reader(struct reader *r)
{
	r->killed = true;
	kill(r->pid, SIGKILL);
}

/* It gave up, as an operator does after two seconds outside: another taker was stopped inside. */
static bool
was_kept_out(const struct reader *r, int status)
{
	char text[2000];
	ssize_t n = pread(r->said_fd, text, sizeof(text) - 1, 0);

	text[n > 0 ? n : 0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	if (text[0] != '\0')
		tap_note("%s", text);
	return WIFEXITED(status) && WEXITSTATUS(status) == 125 &&
	       strstr(text, "keeps everyone out") != NULL;
}

bool
operator_reaped(pid_t pid, int status)
{
	unsigned i;

	for (i = 0; i < READERS; i++) {
		struct reader *r = &reader[i];
		if (r->pid != pid)
			continue;
		/* 1: there is none of that name just now, or it was found damaged. */
		if (!(WIFSIGNALED(status) && r->killed) &&
		    !(WIFEXITED(status) && WEXITSTATUS(status) <= 1) && !was_kept_out(r, status))
			told(r->lim, r->what, status);
		close(r->said_fd);
		r->pid = 0;
		return true;
	}
	return false;
}

/* What is due in so many seconds. */
void
operator_acts_for(double seconds)
{
	unsigned i, lim = below(LIMITERS);

	if (due(8, seconds))
		cancel(lim);
	if (due(3, seconds))
		check(lim);
	if (due(3, seconds))
		pace(lim);
	if (due(3, seconds))
		gate(lim, true);
	if (due(2, seconds))
		turn();
	end_gates(chaos_now());
	if (due(4, seconds))
		remove_if_idle(lim);
	/* The others are never idle; this one is for as long as it takes to launch the next. */
	if (!takers_of(QUIET) && chance(30))
		remove_if_idle(QUIET);
	for (i = 0; i < READERS; i++) {
		struct reader *r = &reader[i];
		if (r->pid == 0 && due(1.5, seconds))
			start_reader(r);
		else if (r->pid != 0 && due(3, seconds))
			kill_reader(r);
		else if (r->pid != 0 && r->what == READER && reader_lasted(r) > LASTS &&
			 !reader_has_ended(r)) {
			tap_note("%s of limiter %u: %.1f s since its fork", r->verb, r->lim,
				 (double)(chaos_now() - r->since) / 1e9);
			told(r->lim, READER, -ETIMEDOUT);
			kill_reader(r);
		}
	}
}

void
operator_calm(void)
{
	unsigned i;

	end_gates(UINT64_MAX);
	for (i = 0; i < READERS; i++)
		if (reader[i].pid != 0)
			kill_reader(&reader[i]);
}

/* PATH: follows until there is nothing more to come; 2 if what it reads can't be. */
int
chaos_follower(const char *path)
{
	static const struct flk_options existing = { .existing = true };
	static struct flk_event e[FLK_HISTORY];
	uint64_t number = 0, last;
	struct flk *f;
	size_t n, i;
	int error;

	if (flk_attach(&f, path, &existing) != 0)
		return 1;
	while (flk_verify(f) == 0) {
		error = flk_follow(f, number, NULL);
		if (error != 0)
			return error == -FLK_GONE ? 0 : 2;
		n = flk_history(f, number, e, FLK_HISTORY);
		for (i = 0, last = number; i < n; last = e[i++].number)
			if (e[i].number <= last || (i > 0 && e[i].number != last + 1) ||
			    e[i].kind < FLK_EV_QUEUED || e[i].kind > FLK_EV_GREW)
				return 2;
		number = last;
	}
	return 0;
}
