/* SPDX-License-Identifier: ISC */
/*
 * event.c - an event of a limiter's history, as a line for people and for programs.
 */
#include "event.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "kind.h"
#include "ctl.h"
#include "fair.h"
#include "gate.h"
#include "json.h"
#include "pace.h"
#include "seats.h"
#include "text.h"

#define TOOK 80

size_t
events_since_boot(struct flk *f, struct flk_event *event)
{
	size_t n = flk_history(f, 0, event, FLK_HISTORY), i;

	for (i = 0; i < n; i++)
		if ((int64_t)event[i].when_ns < 0)
			event[i].when_ns = 0;
	return n;
}

const char *
event_name(uint32_t kind)
{
	static const char *const names[] = {
		[FLK_EV_QUEUED] = "queued",     [FLK_EV_GRANTED] = "granted",
		[FLK_EV_RELEASED] = "ended",    [FLK_EV_UNITS] = "released",
		[FLK_EV_FORGOT] = "forgot",     [FLK_EV_LEFT] = "left",
		[FLK_EV_EVICTED] = "cancelled", [FLK_EV_REAPED] = "reaped",
		[FLK_EV_DECLARED] = "declared", [FLK_EV_OVERRIDE] = "limit",
		[FLK_EV_PAUSED] = "paused",     [FLK_EV_RESUMED] = "resumed",
		[FLK_EV_CLOSED] = "closed",     [FLK_EV_OPENED] = "opened",
		[FLK_EV_RESTORED] = "restored", [FLK_EV_REPAIRED] = "repaired",
		[FLK_EV_PACED] = "pace",        [FLK_EV_SEAT_OFF] = "seat-off",
		[FLK_EV_SEAT_ON] = "seat-on",   [FLK_EV_GATE] = "when",
		[FLK_EV_GATED] = "gated",       [FLK_EV_FAIR] = "fair",
		[FLK_EV_UNFAIR] = "unfair",     [FLK_EV_GREW] = "grew",
	};

	return kind < sizeof(names) / sizeof(names[0]) && names[kind] != NULL ? names[kind]
									      : "unknown";
}

const char *
why_left(int code)
{
	/* In a forged file it may be any number, also INT_MIN, which can't be negated. */
	switch (code) {
	case -ETIMEDOUT:
		return "timed out";
	case -FLK_CANCELLED:
		return "by a signal";
	case -FLK_CLOSED:
		return "the limiter is closed";
	case -FLK_EVICTED:
		return "by an operator";
	default:
		return "gave up";
	}
}

/* What the command took, for the end of a line; "" if it is not known. */
static const char *
took_text(const struct flk_event *e, bool raw, char room[TOOK])
{
	char size[SIZE_TEXT], time[32];

	*room = '\0';
	if (e->kind == FLK_EV_RELEASED && e->memory != 0)
		snprintf(room, TOOK, ", peak %s, CPU %s", size_text(e->memory, raw, size),
			 span((double)e->cpu_ns / 1e9, raw, time));
	return room;
}

#define DETAIL (GATED_TEXT + 16)
_Static_assert(DETAIL >= PACE_TEXT && DETAIL >= SEATS_TEXT + 48, "room for each detail");

/* A permit's seats. */
static const char *
seats_words(const struct flk_event *e, char room[DETAIL])
{
	char seats[SEATS_TEXT];

	if ((e->seats & (e->seats - 1)) == 0)
		snprintf(room, DETAIL, "seat %u", e->seat);
	else
		snprintf(room, DETAIL, "seats %s", seats_ranges(e->seats, seats));
	return room;
}

const char *
event_passed(const struct flk_event *e, char room[PASSED_TEXT])
{
	if (e->code <= 0)
		return "";
	snprintf(room, PASSED_TEXT, "before %d that came earlier", e->code);
	return room;
}

/* What a waiter has passed, and what it excludes. */
static const char *
queued_words(const struct flk_event *e, char room[DETAIL])
{
	char seats[SEATS_TEXT], words[PASSED_TEXT];
	const char *passed = event_passed(e, words);

	if (e->seats == 0)
		snprintf(room, DETAIL, "%s", passed);
	else
		snprintf(room, DETAIL, "%s%snot seat %s", passed, *passed != '\0' ? ", " : "",
			 seats_ranges(e->seats, seats));
	return room;
}

