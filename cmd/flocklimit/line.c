/* SPDX-License-Identifier: ISC */
#include "line.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "estimate.h"
#include "explain.h"
#include "limiter.h"
#include "now.h"
#include "options.h"
#include "question.h"
#include "place.h"
#include "say.h"
#include "share.h"
#include "signals.h"
#include "spawn.h"
#include "stuck.h"
#include "suspended.h"
#include "kind.h"
#include "user.h"
#include "waiting.h"

#define STAYS_TEXT 160

/* We wait; the taker that does so, which the handler cancels, or NULL: a keeper does; and the signal. */
static _Atomic bool waits;
static struct flk_taker *_Atomic waiting;
static _Atomic int ended_by;

static void (*release_others)(void);

void
line_at_signal(void (*release)(void))
{
	release_others = release;
}

/*
 * When we do not wait any more, a signal can still run this handler in a process that is about to
 * become the command: this one, or a child that shares our memory.  Then the signal is for the
 * command, and does by default what it would do there.
 */
static void
on_signal(int sig)
{
	struct flk_taker *t = waiting;

	if (!waits) {
		signal(sig, SIG_DFL);
		kill(getpid(), sig); /* in a child of vfork(), raise() signals the parent */
		return;
	}
	ended_by = sig;
	if (t != NULL)
		flk_cancel(t);
}

/* ---- signals that would end us: leave the line first ---- */

/* An ignored signal stays ignored: nohup(1), jobs in the background. */
static void
catch_signals(struct flk_taker *t)
{
	struct sigaction handle = { .sa_handler = on_signal }, old;
	int sig;

	waiting = t;
	waits = true;
	/* A fault must not be blocked: in the handler the file may turn out to be cut short. */
	sigfillset(&handle.sa_mask);
	sigdelset(&handle.sa_mask, SIGBUS);
	for (sig = 1; sig <= SIGRTMAX; sig++)
		if (signal_ends(sig) && !signal_is_fault(sig) && sigaction(sig, NULL, &old) == 0 &&
		    old.sa_handler == SIG_DFL)
			sigaction(sig, &handle, NULL);
}

/* ---- what people see ---- */

/* How the line stands for us, or for a keeper in that slot; *wait_s is how long it may wait yet, or -1. */
static int
look_at(struct flk_taker *t, const uint32_t *slot, struct flk_place *place, double *wait_s)
{
	struct flk_snapshot *s;
	double *each;
	uint32_t i;
	int error;

	*wait_s = -1;
	error = flk_place(t, place);
	if (error != 0 || slot == NULL || (error = flk_snapshot(flk_limiter(t), &s)) != 0)
		return error;
	for (i = 0; i < s->waiters && s->entry[s->holders + i].slot != *slot; i++)
		;
	if (i < s->waiters) {
		place->ahead = i;
		if (i == 0)
			place->head.ticket = 0;
		if ((each = calloc(s->waiters, sizeof(*each))) != NULL) {
			estimate(s, each);
			*wait_s = each[i];
		}
		free(each);
	}
	free(s);
	return 0;
}

/* "; about 3 min to wait yet, and the place stays for 5 min" */
static const char *
stays(const struct options *o, double wait_s, char room[STAYS_TEXT])
{
	char wait[32], keep[32];
	int n = 0;

	room[0] = '\0';
	if (wait_s >= 0)
		n = snprintf(room, STAYS_TEXT, "; about %s to wait yet, and",
			     say_duration(wait_s, wait));
	snprintf(room + n, STAYS_TEXT - (size_t)n, "%s the place stays for %s", n > 0 ? "" : ";",
		 say_duration((double)o->want.how.keep_ns / 1e9, keep));
	return room;
}

