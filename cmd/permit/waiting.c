/* SPDX-License-Identifier: ISC */
#include "waiting.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gate.h"
#include "now.h"
#include "own.h"
#include "process.h"
#include "say.h"

#define ON_TERMINAL (2 * SECOND)  /* a shorter wait is not worth a status line */
#define ELSEWHERE   (30 * SECOND) /* a shorter wait is not worth a line in a log */
#define LEAST       8             /* columns: a command that is cut shorter says nothing */

/* ---- when ---- */

void
waiting_begin(struct waiting *w, bool quiet, bool terminal)
{
	*w = (struct waiting){ .since = now_ns(), .next = NEVER, .terminal = terminal };
	if (!quiet)
		w->next = w->since + (terminal ? ON_TERMINAL : ELSEWHERE);
}

bool
waiting_is_due(struct waiting *w, uint64_t now)
{
	if (now < w->next)
		return false;
	if (w->terminal)
		w->next = now + SECOND;
	while (w->next <= now) /* several at once, if this process was stopped meanwhile */
		w->next += w->next - w->since;
	return true;
}

/* ---- what ---- */

/* The limiter confirms it: the pid may be another process's, in another PID namespace. */
static bool
is_above(struct flk *limiter, const struct flk_entry *e)
{
	return e->host == NULL && process_is_below(getpid(), e->pid) &&
	       flki_is_taker(limiter, e->slot, e->pid) == 1;
}

void
waiting_look_above(struct waiting *w, struct flk *limiter, struct flk_place *place)
{
	struct flk_snapshot *s;
	uint32_t i;

	w->nested = false;
	if (flk_snapshot(limiter, &s) != 0)
		return;
	for (i = 0; i < s->holders && !w->nested; i++) {
		w->nested = is_above(limiter, &s->entry[i]);
		if (w->nested)
			place->oldest = s->entry[i];
	}
	free(s);
}

static size_t
add(char room[PLACE_TEXT], size_t at, const char *text)
{
	return at + (size_t)snprintf(room + at, PLACE_TEXT - at, "%s", text);
}

/* After the holder, the most helpful first; a part that does not fit is left out. */
static void
add_what_fits(char room[PLACE_TEXT], size_t width, const struct flk_place *p)
{
	char part[80], span[32];
	size_t at = strlen(room);

	snprintf(part, sizeof(part), "; %llu of %u in use", (unsigned long long)p->used, p->limit);
	if (at + strlen(part) <= width)
		at = add(room, at, part);
	if (p->oldest.ticket == 0)
		return;
	snprintf(part, sizeof(part), "; held for %s",
		 say_duration(seconds_since(p->oldest.since_ns), span));
	if (at + strlen(part) <= width)
		add(room, at, part);
}

/* The oldest holder. */
static size_t
add_holder(char room[PLACE_TEXT], size_t at, size_t width, const struct flk_place *p)
{
	const struct flk_entry *e = &p->oldest;
	char command[FLK_COMMAND];
	size_t used;

	at += (size_t)snprintf(room + at, PLACE_TEXT - at, " for %spid %u%s%.40s",
			       outlived(e) ? "the orphan of " : "", e->pid,
			       e->host != NULL ? " on " : "", e->host != NULL ? e->host : "");
	used = at + 3; /* a space and two quotes */
	if (used + LEAST <= width) {
		memcpy(command, e->command, sizeof(command));
		say_cut(command, width - used);
		at += (size_t)snprintf(room + at, PLACE_TEXT - at, " \"%s\"", command);
	}
	return at;
}

const char *
waiting_text(const struct waiting *w, const struct flk_place *p, const char *where,
	     const char *keeps, size_t width, char room[PLACE_TEXT])
{
	char span[32], ahead[80], gated[GATED_TEXT];
	const char *nested = w->nested ? "; this process runs under that permit" : "";
	double start_s;
	size_t at;

	at = (size_t)snprintf(room, PLACE_TEXT, "waiting %s%s",
			      say_duration((double)(now_ns() - w->since) / 1e9, span), where);
	if (p == NULL)
		return room;
	if (width > PLACE_TEXT - 1)
		width = PLACE_TEXT - 1;
	if (p->ahead > 0)
		snprintf(ahead, sizeof(ahead), "%s; %u ahead", nested, p->ahead);
	else
		snprintf(ahead, sizeof(ahead), "%s; next in line", nested);
	width = width > strlen(ahead) ? width - strlen(ahead) : 0;
	start_s = seconds_until(p->next_start_ns);
	if (p->set.paused || p->limit == 0)
		at = add(room, at, ": paused by an operator");
	else if (start_s > 0 && p->used < p->limit)
		at += (size_t)snprintf(room + at, PLACE_TEXT - at, ": next start in %s%s",
				       say_duration(start_s, span), keeps);
	else if (p->gated.waits && p->ahead == 0)
		at += (size_t)snprintf(room + at, PLACE_TEXT - at, " for %s%s",
				       gated_text(&p->gated, gated), keeps);
	else if (p->oldest.ticket != 0)
		at = add_holder(room, at, width, p);
	add(room, at, ahead);
	add_what_fits(room, width + strlen(ahead), p);
	return room;
}
