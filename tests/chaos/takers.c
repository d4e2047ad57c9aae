/* SPDX-License-Identifier: ISC */
/*
 * takers.c - launches takers of every kind, reaps them, and follows the log to know which
 * processes there are to harm.
 */
#include "driver.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "../helpers/tap.h"

#define AT_A_TIME 3         /* launches: a burst of them would measure only the machine */
#define BEAT_NS   50000000u /* how often the machine starts a process for us to see how fast */

struct taker taker[AT_ONCE];
struct program program[PROGRAMS];
unsigned programs, takers_interrupted, takers_of_two;
uint64_t last_id;

static const char *self_path;
static int log_fd;
static struct {
	uint64_t group;
	unsigned left;
} crowd; /* those that are launched next join it */

/*
 * In a busy limiter the taker that comes or goes next also mends what was missed.  In the quiet
 * one no taker does: a few takers come at once, and then no more until they are done, or too late.
 */
static unsigned quiet_due;
#define TOO_LATE_NS UINT64_C(4000000000)

void
takers_begin(const char *self, const char *log)
{
	self_path = self;
	log_fd = open(log, O_RDONLY | O_CLOEXEC);
	if (log_fd == -1)
		tap_bail("%s: %s", log, strerror(errno));
}

struct taker *
taker_of(uint64_t id)
{
	unsigned i;

	for (i = 0; i < AT_ONCE; i++)
		if (taker[i].pid != 0 && taker[i].id == id)
			return &taker[i];
	return NULL;
}

unsigned
takers_left(void)
{
	unsigned i, n = 0;

	for (i = 0; i < AT_ONCE; i++)
		n += taker[i].pid != 0;
	return n;
}

bool
takers_of(unsigned lim)
{
	unsigned i;

	for (i = 0; i < AT_ONCE; i++)
		if (taker[i].pid != 0 && taker[i].lim == lim)
			return true;
	return false;
}

uint64_t
takers_oldest(void)
{
	uint64_t id = UINT64_MAX;
	unsigned i;

	for (i = 0; i < AT_ONCE; i++)
		if (taker[i].pid != 0 && taker[i].id < id)
			id = taker[i].id;
	for (i = 0; i < programs; i++)
		if (program[i].id < id)
			id = program[i].id;
	return id;
}

/* ---- launching ---- */

/* For --and, which takes names alone. */
static void
name_the_directory(void)
{
	char dir[sizeof(limiter[0].path)];

	snprintf(dir, sizeof(dir), "%s", limiter[0].path);
	*strrchr(dir, '/') = '\0';
	setenv("FLOCKLIMIT_DIR", dir, 1);
}

/* The process group of a taker that is not reaped can't be another's. */
static void
choose_group(struct taker *t)
{
	struct taker *leader = taker_of(crowd.group);

	t->group = 0;
	t->pgid = 0;
	if (crowd.left > 0 && leader != NULL) {
		crowd.left--;
		t->group = crowd.group;
		t->pgid = leader->pgid;
	} else if (chance(12)) {
		t->group = t->id;
		crowd.group = t->id;
		crowd.left = chance(30) ? 4 + below(20) : 0;
	}
}

static void
launch(struct taker *t)
{
	struct choice c = choose(quiet_due > 0);
	struct words w = { .n = 0 };
	char want[REQUEST_TEXT];
	size_t i;
	int n = 0;

	quiet_due -= quiet_due > 0;
	if (c.also_w != 0)
		chaos_say("N %" PRIu64 " %" PRIu64 " %u %u %u", chaos_now(), ++last_id, c.also,
			  c.also_w, c.also_n);
	t->id = ++last_id;
	t->lim = c.lim;
	choose_group(t);
	choice_words(&w, &c, t->id, self_path);
	for (i = 0; i < REQUEST_NUMBERS; i++)
		n += snprintf(want + n, sizeof(want) - (size_t)n, " %u", request_value(&c.want, i));
	chaos_say("L %" PRIu64 " %" PRIu64 " %u %" PRIu64 " %u %u %u %u%s", chaos_now(), t->id,
		  c.lim, t->group, c.flags, c.wait_ms, c.run_ms, c.key, want);
	t->pid = fork();
	if (t->pid == -1)
		tap_bail("fork: %s", strerror(errno));
	if (t->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (t->group != 0)
			setpgid(0, t->pgid);
		if (c.also_w != 0)
			name_the_directory();
		execv(w.word[0], w.word);
		_exit(97);
	}
	/* Both do it, and so it is done before it is needed. */
	if (t->group != 0) {
		setpgid(t->pid, t->pgid);
		if (t->pgid == 0)
			t->pgid = t->pid;
	}
}