static void
complain(struct flk_taker *t, const struct options *o, int code, const uint32_t *slot,
	 double waited)
{
	char kept[STAYS_TEXT] = "", text[PLACE_TEXT], stuck[STUCK_TEXT], span[32], why[80],
	     name[USER_TEXT];
	struct flk_place place;
	double wait_s = -1;
	const char *host;
	int error;
	pid_t by;
	uid_t user;

	if (o->want.how.quiet)
		return;
	say_tail = flocklimit_overflow == NULL ? options_tail(o) : NULL;
	error = code != -FLK_STUCK ? look_at(t, slot, &place, &wait_s) : code;
	if (slot != NULL && (code == -ETIMEDOUT || code == -EAGAIN))
		stays(o, wait_s, kept);
	switch (-code) {
	case FLK_STUCK:
		if (o->want.timeout_ns == 0) {
			snprintf(why, sizeof(why), "no permit without waiting");
			break;
		}
		/* fall through */
	case ETIMEDOUT:
		snprintf(why, sizeof(why), "no permit after %s", say_duration(waited, span));
		break;
	case EAGAIN:
		snprintf(why, sizeof(why), "no permit without waiting");
		break;
	case FLK_FULL:
		snprintf(why, sizeof(why), "no permit, as --max-queue is %u",
			 o->want.request.max_queue);
		break;
	case FLK_CLOSED:
		say(o->want.limiter,
		    "no permit: the limiter is closed%s, until flocklimitctl open %s%s",
		    kind_line(t), limiter_option(o->want.limiter), o->want.limiter);
		return;
	default:
		if (o->want.how.keep_ns != 0) {
			say(o->want.limiter, "no permit: an operator cancelled the place");
			return;
		}
		flk_evictor(t, &by, &user);
		host = here.tending != NULL ? here.tending->evictor(t) : NULL;
		say(o->want.limiter, "no permit: cancelled by pid %d of user %s%s%s", (int)by,
		    user_text(user, name), host != NULL ? " on " : "", host != NULL ? host : "");
		return;
	}
	say(o->want.limiter, "%s%s: %s%s", why, kind_line(t),
	    error == 0            ? say_place(&place, text)
	    : error == -FLK_STUCK ? stuck_text(flk_stuck_pid(flk_limiter(t)), stuck)
				  : explain(error),
	    kept);
}

struct watcher {
	const struct options *o;
	const uint32_t *slot; /* of a keeper that waits for us; NULL: we wait */
	struct waiting waiting;
	bool status; /* a status line is on the screen */
	bool said_place, said_suspended;
};

static void
show(struct flk_taker *t, struct watcher *w, const struct flk_place *place)
{
	const char *limiter = w->o->want.limiter, *where = kind_line(t), *keeps = "";
	char text[PLACE_TEXT], room[KEEPS_TEXT];

	if (place != NULL)
		keeps = limiter_keeps(&w->o->want, place, room);

	if (!w->waiting.terminal) {
		say(limiter, "%s",
		    waiting_text(&w->waiting, place, where, keeps, PLACE_TEXT, text));
		return;
	}
	say_status(limiter,
		   waiting_text(&w->waiting, place, where, keeps, say_status_width(limiter), text));
	w->status = true;
}

/* With -v once when the wait begins, and then whenever a line is due. */
static void
report(struct flk_taker *t, struct watcher *w, uint64_t now)
{
	bool is_due = waiting_is_due(&w->waiting, now);
	struct flk_permit granted;
	struct flk_place place;
	char text[PLACE_TEXT], remedy[REMEDY_TEXT];
	const char *suspended;
	double wait_s;
	int error;

	if (!is_due && !w->o->want.how.verbose)
		return;
	error = look_at(t, w->slot, &place, &wait_s);
	if (is_due && error == 0)
		waiting_look_above(&w->waiting, flk_limiter(t), &place);
	/* The look may have granted it, and what we saw above us was ourselves. */
	if (error == 0 && flk_permit(t, &granted) == 0)
		return;
	if (is_due)
		show(t, w, error == 0 ? &place : NULL);
	if (error != 0 || !w->o->want.how.verbose)
		return;
	if (!w->said_place)
		say(w->o->want.limiter, "waiting%s: %s", kind_line(t), say_place(&place, text));
	w->said_place = true;
	if (!w->said_suspended && place.head.ticket != 0 && place.head.host == NULL &&
	    (suspended = process_suspended((pid_t)place.head.pid, remedy)) != NULL) {
		say(w->o->want.limiter,
		    "the head of the line, pid %u, is %s, and everybody waits for it: %s",
		    place.head.pid, suspended, remedy);
		w->said_suspended = true;
	}
}

