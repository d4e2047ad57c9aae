/*
 * last.c - the last moments of a command that loses its permit, and what else is due.
 */
#include "seat.h"

#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "detach.h"
#include "heirs.h"
#include "settings.h"

#ifndef SYS_pidfd_send_signal
#define SYS_pidfd_send_signal 424
#endif

static void
clock_text(char room[16])
{
	time_t now = time(NULL);
	struct tm tm;

	if (localtime_r(&now, &tm) == NULL || strftime(room, 16, "%H:%M:%S", &tm) == 0)
		talk_copy(room, 16, "?");
}

static void
send_signal(const struct seat *s, int sig)
{
	if (s->pidfd != -1) {
		syscall(SYS_pidfd_send_signal, s->pidfd, sig, NULL, 0);
		syscall(SYS_pidfd_send_signal, s->pidfd, SIGCONT, NULL, 0);
	}
	if (s->pidfd == -1 || sig == SIGKILL)
		heirs_send(s->guard, s->wrapper, sig);
}

/* One loss, one line: the wrapper may have said its own, as we were stopped. */
static void
say_lost(const struct seat *s, enum ward_deed deed, const char *why)
{
	const char *limiter = s->branch->limiter;
	char at[16];

	if (s->told)
		return;
	clock_text(at);
	if (deed == WARD_TELL)
		detach_say(limiter,
			   "lost the permit at %s: %s; the command continues, by --on-lost=warn",
			   at, why);
	else if (s->pidfd != -1)
		detach_say(limiter,
			   "lost the permit at %s: %s; pid %d is sent TERM, and KILL after 2 s", at,
			   why, (int)s->pid);
	else
		detach_say(limiter, "lost the permit at %s: %s%s", at, why,
			   s->guard != -1 ? "; what runs under it is sent TERM, and KILL after 2 s"
					  : "");
}

void
seat_deed(struct seat *s, enum ward_deed deed, const char *why)
{
	switch (deed) {
	case WARD_TERM:
		say_lost(s, deed, why);
		seat_tell_lost(s, why);
		send_signal(s, SIGTERM);
		break;
	case WARD_KILL:
		send_signal(s, SIGKILL);
		break;
	case WARD_TELL:
		say_lost(s, deed, why);
		seat_tell_lost(s, why);
		break;
	default:
		break;
	}
}

static const char *
why_late(const struct seat *s)
{
	return s->away[0] != '\0' ? s->away : "the store did not confirm it in time";
}

static uint64_t
step(struct seat *s, uint64_t now)
{
	if (s->stage == HOLDS && ward_due(&s->ward) <= now)
		seat_catch_up(s);
	if (s->stage == HOLDS && s->exit_ns <= now)
		seat_release(s);
	if (s->stage == LEAVING || s->stage == RELEASING) {
		if (now < s->give_up_ns)
			return s->give_up_ns;
		seat_tell_kind(s, s->stage == LEAVING ? TALK_LEFT : TALK_RELEASED);
		seat_rest(s);
	}
	if (s->stage != HOLDS)
		return WARD_NEVER;
	seat_deed(s, ward_step(&s->ward, now), why_late(s));
	return ward_due(&s->ward) < s->exit_ns ? ward_due(&s->ward) : s->exit_ns;
}

uint64_t
seat_step(struct seat *s, uint64_t now)
{
	uint64_t next = step(s, now), again = seat_tell_owed(s, now);

	return again < next ? again : next;
}
