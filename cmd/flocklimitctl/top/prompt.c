/* SPDX-License-Identifier: ISC */
/*
 * prompt.c - what top asks, and what is done then.
 *
 * A change is made to the row that was marked when its key was pressed, in the limiter that was on
 * the screen then.  We compare the limiter's identity: its name may be another limiter's by now,
 * and there the same ticket would be another taker's.  The screen goes on while a question is open.
 */
#include "prompt.h"

#include <errno.h>
#include <inttypes.h>
#include <ncurses.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kind.h"
#include "explain.h"
#include "limit_word.h"
#include "limiters.h"
#include "own.h"
#include "parse.h"
#include "process.h"
#include "processes.h"
#include "rows.h"
#include "setting.h"
#include "signal_holder.h"
#include "terminal.h"

void
prompt_say(struct screen *v, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(v->message, sizeof(v->message), format, ap);
	va_end(ap);
}

/* ---- what a key is about ---- */

const struct flk_snapshot *
prompt_subject(const struct screen *v)
{
	if (v->name != NULL)
		return v->s;
	return v->mark < v->rows ? v->row[v->mark].s : NULL;
}

static const char only_looked_at[] = "it is another user's, and is only looked at";

/* Opens the limiter that p is about; NULL, after a message, if it was removed since. */
static struct flk *
open_subject(struct screen *v, const struct prompt *p)
{
	struct flk *f = NULL;
	int error = here.attach(&f, p->name[0] != '\0' ? p->name : v->attach, &existing);

	if (error == 0 && flk_identity(f) != p->identity)
		error = -FLK_GONE;
	if (error == 0)
		return f;
	flk_detach(f);
	if (error == -FLK_FOREIGN)
		prompt_say(v, "%s", only_looked_at);
	else if (error == -ENOENT || error == -FLK_GONE)
		prompt_say(v, "nothing done: that limiter was removed meanwhile");
	else
		prompt_say(v, "%s", explain(error));
	return NULL;
}

/* Fills in what the question is about: the marked row.  False, after a message: there is none. */
static bool
set_subject(struct screen *v, struct prompt *p)
{
	const struct row *r = v->mark < v->rows ? &v->row[v->mark] : NULL;

	if (v->f != NULL && flki_is_reader(v->f)) {
		prompt_say(v, "%s", only_looked_at);
		return false;
	}
	if (v->name != NULL && v->s != NULL) {
		*p = (struct prompt){ .identity = v->identity };
		if (r != NULL)
			p->entry = *r->entry;
		return true;
	}
	if (v->name == NULL && r != NULL && r->s != NULL) {
		*p = (struct prompt){ .identity = r->identity };
		snprintf(p->name, sizeof(p->name), "%s", r->name);
		return true;
	}
	prompt_say(v, "there is no limiter to do that with");
	return false;
}

/* ---- what is done ---- */

static void
report(struct screen *v, int error, const char *done)
{
	if (error == 0)
		prompt_say(v, "%s", done);
	else if (error == -FLK_GONE)
		prompt_say(v, "nothing done: that limiter was removed meanwhile");
	else
		prompt_say(v, "%s", explain(error));
	v->next_ns = 0;
}

static void
set(struct screen *v, struct flk *f, unsigned which, const struct flk_settings *to,
    const char *done)
{
	report(v, flk_set(f, which, to), done);
}

/* Changes the state that the screen shows to the opposite, even if it is another by now. */
void
prompt_toggle(struct screen *v, int key)
{
	const struct flk_snapshot *s = prompt_subject(v);
	static const struct flk_settings paused = { .paused = true };
	struct prompt about;
	struct flk *f;

	if (!set_subject(v, &about) || (f = open_subject(v, &about)) == NULL)
		return;
	if (key == 'o')
		set(v, f, FLK_SET_CLOSED, &flki_no_settings, "open: it admits again");
	else if (s->set.paused)
		set(v, f, FLK_SET_PAUSED, &flki_no_settings, "resumed");
	else
		set(v, f, FLK_SET_PAUSED, &paused, "paused: nothing new starts");
	flk_detach(f);
}

static void
change_limit(struct screen *v, struct flk *f)
{
	struct flk_settings to;
	char done[40];

	if (!parse_limit(v->ask.answer, &to.override)) {
		prompt_say(v, "'%.20s': not a number, N%% or auto", v->ask.answer);
		return;
	}
	if (to.override == FLK_AUTO)
		snprintf(done, sizeof(done), "limit: auto");
	else
		snprintf(done, sizeof(done), "limit: %" PRId64, to.override);
	set(v, f, FLK_SET_OVERRIDE, &to, done);
}

/* The permit may have been granted while the question was open. */
static void
take_out(struct screen *v, struct flk *f, uint64_t ticket)
{
	struct flk_snapshot *s = NULL;
	char done[60];
	uint32_t i;
	int error = flk_evict(f, ticket);

	snprintf(done, sizeof(done), "ticket %" PRIu64 ": out of the line", ticket);
	if (error != -FLK_NOPERMIT) {
		report(v, error, done);
		return;
	}
	prompt_say(v, "ticket %" PRIu64 ": it is no longer in the line", ticket);
	if (flk_snapshot(f, &s) == 0)
		for (i = 0; i < s->holders; i++)
			if (s->entry[i].ticket == ticket)
				prompt_say(v, "ticket %" PRIu64 ": it runs by now", ticket);
	free(s);
	v->next_ns = 0;
}

