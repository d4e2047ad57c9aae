/* SPDX-License-Identifier: ISC */
/*
 * command.c - what runs under a permit, and what takes one by the library.
 *
 * A command says that it has started before it does anything else, and that it ends just before
 * it exits.  So what the log has of it lies within its permit, and if two overlap in the log
 * they overlapped.
 */
#include "../helpers/request.h"
#include "chaos.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "flocklimit.h"

static uint64_t
number(const char *text)
{
	return text != NULL ? strtoull(text, NULL, 10) : 0;
}

/*
 * The permits that we run under: the last links of the chain, that of --and after that of -f.  The first
 * part of a link is the limiter.
 */
static const char *
held(unsigned links)
{
	const char *chain = getenv("FLOCKLIMIT_HELD"), *p;

	if (chain == NULL)
		return "";
	for (p = chain + strlen(chain); p > chain; p--)
		if (p[-1] == ' ' && --links == 0)
			break;
	return p;
}

static void
block_term(sigset_t *term)
{
	sigemptyset(term);
	sigaddset(term, SIGTERM);
	sigprocmask(SIG_BLOCK, term, NULL);
}

/* Lasts until `until'; where TERM is not left to kill us, false when it came. */
static bool
work(uint64_t until, const sigset_t *term)
{
	uint64_t now;

	while ((now = chaos_now()) < until) {
		uint64_t left = until - now;
		struct timespec span = { .tv_sec = (time_t)(left / 1000000000u),
					 .tv_nsec = (long)(left % 1000000000u) };
		if (term == NULL)
			nanosleep(&span, NULL);
		else if (sigtimedwait(term, NULL, &span) == SIGTERM)
			return false;
	}
	return true;
}

static void
heir(uint64_t id, uint64_t us)
{
	chaos_say("H %" PRIu64 " %" PRIu64 " %d", chaos_now(), id, (int)getpid());
	work(chaos_now() + us * 1000, NULL);
	chaos_say("D %" PRIu64 " %" PRIu64 " %d", chaos_now(), id, (int)getpid());
}

/* FLOCKLIMIT_SEATS as a set. */
static uint64_t
seats(void)
{
	const char *word = getenv("FLOCKLIMIT_SEATS");
	uint64_t set = 0;

	for (; word != NULL; word = strchr(word, ','))
		set |= UINT64_C(1) << number(word += *word == ',') % 64;
	return set;
}

/* The variables of the command are those of -f. */
static void
say_started(uint64_t id, bool also)
{
	chaos_say("S %" PRIu64 " %" PRIu64 " %d %" PRIu64 " %s %s %s %s %s %" PRIu64, chaos_now(),
		  id, (int)getpid(), (uint64_t)strtoull(held(also ? 2 : 1), NULL, 16),
		  getenv("FLOCKLIMIT_TICKET"), getenv("FLOCKLIMIT_WEIGHT"),
		  getenv("FLOCKLIMIT_LIMIT"), getenv("FLOCKLIMIT_SEAT"), getenv("FLOCKLIMIT_FENCE"),
		  seats());
}

static void
say_permit(char letter, uint64_t id, struct flk *f, const struct flk_permit *p)
{
	chaos_say("%c %" PRIu64 " %" PRIu64 " %d %" PRIu64 " %" PRIu64 " %u %u %u %" PRIu64
		  " %" PRIu64,
		  letter, chaos_now(), id, (int)getpid(), flk_identity(f), p->ticket, p->weight,
		  p->limit, p->seat, p->fence, p->seats);
}

/* The permit of --and, if that limiter still has its name.  The judge knows when it had to have it. */
static void
say_also(uint64_t id, const char *path)
{
	static const struct flk_options existing = { .existing = true };
	uint64_t identity, ticket;
	struct flk_permit permit;
	struct flk *f;
	uint32_t slot;

	if (sscanf(held(1), "%" SCNx64 ":%" SCNx32 ":%" SCNx64, &identity, &slot, &ticket) != 3 ||
	    flk_attach(&f, path, &existing) != 0)
		return;
	if (flk_identity(f) == identity && flk_holds(f, slot, ticket, &permit))
		say_permit('T', id, f, &permit);
	flk_detach(f);
}

/* [ALSO PATH]: the id of its permit of --and, and that limiter. */
static void
say_all_started(uint64_t id, char **also)
{
	say_started(id, also[0] != NULL);
	if (also[0] != NULL)
		say_also(number(also[0]), also[1]);
}

