/* SPDX-License-Identifier: ISC */
#include "common.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "scratch.h"

#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif

#define LONGEST_S 1800

static char dir[SCRATCH];
static pid_t maker;
static _Thread_local uint64_t random_state = 1;

static int
remove_one(const char *path, const struct stat *sb, int type, struct FTW *ftw)
{
	(void)sb;
	(void)type;
	(void)ftw;
	return remove(path);
}

static void
clean_up(void)
{
	if (getpid() == maker)
		/* NOLINTNEXTLINE(bugprone-signal-handler,cert-sig30-c): out_of_time(): all is lost */
		nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void
out_of_time(int sig)
{
	static const char text[] = "Bail out! out of time\n";
	ssize_t n = write(STDOUT_FILENO, text, sizeof(text) - 1);

	(void)n;
	(void)sig;
	clean_up();
	_exit(99);
}

void
begin(void)
{
	(void)setvbuf(stdout, NULL, _IOLBF, 0);
	scratch_dir(dir);
	maker = getpid();
	atexit(clean_up);
	signal(SIGALRM, out_of_time);
	signal(SIGPIPE, SIG_IGN);
	alarm(LONGEST_S);
}

bool
slow_tick(void)
{
	/* Without words to watch, it is the call itself that is missing or not. */
	return getenv("TEST_NO_WAITV") != NULL ||
	       (syscall(SYS_futex_waitv, NULL, 0, 0, NULL, 0) == -1 && errno != EINVAL);
}

bool
one_at_a_time(void)
{
	return getenv("TEST_ONE_AT_A_TIME") != NULL;
}

const char *
fresh_path(void)
{
	static unsigned count;
	static char path[160];

	snprintf(path, sizeof(path), "%s/limiter-%u", dir, ++count);
	return path;
}

struct flk *
attach(const char *path)
{
	struct flk *f;
	int error = flk_attach(&f, path, NULL);

	if (error != 0)
		tap_bail("flk_attach: %s", flk_strerror(error));
	return f;
}

struct flk *
fresh(uint32_t limit)
{
	struct flk_options options = { .limit = limit };
	struct flk *f;
	int error = flk_attach(&f, fresh_path(), &options);

	if (error != 0)
		tap_bail("flk_attach: %s", flk_strerror(error));
	return f;
}

struct flk_taker *
taker(struct flk *f)
{
	struct flk_taker *t;
	int error = flk_taker_new(&t, f);

	if (error != 0)
		tap_bail("flk_taker_new: %s", flk_strerror(error));
	return t;
}

uint64_t
now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

struct timespec
in_ms(int ms)
{
	uint64_t t = now_ns() + (uint64_t)ms * 1000000u;

	return (struct timespec){ .tv_sec = (time_t)(t / 1000000000u),
				  .tv_nsec = (long)(t % 1000000000u) };
}

void
random_seed(uint64_t seed)
{
	random_state = seed * 2862933555777941757u + 3037000493u;
}

/* xorshift64*: the same numbers everywhere, and enough of them. */
uint32_t
random_below(uint32_t n)
{
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return (uint32_t)((random_state * 2685821657736338717u) >> 33) % n;
}

bool
stands(struct flk *f, int holders, int waiters)
{
	uint64_t until = now_ns() + (uint64_t)PATIENCE_MS * 1000000u;
	struct flk_snapshot *s;
	bool so;
	int error;

	do {
		if ((error = flk_snapshot(f, &s)) != 0)
			tap_bail("flk_snapshot: %s", flk_strerror(error));
		so = (holders == -1 || s->holders == (uint32_t)holders) &&
		     (waiters == -1 || s->waiters == (uint32_t)waiters);
		free(s);
		if (so)
			return true;
		usleep(200);
	} while (now_ns() < until);
	return false;
}

uint64_t
units_used(struct flk *f)
{
	struct flk_snapshot *s;
	uint64_t used;
	int error = flk_snapshot(f, &s);

	if (error != 0)
		tap_bail("flk_snapshot: %s", flk_strerror(error));
	used = s->used;
	free(s);
	return used;
}

bool
whole(struct flk *f, const char *when)
{
	struct flk_snapshot *s;
	char why[200] = "";
	int error;
	bool passed;

	if ((error = flk_snapshot(f, &s)) != 0)
		return ok(error == 0, "whole %s: %s", when, flk_strerror(error));
	error = flk_check(f, why, sizeof(why));
	passed = error == 0 && s->used == 0 && s->holders == 0 && s->waiters == 0;
	ok(passed, "nothing is held and nothing is broken %s", when);
	if (!passed)
		tap_note("check: %s; used %llu, %u hold, %u wait", why, (unsigned long long)s->used,
			 s->holders, s->waiters);
	free(s);
	return passed;
}

/* ---- children ---- */

pid_t
fork_child(void)
{
	pid_t parent = getpid(), pid;

	fflush(stdout);
	pid = fork();
	if (pid == -1)
		tap_bail("fork");
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent && getppid() != 0)
			_exit(99);
		signal(SIGALRM, SIG_DFL);
	}
	return pid;
}

