/* SPDX-License-Identifier: ISC */
/*
 * tend.c - the wrapper while its command runs.  It forks another keeper if the first dies, and
 * stands in for a keeper that is stopped: at the permit's last moment it ends the command itself.
 */
#include "internal.h"

#include <time.h>

#include "clock.h"
#include "kind.h"
#include "now.h"
#include "machine.h"
#include "pidfd.h"
#include "say.h"
#include "settings.h"

#define LATER (SECOND / 20) /* the keeper acts first */
#define AGAIN SECOND        /* before the next try to start a keeper */

static uint64_t look(void);

static void
be_quiet(bool quiet)
{
	settings.quiet = quiet;
}

static const char *
key(const struct flk_taker *t)
{
	return const_taker_of(t)->key;
}

static const char *
line(const struct flk_taker *taker)
{
	const struct store_taker *t = const_taker_of(taker);

	return t->state == PERMIT_LOCAL || t->local_refused ? " on this machine (--local)" : "";
}

static const char *
evictor(const struct flk_taker *taker)
{
	const struct store_taker *t = const_taker_of(taker);

	return t->evictor_host[0] != '\0' ? machine_of(t->evictor_host) : NULL;
}

static bool
lost(struct flk_taker *taker)
{
	struct store_taker *t = taker_of(taker);

	await_hear(t); /* the keeper reports the loss before it signals the command */
	return t->lost && !settings.warn;
}

static bool
hears(const siginfo_t *info)
{
	if (info->si_signo != AWAIT_SIGNAL)
		return false;
	look();
	return info->si_code > 0; /* from the kernel */
}

static int
descriptor(void)
{
	const struct store_taker *t = LIST_FIRST(&takers_of_thread);

	return t != NULL ? t->tie.socket : -1;
}

/* The time left to the permit; if it is lost already, the time until the command must get KILL. */
static uint64_t
time_left(const struct store_taker *t)
{
	struct expiry e;
	uint64_t left;

	expiry_begin(&e, settings.ttl_s, settings.grace_s, false, atomic_load(t->tie.alive_ns));
	left = left_until(expiry_deadline(&e) + LATER, flki_boottime_ns());
	if (!t->lost)
		return left;
	return earlier(left, left_until(t->lost_ns + EXPIRY_NOTICE + LATER, now_ns()));
}

/*
 * Writes its line last, as that waits for the reader of stderr.  The keeper learns of the line
 * first, and writes none of its own when it continues.
 */
static void
end_it(struct store_taker *t)
{
	struct talk m = { .kind = TALK_REPORTED };
	bool reported = t->lost;

	t->lost = t->killed = true;
	flki_pidfd_signal(t->pidfd, SIGKILL);
	if (reported)
		return;
	talk_send(t->tie.socket, &m, -1);
	talk_copy(t->lost_text, sizeof(t->lost_text),
		  "the keeper does not answer: was it stopped?");
	say(limiter_of(t)->name, "lost the permit: %s; pid %d is sent KILL", t->lost_text,
	    (int)t->working);
}

/* Whether the wrapper must end the command in time; with or without a keeper. */
static bool
is_ours_to_end(const struct store_taker *t)
{
	return t->state == PERMIT_HELD && !t->killed && !settings.warn && t->pidfd != -1;
}

/* Hears the keeper.  If none can be started now, returns when to try again: there may be room later. */
static uint64_t
hear(struct store_taker *t)
{
	uint64_t now = now_ns();

	if (t->tie.socket == -1 && (t->state == PERMIT_IDLE || now < t->again_ns))
		return t->state == PERMIT_IDLE ? UINT64_MAX : t->again_ns;
	if (await_hear(t) == 0)
		return UINT64_MAX;
	t->again_ns = now + AGAIN;
	return t->again_ns;
}

static uint64_t
look(void)
{
	uint64_t next = host_look(), left;
	struct store_taker *t;

	LIST_FOREACH(t, &takers_of_thread, entry) {
		next = earlier(next, hear(t));
		if (!is_ours_to_end(t))
			continue;
		left = time_left(t);
		if (left == 0)
			end_it(t);
		else
			next = earlier(next, now_ns() + left);
	}
	return next;
}

const struct tending store_tending = { .quiet = be_quiet,
				       .open = await_mask,
				       .by_signal = await_by_signal,
				       .hears = hears,
				       .fd = descriptor,
				       .look = look,
				       .hush = link_hush,
				       .working = flk_working,
				       .lost = lost,
				       .key = key,
				       .line = line,
				       .evictor = evictor };