/* ID STYLE US HEIR_US [ALSO PATH]: heir_us > 0: also a child which lasts so long. */
static int
command(char **arg)
{
	uint64_t id = number(arg[0]), style = number(arg[1]), until;
	sigset_t term;

	if (style != PLAIN)
		block_term(&term);
	say_all_started(id, arg + 4);
	if (number(arg[3]) > 0 && fork() == 0) {
		signal(SIGTERM, SIG_DFL);
		if (style != PLAIN)
			sigprocmask(SIG_UNBLOCK, &term, NULL);
		heir(id, number(arg[3]));
		_exit(0);
	}
	until = chaos_now() + number(arg[2]) * 1000;
	while (!work(until, style != PLAIN ? &term : NULL)) {
		if (style == POLITE)
			break;
		chaos_say("A %" PRIu64 " %" PRIu64 " %d", chaos_now(), id, (int)getpid());
	}
	chaos_say("E %" PRIu64 " %" PRIu64 " %d %d", chaos_now(), id, (int)getpid(), CODE(id));
	return CODE(id);
}

/*
 * ID US PATH [ALSO PATH]: a command that runs flocklimit of a limiter of its own, which joins our
 * permit.  What that runs is an heir of ours: it has our descriptors, and no permits but ours.
 */
static int
nest(char **arg, char *self)
{
	char *words[] = { getenv("FLOCKLIMIT"),
			  (char *)(uintptr_t) "-q",
			  (char *)(uintptr_t) "--nonblock",
			  (char *)(uintptr_t) "-f",
			  arg[2],
			  self,
			  (char *)(uintptr_t) "heir",
			  arg[0],
			  arg[1],
			  (char *)(uintptr_t)held(1),
			  NULL };
	uint64_t id = number(arg[0]);
	int status;
	pid_t pid;

	say_all_started(id, arg + 3);
	pid = fork();
	if (pid == 0) {
		/* We may be killed after waitpid() said that it has stopped. */
		prctl(PR_SET_PDEATHSIG, SIGCONT);
		execv(words[0], words);
		_exit(97);
	}
	/* It stops with its command as one job does, and nobody else knows of it. */
	while (waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status))
		kill(pid, SIGCONT);
	chaos_say("E %" PRIu64 " %" PRIu64 " %d %d", chaos_now(), id, (int)getpid(), CODE(id));
	return CODE(id);
}

static struct timespec
deadline(uint64_t ms)
{
	uint64_t at = chaos_now() + ms * 1000000;

	return (struct timespec){ .tv_sec = (time_t)(at / 1000000000u),
				  .tv_nsec = (long)(at % 1000000000u) };
}

static struct flk_taker *restless;

static void
interrupt(int sig)
{
	(void)sig;
	flk_interrupt(restless);
}

/* The next comes at once, or after up to 40 ms. */
static void
set_interrupts(bool on)
{
	struct itimerval span = { .it_value.tv_usec = on ? 1 + rand() % 40000 : 0 };

	setitimer(ITIMER_REAL, &span, NULL);
}

/* The ticket that it waits with, as others see it. */
static uint64_t
ticket_in_line(struct flk *f, uint32_t slot)
{
	struct flk_snapshot *s;
	uint64_t ticket = 0;
	uint32_t i;

	if (flk_snapshot(f, &s) != 0)
		return 0;
	for (i = 0; i < s->holders + s->waiters; i++)
		if (s->entry[i].slot == slot)
			ticket = s->entry[i].ticket;
	free(s);
	return ticket;
}

/* As flk_acquire(), but by a taker that is called away again and again. */
static int
acquire_restlessly(struct flk *f, struct flk_taker *t, const struct flk_request *want,
		   const struct timespec *until, uint64_t id)
{
	struct sigaction action = { .sa_handler = interrupt, .sa_flags = SA_RESTART };
	int error = flk_enqueue(t, want);
	struct flk_permit permit;
	unsigned times = 0;
	uint64_t first;

	if (error != -EINPROGRESS)
		return error;
	first = ticket_in_line(f, flk_slot(t));
	restless = t;
	srand((unsigned)id);
	sigaction(SIGALRM, &action, NULL);
	do {
		set_interrupts(true);
		error = flk_wait(t, until, NULL);
		set_interrupts(false);
		times += error == -EINTR;
	} while (error == -EINTR);
	if (error == 0 && times > 0 && flk_permit(t, &permit) == 0)
		chaos_say("P %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %u", chaos_now(), id,
			  first, permit.ticket, times);
	if (error == -ETIMEDOUT)
		flk_leave(t);
	return error;
}