int
reap_child(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) == -1)
		if (errno != EINTR)
			tap_bail("waitpid");
	return status;
}

/* The name, which may hold anything, is in the last pair of parentheses. */
const char *
stat_of(pid_t pid, char text[STAT_TEXT])
{
	char path[40];
	const char *p;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd == -1)
		return NULL;
	n = read(fd, text, STAT_TEXT - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	p = strrchr(text, ')');
	return p != NULL && p[1] == ' ' ? p + 2 : NULL;
}

bool
is_asleep(pid_t pid)
{
	char text[STAT_TEXT];
	const char *stat = stat_of(pid, text);

	return stat != NULL && *stat == 'S';
}

void
until_asleep(pid_t pid)
{
	while (!is_asleep(pid))
		usleep(200);
}

void
stop_child(pid_t pid)
{
	int status;

	kill(pid, SIGSTOP);
	while (waitpid(pid, &status, WUNTRACED) == -1)
		if (errno != EINTR)
			tap_bail("waitpid");
	if (!WIFSTOPPED(status))
		tap_bail("a child ended instead of stopping");
}

/* ---- agents ---- */

static void
obey(struct flk_taker *t, const struct order *o, struct answer *a)
{
	struct flk_request want = { .weight = o->weight, .limit = o->limit };
	struct timespec deadline = in_ms(o->ms < 0 ? 0 : o->ms);
	const struct timespec *until = o->ms < 0 ? NULL : &deadline;

	memset(a, 0, sizeof(*a)); /* with what lies between its members */
	switch (o->kind) {
	case ACQUIRE:
		a->code = flk_acquire(t, &want, until);
		break;
	case TRY:
		a->code = flk_try(t, &want);
		break;
	case ENQUEUE:
		a->code = flk_enqueue(t, &want);
		break;
	case WAIT:
		a->code = flk_wait(t, until, NULL);
		break;
	case LEAVE:
		a->code = flk_leave(t);
		break;
	case RELEASE:
		a->code = flk_release(t);
		break;
	case RELEASE_UNITS:
		a->code = flk_release_units(t, o->weight);
		break;
	case FORGET:
		a->code = flk_forget(t);
		break;
	case DETACH:
		break;
	}
	a->when_ns = now_ns();
	flk_permit(t, &a->permit);
}

void
agent_serve(const char *path, int orders, int answers)
{
	struct flk *f = attach(path);
	struct flk_taker *t = taker(f);
	struct order o;
	struct answer a;

	while (read(orders, &o, sizeof(o)) == sizeof(o) && o.kind != DETACH) {
		obey(t, &o, &a);
		if (write(answers, &a, sizeof(a)) != sizeof(a))
			break;
	}
	flk_taker_free(t);
	flk_detach(f);
	_exit(0);
}

struct agent
agent_start(const char *path)
{
	int orders[2], answers[2];
	struct agent a;

	if (pipe2(orders, O_CLOEXEC) == -1 || pipe2(answers, O_CLOEXEC) == -1)
		tap_bail("pipe");
	a.pid = fork_child();
	if (a.pid == 0) {
		close(orders[1]);
		close(answers[0]);
		agent_serve(path, orders[0], answers[1]);
	}
	close(orders[0]);
	close(answers[1]);
	a.to = orders[1];
	a.from = answers[0];
	return a;
}

void
agent_tell(struct agent *a, struct order order)
{
	if (write(a->to, &order, sizeof(order)) != sizeof(order))
		tap_bail("an agent takes no orders");
}

bool
agent_answered(struct agent *a, int ms)
{
	struct pollfd p = { .fd = a->from, .events = POLLIN };
	int n;

	while ((n = poll(&p, 1, ms)) == -1 && errno == EINTR)
		;
	return n == 1 && (p.revents & POLLIN) != 0;
}

struct answer
agent_hear(struct agent *a)
{
	struct answer answer;

	if (!agent_answered(a, PATIENCE_MS))
		tap_bail("an agent (pid %d) does not answer", a->pid);
	if (read(a->from, &answer, sizeof(answer)) != sizeof(answer))
		tap_bail("an agent (pid %d) is gone", a->pid);
	return answer;
}

struct answer
agent_do(struct agent *a, struct order order)
{
	agent_tell(a, order);
	return agent_hear(a);
}

void
agent_reap(struct agent *a)
{
	close(a->to);
	close(a->from);
	reap_child(a->pid);
	a->pid = 0;
}

void
agent_kill(struct agent *a, int sig)
{
	kill(a->pid, sig);
	if (sig == SIGKILL)
		agent_reap(a);
}

void
agent_stop(struct agent *a)
{
	agent_tell(a, (struct order){ .kind = DETACH });
	agent_reap(a);
}
