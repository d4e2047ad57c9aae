/* SPDX-License-Identifier: ISC */
/*
 * why.c - the verb why: what a ticket's wait was made of, as text and as JSON.
 */
#include "ctl.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event.h"
#include "json.h"
#include "limiter_state.h"
#include "limiters.h"
#include "now.h"
#include "parts.h"
#include "say.h"
#include "text.h"
#include "tickets.h"

#define WHO (200 + KEY_TEXT)

/* The reasons in words: for programs; for people; and what a taker that is to blame has to do with it. */
static const struct {
	const char *word, *text, *blame;
} words[WHY_REASONS] = {
	[WHY_PAUSE] = { "paused", "it was paused, or its limit was 0", "" },
	[WHY_PASSED] = { "passed", "others passed, by --yield or by turns", ", the longest " },
	[WHY_UNITS] = { "units", "holders had the units", ", the most of them " },
	[WHY_PROMISE] = { "promise", "a holder has a stricter -n", ": " },
	[WHY_WITHHELD] = { "withheld", "units were withheld, or their seats out of use", "" },
	[WHY_SEATS] = { "seats", "holders had the seats that it does not exclude",
			", the most of them " },
	[WHY_GATE] = { "gate", "the gate let nothing start", "" },
	[WHY_PACE] = { "pace", "the pace allowed no start", "" },
	[WHY_LATE] = { "late", "the head might start, but was stopped or had not looked yet",
		       ": " },
	[WHY_UNKNOWN] = { "unknown", "not known: the history does not tell", "" },
	[WHY_LINE] = { "line", "others were ahead in the line", ", the longest " },
};

static const char *const fates[] = {
	[WHY_NOT_KNOWN] = "unknown",   [WHY_NO_WAIT] = "granted", [WHY_FORGOTTEN] = "unknown",
	[WHY_WAITS] = "waiting",       [WHY_GRANTED] = "granted", [WHY_LEFT] = "left",
	[WHY_CANCELLED] = "cancelled", [WHY_REAPED] = "reaped",   [WHY_NO_END] = "unknown",
};

/* How the wait ended, for the end of a sentence. */
static const char *
ending(enum why_fate fate)
{
	switch (fate) {
	case WHY_GRANTED:
		return ", then got its permit";
	case WHY_LEFT:
		return ", then gave up";
	case WHY_CANCELLED:
		return ", then was cancelled";
	case WHY_REAPED:
		return ", then was killed";
	case WHY_NO_END:
		return "; how that ended was not recorded";
	default:
		return " so far";
	}
}

/* The history does not say keys: only of those that are there it is known. */
static const char *
key_of(const struct flk_snapshot *s, uint64_t ticket, char room[KEY_TEXT])
{
	const struct flk_entry *e = entry_of_ticket(s, ticket);

	return e != NULL ? key_text(e, s->set.fair, room) : "";
}

/* "ticket 12 (cc, weight 2)", in a fair limiter "ticket 12 (cc, weight 2, user tom)" */
static const char *
who(const struct flk_snapshot *s, const struct why_taker *t, bool with_limit, char room[WHO])
{
	char command[VISIBLE(20)], key[KEY_TEXT];

	snprintf(room, WHO, "ticket %" PRIu64 " (%s%sweight %u", t->ticket,
		 visible(t->command, command, sizeof(command)), *t->command != '\0' ? ", " : "",
		 t->weight);
	if (with_limit)
		snprintf(room + strlen(room), WHO - strlen(room), ", -n %u", t->limit);
	if (*key_of(s, t->ticket, key) != '\0')
		snprintf(room + strlen(room), WHO - strlen(room), ", %s", key);
	snprintf(room + strlen(room), WHO - strlen(room), ")");
	return room;
}

/* The reasons, the longest part first. */
static void
sort_parts(const struct why *y, enum why_reason order[WHY_REASONS])
{
	int i, k;

	for (i = 0; i < WHY_REASONS; i++) {
		for (k = i; k > 0 && y->part[order[k - 1]].ns < y->part[i].ns; k--)
			order[k] = order[k - 1];
		order[k] = (enum why_reason)i;
	}
}

static double
share_of(const struct why *y, uint64_t ns)
{
	return y->to_ns > y->from_ns ? (double)ns / (double)(y->to_ns - y->from_ns) : 0;
}