/* ---- the wait ---- */

/* Before each sleep.  A signal that ends us may have come while the question was asked. */
static uint64_t
look(void *watcher, struct flk_taker *t)
{
	struct watcher *w = watcher;
	uint64_t now = now_ns();

	if (!ended_by)
		report(t, w, now);
	return w->o->want.how.verbose && now + SECOND < w->waiting.next ? now + SECOND
									: w->waiting.next;
}

static void
begin(struct watcher *w, uint64_t *deadline)
{
	uint64_t timeout = w->o->want.timeout_ns;

	waiting_begin(&w->waiting, w->o->want.how.quiet, say_has_terminal());
	if (*deadline == 0)
		*deadline = timeout == NEVER ? NEVER : w->waiting.since + timeout;
}

/* Returns how long the wait was. */
static double
end(const struct watcher *w)
{
	waits = false;
	waiting = NULL;
	signals_block();
	if (w->status)
		say_status(w->o->want.limiter, "");
	return (double)(now_ns() - w->waiting.since) / 1e9;
}

void
line_say(struct flk_taker *t, const struct options *o, int code, const uint32_t *slot,
	 double waited)
{
	char span[32];

	switch (-code) {
	case 0:
		if (o->want.how.verbose)
			say(o->want.limiter, "waited %s", say_duration(waited, span));
		break;
	case ETIMEDOUT:
	case FLK_STUCK:
		complain(t, o, code, slot, (double)o->want.timeout_ns / 1e9);
		break;
	case EAGAIN:
	case FLK_FULL:
	case FLK_CLOSED:
	case FLK_EVICTED:
		complain(t, o, code, slot, 0);
		break;
	default:
		break;
	}
}

int
line_take(struct flk_taker *t, const struct options *o, const struct flk_request *want,
	  uint64_t *deadline, const sigset_t *mask)
{
	struct watcher w = { .o = o };
	struct question *q = want->ask_context;
	double waited = 0;
	int code;

	code = o->want.timeout_ns == 0 ? flk_try(t, want) : flk_enqueue(t, want);
	if (code == -EINPROGRESS) {
		begin(&w, deadline);
		catch_signals(t);
		if (q != NULL) {
			q->deadline = *deadline;
			q->mask = mask;
		}
		code = flki_await(t, want, *deadline, mask, look, &w);
		waited = end(&w);
		if (ended_by) {
			flk_leave(t);
			if (release_others != NULL)
				release_others();
			signal_die(ended_by);
			_exit(128 + ended_by);
		}
	}
	line_say(t, o, code, NULL, waited);
	if (code == -ETIMEDOUT || code == -FLK_STUCK)
		flk_leave(t);
	return code;
}

int
line_wait_kept(struct flk_taker *t, const struct options *o, int answers, uint32_t slot,
	       uint64_t *deadline, const sigset_t *mask)
{
	struct watcher w = { .o = o, .slot = &slot };
	struct pollfd answer = { .fd = answers, .events = POLLIN };
	struct timespec left;
	uint64_t next, now;
	char text[STAYS_TEXT], span[32];
	double waited;
	int n;

	begin(&w, deadline);
	catch_signals(NULL);
	do {
		next = look(&w, t);
		next = next < *deadline ? next : *deadline;
		now = now_ns();
		left = flki_timespec(next > now ? next - now : 0);
		n = ppoll(&answer, 1, next == NEVER ? NULL : &left, mask);
	} while (n <= 0 && !ended_by && now_ns() < *deadline);
	waited = end(&w);
	if (ended_by) {
		if (!o->want.how.quiet)
			say(o->want.limiter, "no permit after %s%s", say_duration(waited, span),
			    stays(o, -1, text));
		signal_die(ended_by);
		_exit(128 + ended_by);
	}
	if (n > 0 && o->want.how.verbose)
		line_say(t, o, 0, NULL, waited);
	if (n > 0)
		return 0;
	return o->want.timeout_ns == 0 ? -EAGAIN : -ETIMEDOUT;
}
