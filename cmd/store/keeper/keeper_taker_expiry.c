/* SPDX-License-Identifier: ISC */
/*
 * keeper_taker_expiry.c - what is due at a time: signals to a command that loses its permit, and the end of
 * waits for the store.
 */
#include "keeper_taker.h"

#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "now.h"
#include "pidfd.h"
#include "pipe_users.h"
#include "settings.h"

static void
clock_text(char room[16])
{
	time_t now = time(NULL);
	struct tm tm;

	if (localtime_r(&now, &tm) == NULL || strftime(room, 16, "%H:%M:%S", &tm) == 0)
		talk_copy(room, 16, "?");
}

static void
send_signal(const struct keeper_taker *k, int sig)
{
	if (k->pidfd != -1) {
		flki_pidfd_signal(k->pidfd, sig);
		flki_pidfd_signal(k->pidfd, SIGCONT);
	}
	if (k->pidfd == -1 || sig == SIGKILL)
		pipe_users_signal(k->guard, k->wrapper, sig);
}

/* One line per loss: while we were stopped, the wrapper may have written its own. */
static void
say_lost(struct keeper_taker *k, enum expiry_deed deed, const char *why)
{
	char at[16];

	if (k->reported)
		return;
	clock_text(at);
	if (deed == EXPIRY_WARN)
		keeper_taker_write(
		    k, false, "lost the permit at %s: %s; the command continues, by --on-lost=warn",
		    at, why);
	else if (k->pidfd != -1)
		keeper_taker_write(
		    k, false, "lost the permit at %s: %s; pid %d is sent TERM, and KILL after 2 s",
		    at, why, (int)k->pid);
	else
		keeper_taker_write(
		    k, false, "lost the permit at %s: %s%s", at, why,
		    k->guard != -1 ? "; what runs under it is sent TERM, and KILL after 2 s" : "");
}

void
keeper_taker_carry_out(struct keeper_taker *k, enum expiry_deed deed, const char *why)
{
	if (deed == EXPIRY_TERM || deed == EXPIRY_WARN) {
		say_lost(k, deed, why);
		keeper_taker_say(k, TALK_LOST, 0, why);
	}
	if (deed == EXPIRY_TERM || deed == EXPIRY_KILL)
		send_signal(k, deed == EXPIRY_TERM ? SIGTERM : SIGKILL);
}

static const char *
why_late(const struct keeper_taker *k)
{
	return k->away != NULL ? k->away : "the store did not confirm it in time";
}

static uint64_t
step(struct keeper_taker *k, uint64_t now)
{
	if (k->state == PERMIT_HELD && expiry_due(&k->expiry) <= now)
		keeper_taker_catch_up(k);
	if (k->state == PERMIT_HELD && k->exit_ns <= now)
		keeper_taker_release(k);
	if (k->state == PERMIT_LEAVING || k->state == PERMIT_RELEASING) {
		if (now < k->give_up_ns)
			return k->give_up_ns;
		keeper_taker_end(k);
	}
	if (k->state != PERMIT_HELD)
		return EXPIRY_NEVER;
	keeper_taker_carry_out(k, expiry_step(&k->expiry, now), why_late(k));
	return earlier(expiry_due(&k->expiry), k->exit_ns);
}

uint64_t
keeper_taker_step(struct keeper_taker *k, uint64_t now)
{
	uint64_t next = step(k, now);

	if (k->unclaimed)
		next = earlier(next, keeper_taker_look_for_wrapper(k, now));
	return earlier(next, keeper_taker_send_unsent(k, now));
}