static void
print_text(const struct ctl *c, const struct why *y, const struct flk_snapshot *s)
{
	enum why_reason order[WHY_REASONS];
	char room[WHO], took[32], name[VISIBLE(1024)];
	int i;

	visible(name_of(c), name, sizeof(name));
	if (y->fate == WHY_NO_WAIT) {
		printf("%s: %s did not wait\n", name, who(s, &y->taker, false, room));
		return;
	}
	printf("%s: %s waited %s%s%s\n", name, who(s, &y->taker, false, room),
	       y->early ? "over " : "", span((double)(y->to_ns - y->from_ns) / 1e9, c->raw, took),
	       ending(y->fate));
	sort_parts(y, order);
	for (i = 0; i < WHY_REASONS; i++) {
		const struct why_part *part = &y->part[order[i]];
		if (part->ns == 0)
			continue;
		printf("%9s  %5.1f %%  %s", span((double)part->ns / 1e9, c->raw, took),
		       100 * share_of(y, part->ns), words[order[i]].text);
		if (part->taker.ticket != 0)
			printf("%s%s", words[order[i]].blame,
			       who(s, &part->taker, order[i] == WHY_PROMISE, room));
		putchar('\n');
	}
}

static json_t *
json_key(const struct flk_snapshot *s, uint64_t ticket)
{
	const struct flk_entry *e = entry_of_ticket(s, ticket);

	return e != NULL && e->key[0] != '\0' ? json_text(e->key) : json_null();
}

static json_t *
json_part(const struct why *y, const struct flk_snapshot *s, enum why_reason reason)
{
	const struct why_part *part = &y->part[reason];
	const struct why_taker *t = &part->taker;
	bool blamed = t->ticket != 0;
	json_t *o = json_object();

	json_put(o, "reason", json_string(words[reason].word));
	json_put(o, "span_s", json_exact(part->ns));
	json_put(o, "share", json_real(share_of(y, part->ns)));
	json_put(o, "ticket", blamed ? json_u64(t->ticket) : json_null());
	json_put(o, "command", blamed ? json_text(t->command) : json_null());
	json_put(o, "weight", blamed ? json_integer(t->weight) : json_null());
	json_put(o, "key", blamed ? json_key(s, t->ticket) : json_null());
	json_put(o, "declared", blamed && t->limit != 0 ? json_integer(t->limit) : json_null());
	return o;
}

static json_t *
json_why(const struct ctl *c, const struct why *y, const struct flk_snapshot *s, const char *path)
{
	json_t *o = json_begin(name_of(c), path), *parts = json_array();
	enum why_reason order[WHY_REASONS];
	int i;

	sort_parts(y, order);
	for (i = 0; i < WHY_REASONS; i++)
		if (y->part[order[i]].ns > 0)
			json_array_append_new(parts, json_part(y, s, order[i]));
	json_put(o, "ticket", json_u64(y->ticket));
	json_put(o, "command", json_text(y->taker.command));
	json_put(o, "weight", json_integer(y->taker.weight));
	json_put(o, "key", json_key(s, y->ticket));
	json_put(o, "state", json_string(fates[y->fate]));
	json_put(o, "since", json_seconds(epoch_of(y->from_ns)));
	json_put(o, "waited_s", json_exact(y->to_ns - y->from_ns));
	json_put(o, "whole", json_boolean(!y->early));
	json_put(o, "parts", parts);
	return o;
}

static int
is_missing(const struct ctl *c, const struct why *y)
{
	say(name_of(c), "ticket %" PRIu64 ": %s", y->ticket,
	    y->fate == WHY_NOT_KNOWN && !y->drawn
		? "no taker has drawn it yet"
		: "its wait is not in the history, which has the last events only");
	return NO;
}

static int
why_tell(const struct ctl *c, struct flk *f, struct why *y, const struct flk_snapshot *s,
	 json_t *array)
{
	if (y->fate == WHY_NOT_KNOWN || y->fate == WHY_FORGOTTEN)
		return is_missing(c, y);
	if (y->fate == WHY_NO_WAIT)
		y->early = false;
	if (c->json)
		json_array_append_new(array, json_why(c, y, s, flk_path(f)));
	else
		print_text(c, y, s);
	return DONE;
}

static int
why_one(const struct ctl *c, struct flk *f, uint64_t ticket, void *ctx)
{
	struct flk_event *event = calloc(FLK_HISTORY, sizeof(*event));
	struct flk_snapshot *s = NULL;
	struct why y = { .ticket = ticket };
	int error = event == NULL ? -ENOMEM : flk_snapshot(f, &s), status = error;
	size_t n;

	if (error == 0) {
		n = events_since_boot(f, event);
		error = why_parts(&y, ticket, event, n, s, now_ns());
		status = error != 0 ? error : why_tell(c, f, &y, s, ctx);
	}
	free(event);
	free(s);
	return status;
}

int
why_of(const struct ctl *c)
{
	json_t *array;
	int status;

	array = json_array();
	status = for_tickets(c, why_one, array);
	if (c->json)
		json_print_each(array, c->words + c->files > 2);
	else
		json_decref(array);
	return status;
}