static void
look_at_the_quiet_one(void)
{
	static uint64_t last;

	if (takers_of(QUIET) && chaos_now() - last < TOO_LATE_NS)
		return;
	last = chaos_now();
	quiet_due = 3 + below(8);
}

void
takers_launch(void)
{
	unsigned i, n = 0;

	if (quiet_due == 0)
		look_at_the_quiet_one();

	for (i = 0; i < AT_ONCE && n < (quiet_due > 0 ? quiet_due : AT_A_TIME); i++)
		if (taker[i].pid == 0) {
			launch(&taker[i]);
			n++;
		}
}

/* A process that has nothing to do with any limiter: how soon does it run? */
void
machine_beats(void)
{
	static uint64_t last;
	uint64_t now = chaos_now();
	char text[24];

	if (now - last < BEAT_NS)
		return;
	last = now;
	snprintf(text, sizeof(text), "%" PRIu64, now);
	if (fork() == 0) {
		execl(self_path, self_path, "beat", text, NULL);
		_exit(97);
	}
}

/* ---- reaping, and what runs ---- */

static void
forget(pid_t pid, uint64_t id)
{
	unsigned i;

	for (i = 0; i < programs; i++)
		if (pid != 0 ? program[i].pid == pid : program[i].id == id && !program[i].heir)
			program[i--] = program[--programs];
}

static void
reaped(pid_t pid, int status)
{
	unsigned i;

	forget(pid, 0);
	for (i = 0; i < AT_ONCE; i++)
		if (taker[i].pid == pid) {
			chaos_say("R %" PRIu64 " %" PRIu64 " %d", chaos_now(), taker[i].id, status);
			/* One that was not killed has reaped its command itself. */
			if (!WIFSIGNALED(status))
				forget(0, taker[i].id);
			taker[i].pid = 0;
		}
}

/*
 * A wrapper that stops with its command may do so after the CONT that was for both.  And a nested
 * wrapper, which has the guard of the outer permit, may do so after nest() was killed: we are its
 * parent then, and nobody else would continue it.
 */
static void
stopped(pid_t pid)
{
	unsigned i;

	for (i = 0; i < AT_ONCE && taker[i].pid != pid; i++)
		;
	if (i == AT_ONCE)
		kill(pid, SIGCONT);
	else if (!harm_will_cont(taker[i].id))
		harm_stopped(&taker[i]);
}

bool
takers_reap(void)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0) {
		if (WIFSTOPPED(status))
			stopped(pid);
		else if (!operator_reaped(pid, status) && !orders_reaped(pid, status))
			reaped(pid, status);
	}
	return pid == -1 && errno == ECHILD;
}

static void
follow_line(const char *line)
{
	uint64_t t, id;
	char letter;
	int pid;

	if (sscanf(line, "%c %" SCNu64 " %" SCNu64 " %d", &letter, &t, &id, &pid) != 4)
		return;
	if ((letter == 'S' || letter == 'H') && programs < PROGRAMS)
		program[programs++] =
		    (struct program){ .pid = pid, .id = id, .heir = letter == 'H' };
	else if (letter == 'E' || letter == 'D')
		forget(pid, 0);
	else if (letter == 'P')
		takers_interrupted++;
	else if (letter == 'T')
		takers_of_two++;
}

void
takers_forget(pid_t pid)
{
	forget(pid, 0);
}

void
takers_follow(void)
{
	static char text[65536];
	static size_t have;
	char *line, *end;
	ssize_t n;

	while ((n = read(log_fd, text + have, sizeof(text) - have)) > 0) {
		have += (size_t)n;
		for (line = text; (end = memchr(line, '\n', have)) != NULL; line = end + 1) {
			*end = '\0';
			if (strchr("SHEDPT", *line) != NULL)
				follow_line(line);
			have -= (size_t)(end + 1 - line);
		}
		memmove(text, line, have);
	}
}
