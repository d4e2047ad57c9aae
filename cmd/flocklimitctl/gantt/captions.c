/* SPDX-License-Identifier: ISC */
/*
 * captions.c - what the pictures say.
 */
#include "captions.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "event.h"
#include "say.h"
#include "seats.h"
#include "text.h"

const char *
outcome_name(enum outcome o)
{
	static const char *const names[OUTCOMES] = {
		[WELL] = "exit 0",           [BADLY] = "exit not 0", [SIGNALED] = "signal",
		[LATE] = "run timeout",      [REAPED] = "reaped",    [UNTOLD] = "end unknown",
		[RUNNING] = "still running",
	};

	return names[o];
}

static double
seconds(uint64_t from_ns, uint64_t to_ns)
{
	return to_ns > from_ns ? (double)(to_ns - from_ns) / 1e9 : 0;
}

const char *
from_to(const struct lanes *l, char room[120])
{
	char from[40], to[40], took[32];
	const char *until = time_of(l->to_ns, to);

	time_of(l->from_ns, from);
	if (strncmp(from, to, 11) == 0) /* the same day */
		until += 11;
	snprintf(room, 120, "%s to %s (%s)", from, until,
		 say_duration(seconds(l->from_ns, l->to_ns), took));
	return room;
}

const char *
mark_text(const struct flk_event *e, char room[40])
{
	switch (e->kind) {
	case FLK_EV_OVERRIDE:
		if (e->code == FLK_AUTO)
			return "limit auto";
		snprintf(room, 40, "limit %d", e->code);
		return room;
	case FLK_EV_DECLARED:
		snprintf(room, 40, "declared %d", e->code);
		return room;
	case FLK_EV_RESTORED:
		snprintf(room, 40, "restored %d", e->code);
		return room;
	case FLK_EV_SEAT_OFF:
	case FLK_EV_SEAT_ON:
		snprintf(room, 40, "seat %d %s", e->code,
			 e->kind == FLK_EV_SEAT_OFF ? "off" : "on");
		return room;
	case FLK_EV_PAUSED:
	case FLK_EV_RESUMED:
	case FLK_EV_CLOSED:
	case FLK_EV_OPENED:
	case FLK_EV_REPAIRED:
	case FLK_EV_PACED:
	case FLK_EV_GATE:
		return event_name(e->kind);
	default:
		return "";
	}
}

static const char *
ending(const struct turn *t, char room[80])
{
	char status[40];

	if (!t->over)
		return t->held ? "still running" : "still waiting";
	if (t->last == NULL)
		return "its end was not recorded";
	switch (t->last->kind) {
	case FLK_EV_RELEASED:
		snprintf(room, 80, "%s%s", t->last->code == FLK_UNKNOWN ? "ended, " : "",
			 status_text(t->last->code, status));
		return room;
	case FLK_EV_FORGOT:
		return "ended, its units withheld";
	case FLK_EV_REAPED:
		return t->held ? "reaped: it was killed while it held"
			       : "reaped: it was killed while it waited";
	default:
		snprintf(room, 80, "no permit: %s", why_left(t->last->code));
		return room;
	}
}

static void append(char room[TITLE_TEXT], const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void
append(char room[TITLE_TEXT], const char *format, ...)
{
	size_t n = strlen(room);
	va_list ap;

	va_start(ap, format);
	vsnprintf(room + n, TITLE_TEXT - n, format, ap);
	va_end(ap);
}

const char *
title_of(const struct turn *t, char room[TITLE_TEXT])
{
	char took[32], user[USER_TEXT], text[80], seats[SEATS_TEXT], words[PASSED_TEXT];
	const char *passed = t->first != NULL ? event_passed(t->first, words) : "";

	*room = '\0';
	append(room, "ticket %" PRIu64 "%s%s\n", t->ticket, *t->command != '\0' ? ": " : "",
	       t->command);
	append(room, "weight %u", t->weight);
	if (t->pid != 0)
		append(room, ", pid %d, %s", t->pid, user_name(t->uid, false, user));
	append(room, "\n");
	if (t->waited)
		append(room, "waited %s%s%s", t->early ? "over " : "",
		       say_duration(seconds(t->queued_ns, lanes_wait_end(t)), took),
		       t->held || *passed != '\0' ? ", " : "");
	append(room, "%s%s", passed, *passed != '\0' && t->held ? ", " : "");
	if (t->held)
		append(room, "ran %s%s on seat%s %s", t->early && !t->waited ? "over " : "",
		       say_duration(seconds(t->granted_ns, t->end_ns), took),
		       (t->seats & (t->seats - 1)) != 0 ? "s" : "",
		       seats_of_permit(t->seats, t->seat, seats));
	if (t->last != NULL && t->last->kind == FLK_EV_RELEASED && t->last->memory != 0) {
		append(room, "\npeak %s, ", size_text(t->last->memory, false, text));
		append(room, "CPU %s", say_duration((double)t->last->cpu_ns / 1e9, took));
	}
	append(room, "\n%s", ending(t, text));
	return room;
}
