/* SPDX-License-Identifier: ISC */
/*
 * strip.c - the panel above the lanes: the units in use, the limit as a line, and a mark at each
 * change by an operator.
 */
#include "strip.h"

#include <inttypes.h>
#include <string.h>

#include "captions.h"
#include "text.h"
#include "xml.h"

/* ---- units ---- */

static double
y_of(const struct canvas *v, uint64_t units)
{
	double share = (double)units / (double)v->units;

	return v->strip + STRIP * (1 - (share < 1 ? share : 1));
}

static uint64_t
used_of(const struct step *p)
{
	return p->used;
}

static uint64_t
limit_of(const struct step *p)
{
	return p->limit;
}

static uint64_t
room_of(const struct step *p)
{
	return p->room;
}

/* A line of steps; with AREA it goes down to zero at both ends, to be filled. */
static void
draw_steps(const struct canvas *v, const char *class, uint64_t (*value)(const struct step *),
	   bool area)
{
	const struct lanes *l = v->l;
	size_t i;

	fprintf(v->out, "<path class=\"%s\" d=\"", class);
	xml_number(v->out, "M", LEFT);
	xml_number(v->out, " ", area ? v->strip + STRIP : y_of(v, value(&l->step[0])));
	if (area)
		xml_number(v->out, "V", y_of(v, value(&l->step[0])));
	for (i = 1; i < l->steps; i++) {
		if (value(&l->step[i]) == value(&l->step[i - 1]))
			continue;
		xml_number(v->out, "H", canvas_x(v, l->step[i].when_ns));
		xml_number(v->out, "V", y_of(v, value(&l->step[i])));
	}
	xml_number(v->out, "H", canvas_x(v, l->to_ns));
	if (area)
		xml_number(v->out, "V", v->strip + STRIP);
	fputs("\"/>\n", v->out);
}

static uint64_t
round_units(uint64_t most)
{
	uint64_t decade = 1;

	while (most / decade > 20)
		decade *= 10;
	return most / decade > 8 ? 5 * decade : most / decade > 3 ? 2 * decade : decade;
}

static void
draw_units(const struct canvas *v)
{
	const struct step *last = &v->l->step[v->l->steps - 1];
	uint64_t step = round_units(v->units), u;
	bool withheld = false;
	char room[40];
	double y;
	size_t i;

	canvas_label(v, LEFT, v->strip - 15, "head", "units in use");
	for (u = 0; u <= v->units; u += step) {
		snprintf(room, sizeof(room), "%" PRIu64, u);
		canvas_label(v, LEFT - 6, y_of(v, u) + 4, "e", room);
	}
	draw_steps(v, "used", used_of, true);
	for (i = 0; i < v->l->steps; i++)
		withheld |= v->l->step[i].room != v->l->step[i].limit;
	if (withheld)
		draw_steps(v, "room", room_of, false);
	draw_steps(v, "limit", limit_of, false);
	y = y_of(v, last->limit) + 4;
	snprintf(room, sizeof(room), last->limit < 10000 ? "limit %u" : "%u", last->limit);
	canvas_label(v, RIGHT + 6, y, "red", room);
	if (last->limit > v->units)
		canvas_label(v, RIGHT + 6, y + 14, "red", "(above)");
}

/* ---- what was steered ---- */

/* A note beside the line at x, on a side that has room; returns where the next note may begin. */
static double
draw_note(const struct canvas *v, double x, double free_from, const char *text)
{
	double width = LETTER * (double)strlen(text), y = v->strip - 2;

	if (x >= free_from && x + 3 + width <= RIGHT) {
		canvas_label(v, x + 3, y, "note", text);
		return x + 3 + width + LETTER;
	}
	if (x - 3 - width < free_from)
		return free_from;
	canvas_label(v, x - 3, y, "note e", text);
	return x;
}

static void
draw_marks(const struct canvas *v)
{
	double free_from = 0, x;
	char room[40], when[40];
	size_t i;

	for (i = 0; i < v->l->events; i++) {
		const struct flk_event *e = &v->l->event[i];
		const char *text = mark_text(e, room);
		if (*text == '\0')
			continue;
		x = canvas_x(v, e->when_ns);
		xml_number(v->out, "<path class=\"mark\" d=\"M", x);
		xml_number(v->out, " ", v->strip - 6);
		xml_number(v->out, "v", STRIP + 6);
		fprintf(v->out, "\"><title>%s %s</title></path>\n", time_of(e->when_ns, when),
			text);
		free_from = draw_note(v, x, free_from, text);
	}
}

void
strip_draw(const struct canvas *v)
{
	draw_units(v);
	draw_marks(v);
}
