/* SPDX-License-Identifier: ISC */
/*
 * limiter_state.c - what a snapshot says: the limiter's state in a word, the taker that has a
 * ticket, and why the head of the line does not run.
 */
#include "limiter_state.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "now.h"
#include "fair.h"
#include "gate.h"
#include "json.h"
#include "limiter.h"
#include "pace.h"
#include "parse.h"
#include "say.h"
#include "suspended.h"
#include "text.h"

const char *
state_of(const struct flk_snapshot *s)
{
	if (s->set.closed)
		return "closed";
	if (s->set.paused || s->set.override == 0)
		return "paused";
	if (s->used > s->limit)
		return "draining";
	return s->holders == 0 && s->waiters == 0 ? "idle" : "open";
}

/* The holder with the smallest limit: while it runs, its limit is the one in force. */
static const struct flk_entry *
strictest(const struct flk_snapshot *s)
{
	const struct flk_entry *found = NULL;
	uint32_t i;

	for (i = 0; i < s->holders; i++)
		if (found == NULL || s->entry[i].limit < found->limit)
			found = &s->entry[i];
	return found;
}

static unsigned
members(uint64_t seats)
{
	return (unsigned)__builtin_popcountll(seats);
}

/*
 * The head could have the units, but too few seats are left that are in use, and that it wants; or too
 * few seats are in use at all.
 */
static bool
lacks_seats(const struct flk_snapshot *s, uint64_t room)
{
	const struct flk_entry *head = &s->entry[s->holders], *strict = strictest(s);
	uint64_t excluded = s->set.seats_off | head->not_seats, below, taken = 0;
	uint32_t end = s->set.override != FLK_AUTO                     ? (uint32_t)s->set.override
		       : strict != NULL && strict->limit < head->limit ? strict->limit
								       : head->limit;
	uint32_t i;

	if (head->weight > end)
		end = head->limit;
	if (excluded == 0 || end > FLK_SEATS)
		return false;
	below = end < FLK_SEATS ? (UINT64_C(1) << end) - 1 : UINT64_MAX;
	for (i = 0; i < s->holders; i++)
		taken |= s->entry[i].seats != 0         ? s->entry[i].seats
			 : s->entry[i].seat < FLK_SEATS ? UINT64_C(1) << s->entry[i].seat
							: 0;
	if (members(below & ~excluded) < head->weight)
		return true;
	return s->used + head->weight <= room &&
	       members(below & ~(excluded | taken)) < head->weight;
}

static void
which_seats(const struct flk_snapshot *s, char *text, size_t size)
{
	const struct flk_entry *head = &s->entry[s->holders];
	char off[SEATS_TEXT], not [SEATS_TEXT];
	uint64_t excluded = head->not_seats;

	snprintf(text, size, "wants %u seat%s%s%s%s%s", head->weight, head->weight == 1 ? "" : "s",
		 s->set.seats_off != 0 ? "; out of use: " : "", seats_ranges(s->set.seats_off, off),
		 excluded != 0 ? "; excluded by --not-seat: " : "", seats_ranges(excluded, not ));
}

void
why_it_waits(const struct flk_snapshot *s, const char *name, char *text, size_t size)
{
	const struct flk_entry *head = &s->entry[s->holders], *strict = strictest(s);
	uint64_t room = s->limit > s->set.withheld ? s->limit - s->set.withheld : 0;
	double start_s = seconds_until(s->next_start_ns);
	char pace[PACE_TEXT], span_room[32], gated[GATED_TEXT];
	char remedy[REMEDY_TEXT], shown[VISIBLE(REMEDY_TEXT)];
	const char *suspended;
	int n;

	*text = '\0';
	if (s->waiters == 0)
		return;
	n = snprintf(text, size, "The head of the line, ticket %" PRIu64 ", ", head->ticket);
	if (n < 0 || (size_t)n >= size)
		return;
	text += n;
	size -= (size_t)n;
	suspended = head->host == NULL ? process_suspended((pid_t)head->pid, remedy) : NULL;
	if (suspended != NULL)
		snprintf(text, size, "is %s, and everybody waits for it: %s, or cancel the ticket",
			 suspended, visible(remedy, shown, sizeof(shown)));
	else if (start_s > 0 && !s->set.paused)
		snprintf(text, size, "waits for its time: next start in %s (%s)",
			 say_duration(start_s, span_room),
			 pace_text(&s->set.pace, pace_parts(&s->set.pace), pace));
	else if (s->set.paused)
		snprintf(text, size,
			 "waits because the limiter is paused: flocklimitctl resume %s%s",
			 limiter_option(name), name);
	else if (s->set.override == 0)
		snprintf(text, size, "waits because the limit is 0: flocklimitctl limit %s%s auto",
			 limiter_option(name), name);
	else if (lacks_seats(s, room))
		which_seats(s, text, size);
	else if (room == 0)
		snprintf(text, size, "waits because all %u units are withheld", s->limit);
	else if (s->gated.waits)
		snprintf(text, size, "waits for %s", gated_text(&s->gated, gated));
	else if (s->set.override == FLK_AUTO && strict != NULL && strict->limit < head->limit &&
		 strict->limit == s->limit)
		snprintf(text, size,
			 "wants %u of %u units and %" PRIu64 " are in use: ticket %" PRIu64
			 ", which runs, was promised -n %u",
			 head->weight, s->limit, s->used, strict->ticket, strict->limit);
	else if (head->weight > room)
		snprintf(text, size, "wants %u units, more than there are: it waits to run alone",
			 head->weight);
	else
		snprintf(text, size, "wants %u of %" PRIu64 " units, and %" PRIu64 " are in use",
			 head->weight, room, s->used);
}

