/* SPDX-License-Identifier: ISC */
/*
 * harm.c - KILL, TERM, STOP and CONT, for wrappers, commands, both, groups and crowds.
 *
 * What is about to be done is logged first, for then the process that it hits has lived at least
 * until then; but a CONT is logged once it is sent, for then a stop has lasted at most until then.
 */
#include "driver.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/syscall.h>

#define PLANS 1000

struct plan {
	uint64_t at;
	enum target what;
	uint64_t id; /* of the taker or the group */
	pid_t pid;   /* COMMAND: the command; GROUP: the group */
	int sig;
	int stopped; /* CONT for a command: a descriptor of it, by which it was stopped */
};

unsigned harm_done;

static struct plan plans[PLANS];
static unsigned planned;

unsigned
below(unsigned n)
{
	return (unsigned)rand() / 3 % n;
}

bool
chance(unsigned percent)
{
	return below(100) < percent;
}

static void
plan(uint64_t in_us, struct plan p)
{
	if (planned == PLANS)
		return;
	p.at = chaos_now() + in_us * 1000;
	plans[planned++] = p;
}

static void
log_harm(enum target what, uint64_t target, int sig)
{
	chaos_say("K %" PRIu64 " %d %" PRIu64 " %d", chaos_now(), (int)what, target, sig);
	if (sig != SIGCONT)
		harm_done++;
}

/* A descriptor of the process, if it is still the one that logged this id and not a later one. */
static int
hold_program(pid_t pid, uint64_t id)
{
	char path[40], text[400] = "", want[24];
	int fd = (int)syscall(SYS_pidfd_open, pid, 0), in;
	const char *word;
	ssize_t n;

	if (fd == -1)
		return -1;
	snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
	snprintf(want, sizeof(want), "%" PRIu64, id);
	in = open(path, O_RDONLY | O_CLOEXEC);
	n = in != -1 ? read(in, text, sizeof(text) - 1) : -1;
	if (in != -1)
		close(in);
	/* our program, what it does, its id */
	word = text + strlen(text) + 1;
	if (n > 0 && word < text + n) {
		const char *given = word + strlen(word) + 1;
		const char *name = strrchr(text, '/');
		if (given < text + n && name != NULL && strcmp(name, "/chaos.t") == 0 &&
		    strcmp(given, want) == 0)
			return fd;
	}
	close(fd);
	return -1;
}

/* -1, or its descriptor, which the caller closes. */
static int
hit_program_and_hold(pid_t pid, uint64_t id, int sig)
{
	int fd = hold_program(pid, id);

	if (fd == -1) {
		takers_forget(pid); /* its end was another's to see */
		return -1;
	}
	log_harm(COMMAND, (uint64_t)pid, sig);
	syscall(SYS_pidfd_send_signal, fd, sig, NULL, 0);
	return fd;
}

static void
hit_program(pid_t pid, uint64_t id, int sig)
{
	int fd = hit_program_and_hold(pid, id, sig);

	if (fd != -1)
		close(fd);
}

/*
 * By the descriptor by which it was stopped: a look at its command line may fail, and a command
 * that stays stopped keeps its permit.
 */
static void
cont_program(const struct plan *p)
{
	const struct taker *t = taker_of(p->id);

	/* Its wrapper has stopped with it, as one job. */
	if (t != NULL)
		kill(t->pid, SIGCONT);
	if (p->stopped != -1) {
		syscall(SYS_pidfd_send_signal, p->stopped, SIGCONT, NULL, 0);
		close(p->stopped);
	}
	/* The checker knows the end of a stop by it, though the stopped is gone. */
	log_harm(COMMAND, (uint64_t)p->pid, SIGCONT);
}

static void
hit_taker(uint64_t id, int sig)
{
	const struct taker *t = taker_of(id);

	if (t != NULL && sig != SIGCONT)
		log_harm(WRAPPER, id, sig);
	if (t != NULL)
		kill(t->pid, sig); /* not reaped yet, so it is nobody else */
	if (sig == SIGCONT)
		log_harm(WRAPPER, id, sig);
}

static void
carry_out(const struct plan *p)
{
	int stopped = -1;

	switch (p->what) {
	case WRAPPER:
		hit_taker(p->id, p->sig);
		break;
	case COMMAND:
		if (p->sig == SIGCONT)
			cont_program(p);
		else if (p->sig == SIGSTOP)
			stopped = hit_program_and_hold(p->pid, p->id, p->sig);
		else
			hit_program(p->pid, p->id, p->sig);
		break;
	case GROUP:
		if (p->sig != SIGCONT)
			log_harm(GROUP, p->id, p->sig);
		kill(-p->pid, p->sig);
		if (p->sig == SIGCONT)
			log_harm(GROUP, p->id, p->sig);
		break;
	}
	if (p->sig == SIGSTOP) {
		struct plan cont = *p;
		cont.sig = SIGCONT;
		cont.stopped = stopped;
		plan(500 + below(40000), cont);
	}
}

void
harm_planned(uint64_t now)
{
	unsigned i;

	for (i = 0; i < planned; i++)
		if (plans[i].at <= now) {
			struct plan p = plans[i];
			plans[i--] = plans[--planned];
			carry_out(&p);
		}
}

