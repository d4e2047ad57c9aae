/* SPDX-License-Identifier: ISC */
/*
 * tokens.c - how many permits the lender lends to the command.
 *
 * Each byte that we write to the pipe, a token, stands for one permit of ours.
 *
 * 	a byte in the pipe: no job runs under its permit
 * 	a byte that was taken: a job runs under its permit, or the process that took the byte died
 *
 * While no other taker waits, we lend every free permit at once.  As soon as another taker waits,
 * we take bytes out of the pipe and release their permits, one for each waiter.  We do the same
 * with each byte that a job's end brings back, if we are faster than the command.
 *
 * Only an empty pipe shows that the command may want more.  Then one taker of ours joins the line,
 * which also shows other jobservers that we want one.  It gets its turn as any other taker, and
 * overtakes none.  Its command says for which job it asks.  A busy build that has no more jobs than
 * the build that asks keeps what it has; so two builds soon have equally many.
 *
 * Some commands, cargo is one, give no token back while they have jobs to start: the next job takes
 * over the token of the last.  Such a build would gain a permit with each of its turns, and whenever
 * nobody waits for a moment, until it had all.  So a build that took a token and gave none back since
 * gets no more while others wait, and for a while after, unless a build that has more jobs is the
 * head.  What it has we can't call back.
 *
 * A command that needs no more leaves that token in the pipe.  When another taker waits we call the
 * token back, and pause before we ask again, longer each time: else two idle builds would pass one
 * permit to and fro for ever.  The command ends the pause by taking or writing a token.  We also
 * learn for how long to leave the token there: ninja 1.13 looks only when one of its jobs ends.
 */
#include "tokens.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/ioctl.h>

#include "now.h"
#include "process.h"
#include "say.h"

#define LEAST_PATIENCE (SECOND / 50) /* how long a new token is left for the command to take */
#define MOST_PATIENCE  (2 * SECOND)
#define MOST_PAUSE     (10 * SECOND)
#define FIRST_COUNT    (SECOND / 10)
#define MOST_COUNT     (5 * SECOND) /* from one count of the command's processes to the next */

int
tokens_begin(struct tokens *t)
{
	t->taker = calloc((size_t)t->most + 1, sizeof(struct flk_taker *));
	t->want.command = t->text;
	t->patience_ns = LEAST_PATIENCE;
	t->count_pause_ns = FIRST_COUNT;
	return t->taker == NULL ? -ENOMEM : flk_taker_new(&t->observer, t->limiter);
}

/* ---- bytes ---- */

static uint32_t
bytes_in_pipe(const struct tokens *t)
{
	int n = 0;

	return ioctl(t->pipe, FIONREAD, &n) == -1 || n < 0 ? 0 : (uint32_t)n;
}

static bool
take_byte(struct tokens *t)
{
	char token;

	if (read(t->pipe, &token, 1) != 1)
		return false; /* the command was faster */
	if (t->in_pipe > 0)
		t->in_pipe--;
	return true;
}

/* ---- permits ---- */

#define JOB_OF "job %u of" /* the command of each taker, as other processes see it */

static void
pause_asking(struct tokens *t, uint64_t now)
{
	t->unused++;
	t->again_ns = now + earlier(t->patience_ns * t->unused, MOST_PAUSE);
	t->patience_ns = earlier(2 * t->patience_ns, MOST_PATIENCE);
}

/* The next taker was granted a permit: write a byte for it, unless the limiter was removed. */
static int
hand_over(struct tokens *t)
{
	struct flk_taker *next = t->taker[t->lent];
	int error = flk_verify(t->limiter);

	if (error == 0)
		error = flk_guard_by(next, t->guard);
	if (error == 0 && write(t->pipe, "+", 1) != 1)
		error = -errno;
	if (error != 0) {
		flk_release(next);
		return error;
	}
	t->lent++;
	t->in_pipe++;
	return 0;
}

/*
 * Releases the newest permit, so that the holders stay the first takers; a waiting taker moves up.
 */