uint32_t
weight_most(const struct flk_entry *e)
{
	uint32_t most = e->most < e->limit ? e->most : e->limit;

	return most > e->weight ? most : e->weight;
}

const char *
weight_text(const struct flk_entry *e, char text[WEIGHT_TEXT])
{
	if (e->most <= e->weight)
		snprintf(text, WEIGHT_TEXT, "%u", e->weight);
	else if (e->most == FLK_MAX_UNITS)
		snprintf(text, WEIGHT_TEXT, "%u-", e->weight);
	else
		snprintf(text, WEIGHT_TEXT, "%u-%u", e->weight, e->most);
	return text;
}

const char *
key_text(const struct flk_entry *e, uint32_t fair, char text[KEY_TEXT])
{
	char key[VISIBLE(FLK_KEY)], user[USER_TEXT];
	uint64_t uid;

	text[0] = '\0';
	if (e->key[0] == '\0' || fair == FLK_FAIR_OFF)
		return text;
	visible(e->key, key, sizeof(key));
	if (strcmp(e->key, "-") == 0)
		snprintf(text, KEY_TEXT, "no key");
	else
		snprintf(text, KEY_TEXT, "%s %s", fair_word(fair),
			 fair == FLK_FAIR_USER && parse_number(e->key, 0, UINT32_MAX, &uid)
			     ? user_text((uid_t)uid, user)
			     : key);
	return text;
}

const char *
more_text(const struct flk_entry *e, uint32_t fair, char text[MORE_TEXT])
{
	char name[VISIBLE(FLK_WAITS_FOR)], key[KEY_TEXT];
	int n = 0;

	text[0] = '\0';
	if (*key_text(e, fair, key) != '\0')
		n = e->share > 1 ? snprintf(text, MORE_TEXT, " (%s, share %u)", key, e->share)
				 : snprintf(text, MORE_TEXT, " (%s)", key);
	if (!e->holds && e->yield > 0)
		n += snprintf(text + n, MORE_TEXT - (size_t)n, " (overtaken %u of %u)",
			      e->passed_by, e->yield);
	if (e->waits_for[0] != '\0')
		snprintf(text + n, MORE_TEXT - (size_t)n, " (waits for %s)",
			 visible(e->waits_for, name, sizeof(name)));
	return text;
}

void
more_json(const struct flk_entry *e, json_t *o)
{
	json_put(o, "yield", e->holds ? json_null() : json_integer(e->yield));
	json_put(o, "overtaken", e->holds ? json_null() : json_integer(e->passed_by));
	json_put(o, "key", e->key[0] != '\0' ? json_text(e->key) : json_null());
	json_put(o, "share", e->key[0] != '\0' ? json_integer(e->share) : json_null());
	json_put(o, "not_seats", json_seats(e->not_seats));
	json_put(o, "waits_for", e->waits_for[0] != '\0' ? json_text(e->waits_for) : json_null());
}

const struct flk_entry *
entry_waiting_longest(const struct flk_snapshot *s)
{
	const struct flk_entry *e, *first = NULL;

	for (e = s->entry + s->holders; e < s->entry + s->holders + s->waiters; e++)
		if (first == NULL || e->since_ns < first->since_ns)
			first = e;
	return first;
}

const struct flk_entry *
entry_of_ticket(const struct flk_snapshot *s, uint64_t ticket)
{
	uint32_t i;

	for (i = 0; i < s->holders + s->waiters; i++)
		if (s->entry[i].ticket == ticket)
			return &s->entry[i];
	return NULL;
}