/* What only this kind of event has. */
static const char *
detail(const struct flk_event *e, char room[DETAIL])
{
	struct flk_gated g = { .waits = true };
	char gated[GATED_TEXT], seats[SEATS_TEXT];

	switch (e->kind) {
	case FLK_EV_QUEUED:
		return queued_words(e, room);
	case FLK_EV_GRANTED:
		return seats_words(e, room);
	case FLK_EV_RELEASED:
		return status_text(e->code, room);
	case FLK_EV_GREW:
		snprintf(room, DETAIL, "%d units%s%s", e->code, e->seats != 0 ? ", seats " : "",
			 seats_ranges(e->seats, seats));
		return room;
	case FLK_EV_UNITS:
	case FLK_EV_FORGOT:
	case FLK_EV_RESTORED:
		snprintf(room, DETAIL, "%d units", e->code);
		return room;
	case FLK_EV_LEFT:
		return why_left(e->code);
	case FLK_EV_EVICTED:
		return why_left(e->code);
	case FLK_EV_REAPED:
		return e->code != 0 ? "killed while it ran" : "killed while it waited";
	case FLK_EV_DECLARED:
		snprintf(room, DETAIL, "%d", e->code);
		return room;
	case FLK_EV_OVERRIDE:
		if (e->code == FLK_AUTO)
			return "auto";
		snprintf(room, DETAIL, "%d", e->code);
		return room;
	case FLK_EV_SEAT_OFF:
	case FLK_EV_SEAT_ON:
		snprintf(room, DETAIL, "seat %d", e->code);
		return room;
	case FLK_EV_FAIR:
		snprintf(room, DETAIL, "by %s", fair_word((uint32_t)e->code));
		return room;
	case FLK_EV_PACED:
		return pace_text(&e->pace, (unsigned)e->code, room);
	case FLK_EV_GATE:
		snprintf(room, DETAIL, "%s", e->when[0] != '\0' ? e->when : "off");
		return room;
	case FLK_EV_GATED:
		memcpy(g.when, e->when, sizeof(e->when));
		g.value = e->value;
		snprintf(room, DETAIL, "waits for %s",
			 e->when[0] != '\0' ? gated_text(&g, gated)
					    : "the answer to its own question");
		return room;
	default:
		return "";
	}
}

static void
print_text(const struct event_of *s, const struct flk_event *e, const char *abroad)
{
	char when[40], room[DETAIL], ticket[24] = "", user[USER_TEXT], command[VISIBLE(20)];
	char host[VISIBLE(HOST)] = "", took[TOOK];

	if (s->c->raw)
		snprintf(when, sizeof(when), "%.6f", epoch_of(e->when_ns));
	else
		time_of(e->when_ns, when);
	if (e->ticket != 0)
		snprintf(ticket, sizeof(ticket), "%" PRIu64, e->ticket);
	printf("%s  ", when);
	if (s->width > 0)
		printf("%-*s  ", s->width, s->name);
	printf("%-9s  %6s  ", event_name(e->kind), ticket);
	if (event_has_taker(e))
		printf("-w %u  ", e->weight);
	if (abroad != NULL)
		visible(abroad, host, sizeof(host));
	else if (kind_machine() != NULL)
		visible(kind_machine(), host, sizeof(host));
	printf("%s%s", host, host[0] != '\0' ? "  " : "");
	/* Changes that the store's own tools made have no process. */
	if (e->pid == 0 && !here.is_file) {
		printf("%s\n", detail(e, room));
		return;
	}
	printf("pid %-7d  %-8s  %s%s%s%s\n", e->pid, user_name(e->uid, s->c->raw, user),
	       visible(e->command, command, sizeof(command)), e->command[0] != '\0' ? "  " : "",
	       detail(e, room), took_text(e, s->c->raw, took));
}

static json_t *
json_known(bool is_known, int64_t n)
{
	return is_known ? json_integer(n) : json_null();
}

static void
print_json(const struct event_of *s, const struct flk_event *e, const char *abroad)
{
	const char *host = abroad != NULL ? abroad : kind_machine();
	bool known = e->kind == FLK_EV_RELEASED && e->memory != 0;
	bool process = e->pid != 0 || here.is_file, taker = e->ticket != 0;
	json_t *o = json_begin(s->name, s->path);
	char room[DETAIL];

	json_put(o, "number", json_u64(e->number));
	json_put(o, "time", json_seconds(epoch_of(e->when_ns)));
	json_put(o, "event", json_string(event_name(e->kind)));
	json_put(o, "code", json_integer(e->code));
	json_put(o, "detail", json_text(detail(e, room)));
	json_put(o, "ticket", taker ? json_u64(e->ticket) : json_null());
	json_put(o, "weight", json_known(event_has_taker(e), e->weight));
	json_put(o, "command", event_has_taker(e) ? json_text(e->command) : json_null());
	json_put(o, "seat", json_known(e->kind == FLK_EV_GRANTED, e->seat));
	json_put(o, "seats",
		 e->kind == FLK_EV_GRANTED || e->kind == FLK_EV_GREW ? json_seats(e->seats)
								     : json_null());
	json_put(o, "not_seats", e->kind == FLK_EV_QUEUED ? json_seats(e->seats) : json_null());
	json_put(o, "host", host != NULL && *host != '\0' ? json_text(host) : json_null());
	json_put(o, "pid", json_known(process, e->pid));
	json_put(o, "uid", json_known(process, e->uid));
	json_put(o, "pace", e->kind == FLK_EV_PACED ? json_pace(&e->pace) : json_null());
	json_put(o, "when", e->when[0] != '\0' ? json_text(e->when) : json_null());
	json_put(o, "memory_bytes", known ? json_u64(e->memory) : json_null());
	json_put(o, "cpu_s", known ? json_seconds((double)e->cpu_ns / 1e9) : json_null());
	json_print_line(o);
}

void
event_print(const struct event_of *s, const struct flk_event *e, const char *abroad)
{
	s->c->json ? print_json(s, e, abroad) : print_text(s, e, abroad);
}