static void
release_one(struct tokens *t)
{
	struct flk_taker *newest = t->taker[--t->lent];

	flk_release(newest);
	if (t->asking) {
		t->taker[t->lent] = t->taker[t->lent + 1];
		t->taker[t->lent + 1] = newest;
	}
}

/*
 * If the command may want a permit now, our taker joins the line; else it takes only what is free.
 */
static int
take_one(struct tokens *t, bool wanted)
{
	struct flk_taker **next = &t->taker[t->lent];
	int error = *next != NULL ? 0 : flk_taker_new(next, t->limiter);

	/* Job 1 runs under the command's own permit. */
	snprintf(t->text, sizeof(t->text), JOB_OF " %s", t->lent + 2, t->program);
	if (error == 0)
		error = wanted ? flk_enqueue(*next, &t->want) : flk_try(*next, &t->want);
	if (error == 0)
		return hand_over(t);
	t->asking = error == -EINPROGRESS;
	return error;
}

/* ---- a look ---- */

static bool
others_wait(const struct tokens *t, const struct flk_place *place)
{
	return place->ahead > (t->asking ? 1 : 0);
}

/* With the job that needs no token. */
static uint32_t
our_jobs(const struct tokens *t)
{
	return t->lent + 1;
}

/*
 * How many jobs another build has, of which one more is the head of the line.  0: the head is of
 * another kind, or ours: then it gets the permit that we release, and another becomes head.
 */
static uint32_t
jobs_of_head(const struct flk_entry *head)
{
	unsigned job;

	return head->role == FLK_CREW && head->pid != getpid() &&
		       sscanf(head->command, JOB_OF, &job) == 1 && job > 0
		   ? job - 1
		   : 0;
}

static bool
is_wanted_elsewhere(const struct tokens *t, const struct flk_place *place, uint64_t now)
{
	return place->set.paused || place->set.closed || place->used > place->limit ||
	       (others_wait(t, place) &&
		!(now < t->busy_ns && jobs_of_head(&place->head) >= our_jobs(t)));
}

/*
 * Whether the command has taken or written a byte since the last look: then it is at work, and may
 * want more as soon as the pipe is empty.
 */
static bool
notice_work(struct tokens *t, uint64_t now)
{
	uint32_t n = bytes_in_pipe(t);
	uint64_t lent_ns = t->fresh_ns - t->patience_ns;
	bool worked = n != t->in_pipe;

	if (worked) {
		if (t->fresh_ns > now && n < t->in_pipe)
			t->patience_ns = earlier(4 * (now - lent_ns), MOST_PATIENCE);
		if (t->patience_ns < LEAST_PATIENCE)
			t->patience_ns = LEAST_PATIENCE;
		t->fresh_ns = t->again_ns = 0;
		t->busy_ns = now + t->patience_ns;
		t->unused = 0;
		t->keeps = n < t->in_pipe;
		t->took |= t->keeps;
	}
	t->in_pipe = n;
	return worked;
}

/*
 * If there are more bytes than permits, a client wrote tokens that it had not taken.  Then a byte
 * no longer proves that a job has ended, so we keep all permits until the command has ended.
 */
static void
keep_within(struct tokens *t)
{
	while (t->in_pipe > t->lent && take_byte(t)) {
		if (!t->cheated)
			say(t->name,
			    "--jobserver: the command wrote back more tokens than it took: "
			    "its permits are kept until it ends");
		t->cheated = true;
	}
	if (t->cheated && t->asking) {
		flk_leave(t->taker[t->lent]);
		t->asking = false;
	}
}

static int
call_back(struct tokens *t, struct flk_place *place, bool worked, uint64_t now)
{
	uint32_t kept = now < t->fresh_ns ? 1 : 0, before = t->in_pipe;
	int error = 0;

	while (error == 0 && t->in_pipe > kept && t->lent > 0 &&
	       is_wanted_elsewhere(t, place, now)) {
		if (!take_byte(t))
			break;
		release_one(t);
		error = flk_place(t->observer, place);
	}
	if (t->in_pipe < before && t->in_pipe == 0 && !worked)
		pause_asking(t, now);
	return error;
}