/* ID PATH KEY WAIT_MS US NUMBERS: takes a permit by the library; KEY 0 is none, WAIT_MS 0 is for ever. */
static int
agent(char **arg, bool is_restless)
{
	uint64_t id = number(arg[0]), wait = number(arg[3]);
	char key[8];
	struct flk_request want = { .command = "agent", .key = number(arg[2]) != 0 ? key : NULL };
	struct timespec until = deadline(wait);
	struct flk_permit permit;
	struct flk_taker *t = NULL;
	struct flk *f = NULL;
	int error;
	size_t i;

	snprintf(key, sizeof(key), "k%.5s", arg[2]);
	for (i = 0; i < REQUEST_NUMBERS; i++)
		*request_number(&want, i) = (uint32_t)number(arg[5 + i]);
	do {
		flk_taker_free(t);
		flk_detach(f);
		t = NULL;
		f = NULL;
		if (flk_attach(&f, arg[1], NULL) != 0 || flk_taker_new(&t, f) != 0)
			return 95;
		error = is_restless ? acquire_restlessly(f, t, &want, wait > 0 ? &until : NULL, id)
				    : flk_acquire(t, &want, wait > 0 ? &until : NULL);
		if (error == 0)
			error = flk_verify(f); /* as flocklimit does: it may have been removed */
	} while (error == -FLK_GONE);
	if (error == -ETIMEDOUT || error == -FLK_CLOSED || error == -FLK_EVICTED)
		return 75;
	if (error != 0 || flk_permit(t, &permit) != 0)
		return 94;
	say_permit('S', id, f, &permit);
	work(chaos_now() + number(arg[4]) * 1000, NULL);
	chaos_say("E %" PRIu64 " %" PRIu64 " %d %d", chaos_now(), id, (int)getpid(), CODE(id));
	if (flk_release(t) != 0)
		return 93;
	flk_taker_free(t);
	flk_detach(f);
	return CODE(id);
}

/* ID PATH WAIT_MS */
static int
idler(char **arg)
{
	struct timespec until = deadline(number(arg[2]));
	struct flk_taker *t = NULL;
	struct flk *f = NULL;
	uint64_t since;
	int error;

	do {
		flk_taker_free(t);
		flk_detach(f);
		t = NULL;
		f = NULL;
		if (flk_attach(&f, arg[1], NULL) != 0 || flk_taker_new(&t, f) != 0)
			return 95;
		since = chaos_now();
		error = flk_wait_idle(t, &until);
	} while (error == -FLK_GONE);
	if (error == 0)
		chaos_say("I %" PRIu64 " %" PRIu64 " %" PRIu64, since, chaos_now(),
			  flk_identity(f));
	flk_taker_free(t);
	flk_detach(f);
	return error == 0 ? CODE(number(arg[0])) : error == -ETIMEDOUT ? 75 : 94;
}

int
chaos_command(int argc, char **argv)
{
	const char *verb = argc > 1 ? argv[1] : "";

	if (strcmp(verb, "command") == 0 && (argc == 6 || argc == 8))
		return command(argv + 2);
	if (strcmp(verb, "nest") == 0 && (argc == 5 || argc == 7))
		return nest(argv + 2, argv[0]);
	if (strcmp(verb, "agent") == 0 && argc == 7 + (int)REQUEST_NUMBERS)
		return agent(argv + 2, false);
	if (strcmp(verb, "restless") == 0 && argc == 7 + (int)REQUEST_NUMBERS)
		return agent(argv + 2, true);
	if (strcmp(verb, "idler") == 0 && argc == 5)
		return idler(argv + 2);
	if (strcmp(verb, "heir") == 0 && argc == 5) {
		/* The permit above may have ended before the join: then this one is our own. */
		if (strcmp(argv[4], held(1)) == 0)
			heir(number(argv[2]), number(argv[3]));
		return 0;
	}
	if (strcmp(verb, "follower") == 0 && argc == 3)
		return chaos_follower(argv[2]);
	if (strcmp(verb, "beat") == 0 && argc == 3) {
		chaos_say("B %s %" PRIu64, argv[2], chaos_now());
		return 0;
	}
	/* Wrong words of ours must not begin a storm in the storm. */
	return verb[strspn(verb, "0123456789")] == '\0' ? -1 : 98;
}