bool
harm_will_cont(uint64_t id)
{
	const struct taker *t = taker_of(id);
	unsigned i;

	for (i = 0; i < planned; i++)
		if (plans[i].sig == SIGCONT &&
		    plans[i].id == (plans[i].what == GROUP && t != NULL ? t->group : id))
			return true;
	return false;
}

void
harm_stopped(const struct taker *t)
{
	log_harm(WRAPPER, t->id, SIGSTOP);
	hit_taker(t->id, SIGCONT);
}

/* ---- targets ---- */

static const struct taker *
some_taker(void)
{
	const struct taker *t = &taker[below(AT_ONCE)];

	return t->pid != 0 ? t : NULL;
}

static void
one_taker(int sig)
{
	const struct taker *t = some_taker();

	if (t != NULL)
		carry_out(&(struct plan){ .what = WRAPPER, .id = t->id, .sig = sig });
}

static void
one_program(int sig)
{
	const struct program *p = programs > 0 ? &program[below(programs)] : NULL;

	if (p != NULL)
		carry_out(
		    &(struct plan){ .what = COMMAND, .id = p->id, .pid = p->pid, .sig = sig });
}

/* The two at one stroke, in either order. */
static void
both(void)
{
	struct program p;
	bool first;

	if (programs == 0)
		return;
	p = program[below(programs)];
	first = chance(50);
	if (first)
		hit_taker(p.id, SIGKILL);
	hit_program(p.pid, p.id, SIGKILL);
	if (!first)
		hit_taker(p.id, SIGKILL);
}

/* One that was just launched, at some time in the next ms: while it comes in. */
static void
a_young_one(void)
{
	const struct taker *t = taker_of(last_id);

	if (t != NULL)
		plan(below(3000), (struct plan){ .what = WRAPPER, .id = t->id, .sig = SIGKILL });
}

static void
a_group(int sig)
{
	unsigned i, n = 0, start = below(AT_ONCE);

	for (; n < AT_ONCE; n++) {
		i = (start + n) % AT_ONCE;
		if (taker[i].pid != 0 && taker[i].group != 0) {
			carry_out(&(struct plan){ .what = GROUP,
						  .id = taker[i].group,
						  .pid = taker[i].pgid,
						  .sig = sig });
			return;
		}
	}
}

/* Many of one limiter, as fast as we can. */
static void
a_crowd(void)
{
	unsigned lim = below(QUIET), i, most = 5 + below(20);

	for (i = 0; i < AT_ONCE && most > 0; i++)
		if (taker[i].pid != 0 && taker[i].lim == lim && chance(50)) {
			hit_taker(taker[i].id, SIGKILL);
			most--;
		}
}

/* One that holds or waits in the quiet limiter; its command with it, or not. */
static void
a_quiet_one(void)
{
	unsigned start = below(AT_ONCE), n, i, k;

	for (n = 0; n < AT_ONCE; n++) {
		i = (start + n) % AT_ONCE;
		if (taker[i].pid == 0 || taker[i].lim != QUIET)
			continue;
		hit_taker(taker[i].id, SIGKILL);
		for (k = chance(50) ? 0 : programs; k < programs; k++)
			if (program[k].id == taker[i].id)
				hit_program(program[k].pid, program[k].id, SIGKILL);
		return;
	}
}

bool
due(double per_second, double seconds)
{
	return rand() < RAND_MAX * (per_second * seconds);
}

void
harm_some(double seconds)
{
	if (due(8, seconds))
		one_taker(SIGKILL);
	if (due(6, seconds))
		one_taker(SIGTERM);
	if (due(1.5, seconds))
		one_taker(SIGSTOP);
	if (due(8, seconds))
		one_program(SIGKILL);
	if (due(5, seconds))
		one_program(SIGTERM);
	if (due(5, seconds))
		one_program(SIGSTOP);
	if (due(5, seconds)) /* the wrapper of one that runs: an orphan */
		if (programs > 0)
			hit_taker(program[below(programs)].id, SIGKILL);
	if (due(5, seconds))
		both();
	if (due(6, seconds))
		a_young_one();
	if (due(4, seconds))
		a_quiet_one();
	if (due(1, seconds))
		a_group(SIGKILL);
	if (due(1, seconds))
		a_group(SIGTERM);
	if (due(0.7, seconds))
		a_group(SIGSTOP);
	if (due(0.4, seconds))
		a_crowd();
}

/* At the end: no process is to wait for a CONT that was lost with the process that owed it. */
void
harm_cont_all(void)
{
	char path[64];
	unsigned i;
	FILE *in;
	int pid;

	for (i = 0; i < programs; i++) {
		int fd = hold_program(program[i].pid, program[i].id);
		if (fd != -1) {
			syscall(SYS_pidfd_send_signal, fd, SIGCONT, NULL, 0);
			close(fd);
		}
	}
	/* takers and orphans */
	snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
	in = fopen(path, "re");
	while (in != NULL && fscanf(in, "%d", &pid) == 1)
		kill(pid, SIGCONT);
	if (in != NULL)
		fclose(in);
}

/* They hung: it is a violation, but what is left is to be judged by what was done to it. */
void
harm_end_all(void)
{
	unsigned i;

	for (i = 0; i < AT_ONCE; i++)
		if (taker[i].pid != 0)
			hit_taker(taker[i].id, SIGKILL);
	for (i = 0; i < programs; i++)
		hit_program(program[i].pid, program[i].id, SIGKILL);
}