static bool
is_held_off(const struct tokens *t, uint64_t now)
{
	return t->keeps && now < t->held_off_ns;
}

static void
lend(struct tokens *t, const struct flk_place *place, uint64_t now)
{
	bool others = others_wait(t, place), wanted = true;
	int error = 0;

	while (error == 0 && !t->asking && t->lent < t->most) {
		wanted = t->in_pipe == 0 && now >= t->again_ns;
		if ((others && !wanted) ||
		    (is_held_off(t, now) && jobs_of_head(&place->head) <= our_jobs(t)))
			break;
		error = take_one(t, wanted);
	}
	if (error != 0 && wanted && !t->asking)
		pause_asking(t, now);
}

/*
 * Behind a launcher or a script there may be a program that knows no jobserver, which nothing limits.
 * So as long as the command took no token, we count its processes while it could take one.  Returns
 * when to count again.
 */
static uint64_t
count_processes(struct tokens *t, uint64_t now)
{
	if (t->took || t->crowded || t->in_pipe == 0)
		return NEVER;
	if (now >= t->count_ns) {
		t->crowded = process_branches(t->command);
		t->count_ns = now + t->count_pause_ns;
		t->count_pause_ns = earlier(2 * t->count_pause_ns, MOST_COUNT);
	}
	return t->count_ns;
}

uint64_t
tokens_look(struct tokens *t)
{
	uint64_t now = now_ns(), due = NEVER;
	bool worked = notice_work(t, now), idle;
	struct flk_place place;
	int error;

	keep_within(t);
	if (t->cheated)
		return NEVER;
	if ((error = flk_place(t->observer, &place)) != 0 ||
	    (error = call_back(t, &place, worked, now)) != 0)
		return error == -FLK_STUCK ? now + SECOND : NEVER;
	if (others_wait(t, &place))
		t->held_off_ns = now + MOST_PAUSE;
	idle = place.set.paused || place.set.closed;
	if (!idle)
		lend(t, &place, now);
	if (t->in_pipe > 0 && t->fresh_ns > now && is_wanted_elsewhere(t, &place, now))
		due = t->fresh_ns;
	else if (t->in_pipe > 0 && t->busy_ns > now && others_wait(t, &place))
		due = t->busy_ns;
	else if (!t->asking && t->lent < t->most && !idle && is_held_off(t, now))
		due = t->held_off_ns;
	else if (t->in_pipe == 0 && t->again_ns > now && !t->asking && t->lent < t->most && !idle)
		due = t->again_ns;
	return earlier(due, count_processes(t, now));
}

struct flk_taker *
tokens_asking(const struct tokens *t)
{
	return t->asking ? t->taker[t->lent] : NULL;
}

void
tokens_heard(struct tokens *t, int code)
{
	uint64_t now = now_ns();

	if (code == -EINTR || code == -ETIMEDOUT)
		return;
	t->asking = false;
	if (code == 0 && hand_over(t) == 0)
		t->fresh_ns = now + t->patience_ns;
	else
		pause_asking(t, now);
}

/* ---- the end ---- */

/*
 * No job runs under the permit of a byte in the pipe: we release these.  The other permits stay
 * tied to the guard: they end when no process that the command started is left, which may be at
 * once.
 */
void
tokens_end(struct tokens *t)
{
	uint32_t i;

	notice_work(t, now_ns());
	if (t->asking)
		flk_leave(t->taker[t->lent]);
	t->asking = false;
	while (!t->cheated && t->lent > 0 && take_byte(t))
		release_one(t);
	for (i = 0; i < t->lent; i++)
		flk_entrust(t->taker[i]);
	for (; t->taker != NULL && i <= t->most; i++)
		flk_taker_free(t->taker[i]);
	flk_taker_free(t->observer);
}

bool
tokens_ignored(const struct tokens *t)
{
	return t->crowded && !t->took;
}