static void
send_signal(struct screen *v, struct flk *f, const struct flk_entry *e, int sig)
{
	char done[120];
	int error;

	if (e->host != NULL) {
		prompt_say(v, "it is on %s: signal it there", e->host);
		return;
	}
	if (outlived(e)) {
		prompt_say(v, "its flocklimit is dead: kill what it left by its own pid");
		return;
	}
	error = signal_holder(f, e, sig);
	snprintf(done, sizeof(done), "ticket %" PRIu64 ": signal %s sent", e->ticket,
		 sigabbrev_np(sig) != NULL ? sigabbrev_np(sig) : v->ask.answer);
	if (error == -ENOENT)
		prompt_say(v, "it has just ended, or its pid is of another namespace");
	else
		report(v, error, done);
	v->next_ns = 0;
}

static void
signal_named(struct screen *v, struct flk *f)
{
	int sig;

	if (parse_signal(v->ask.answer, &sig))
		send_signal(v, f, &v->ask.entry, sig);
	else
		prompt_say(v, "'%.20s': not a signal: a name such as TERM, or a number",
			   v->ask.answer);
}

void
prompt_find(struct screen *v)
{
	size_t i, k;

	for (k = 1; k <= v->rows && v->sought[0] != '\0'; k++) {
		i = (v->mark + k) % v->rows;
		if (rows_match(&v->row[i], v->sought)) {
			screen_move(v, (long)i);
			return;
		}
	}
	if (v->sought[0] != '\0')
		prompt_say(v, "nothing found: %s", v->sought);
	else
		prompt_say(v, "find what? / asks for it");
}

static void
answered(struct screen *v)
{
	static const struct flk_settings closed = { .closed = true };
	struct prompt *p = &v->ask;
	struct flk *f = NULL;

	if (p->about == FIND) {
		snprintf(v->sought, sizeof(v->sought), "%s", p->answer);
		prompt_find(v);
	} else if ((f = open_subject(v, p)) != NULL) {
		if (p->about == LIMIT)
			change_limit(v, f);
		else if (p->about == CLOSE)
			set(v, f, FLK_SET_CLOSED, &closed,
			    "closed: waiters and newcomers are rejected");
		else if (p->about == SIGNAL)
			signal_named(v, f);
		else if (p->entry.holds)
			send_signal(v, f, &p->entry, SIGTERM);
		else
			take_out(v, f, p->entry.ticket);
	}
	flk_detach(f);
	p->about = NOTHING;
}

/* ---- questions ---- */

void
prompt_open(struct screen *v, enum question about)
{
	const struct flk_snapshot *s = prompt_subject(v);
	struct prompt p = { .about = NOTHING };
	size_t room = sizeof(p.question);

	if (about != FIND && !set_subject(v, &p))
		return;
	if (about == FIND)
		snprintf(p.question, room, "find: ");
	else if (about == LIMIT)
		snprintf(p.question, room, "limit (N, N%%, auto): ");
	else if (about == CLOSE && s != NULL)
		snprintf(p.question, room, "close it, and reject %u waiting (y/n)? ", s->waiters);
	else if (p.entry.ticket == 0)
		prompt_say(v, v->name == NULL ? "which taker? Enter looks into the limiter"
					      : "nobody holds or waits");
	else if (about == SIGNAL && !p.entry.holds)
		prompt_say(v, "it waits: c takes it out of the line");
	else if (about == SIGNAL)
		snprintf(p.question, room,
			 "signal for ticket %" PRIu64 ", pid %d: ", p.entry.ticket, p.entry.pid);
	else if (p.entry.role == FLK_KEEPER && p.entry.holds)
		snprintf(p.question, room, "release ticket %" PRIu64 " of --hold-for (y/n)? ",
			 p.entry.ticket);
	else if (p.entry.holds)
		snprintf(p.question, room, "TERM to ticket %" PRIu64 ", pid %u, which runs (y/n)? ",
			 p.entry.ticket, p.entry.pid);
	else
		snprintf(p.question, room, "take ticket %" PRIu64 " out of the line (y/n)? ",
			 p.entry.ticket);
	if (p.question[0] == '\0')
		return;
	v->ask = p;
	v->ask.about = about;
}

/* Removes the last character, with all its bytes. */
static void
rub_out(char *answer)
{
	size_t n = strlen(answer);

	while (n > 0 && ((unsigned char)answer[n - 1] & 0xc0) == 0x80)
		n--;
	answer[n > 0 ? n - 1 : 0] = '\0';
}

void
prompt_take(struct screen *v, int key)
{
	struct prompt *p = &v->ask;
	bool yes_or_no = p->about == CLOSE || p->about == CANCEL;
	size_t n = strlen(p->answer);

	if (key == KEY_RESIZE || key == KEY_AGAIN)
		return;
	if (yes_or_no) {
		if (key == 'y' || key == 'Y')
			answered(v);
		p->about = NOTHING;
	} else if (key == '\r' || key == '\n' || key == KEY_ENTER) {
		if (n > 0)
			answered(v);
		p->about = NOTHING;
	} else if (key == 27 || key == KEY_CTRL('g')) {
		p->about = NOTHING;
	} else if (key == KEY_BACKSPACE || key == 127 || key == KEY_CTRL('h')) {
		rub_out(p->answer);
	} else if (key == KEY_CTRL('u')) {
		p->answer[0] = '\0';
	} else if (key >= ' ' && key < 256 && n + 1 < sizeof(p->answer)) {
		p->answer[n] = (char)key;
		p->answer[n + 1] = '\0';
	}
}
