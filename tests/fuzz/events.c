/* SPDX-License-Identifier: ISC */
/*
 * events.c - what flocklimitctl makes of a history and of a snapshot that lie: lines of text and
 * JSON, the picture in text and SVG, estimates.  No byte of them moves a cursor, or breaks the XML.
 */
#include "fuzz.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/flocklimitctl/ctl.h"
#include "cmd/flocklimitctl/json.h"
#include "cmd/flocklimitctl/limiter_files.h"

const struct kind here = { .is_file = true,
			   .attach = flk_attach,
			   .locate = flk_locate,
			   .strerror = flk_strerror,
			   .operating = &operating_files };

static FILE *out;

static void
put_json(json_t *o)
{
	char *text = json_dumps(o, 0);

	require(text != NULL);
	fprintf(out, "%s\n", text);
	free(text);
	json_decref(o);
}

#define printf(...)     fprintf(out, __VA_ARGS__)
#define json_print_line put_json
#include "cmd/flocklimitctl/event.c"
#undef printf

#include "cmd/permit/estimate.h"
#include "cmd/flocklimitctl/gantt/chart.h"
#include "cmd/flocklimitctl/gantt/picture.h"
#include "cmd/flocklimitctl/limiter_state.h"
#include "cmd/flocklimitctl/why/parts.h"

#define EVENTS  48
#define ENTRIES 8

/* ---- inputs ---- */

/* Small numbers, so that tickets and seats meet; or any. */
static uint64_t
number(struct bytes *b)
{
	uint8_t n = take8(b);

	return n < 0xe0 ? n % 16 : n < 0xf0 ? take32(b) : n == 0xff ? UINT64_MAX : take64(b);
}

static struct flk_event
some_event(struct bytes *b, uint64_t *when)
{
	struct flk_event e = { .number = take8(b), .kind = take8(b) % 20 };
	size_t i;

	*when += number(b) * 1000000;
	e.when_ns = *when;
	e.ticket = number(b);
	e.weight = (uint32_t)number(b);
	e.seat = (uint32_t)number(b);
	e.limit = (uint32_t)number(b);
	e.uid = (uint32_t)number(b);
	e.code = take8(b) == 0xff ? INT32_MIN : (int32_t)number(b) * (take8(b) % 2 ? 1 : -1);
	e.pace = (struct flk_pace){ .interval_ns = number(b), .burst = (uint32_t)number(b) };
	e.pace.stagger_ns = number(b);
	e.pace.ramp_from = (uint32_t)number(b);
	e.pace.ramp_step = (uint32_t)number(b);
	e.pace.ramp_period_ns = number(b);
	e.pace.ramp_idle_ns = number(b);
	for (i = 0; i < sizeof(e.command) - 1 && i < e.ticket; i++)
		e.command[i] = (char)take8(b);
	return e;
}

static struct flk_snapshot *
some_snapshot(struct bytes *b)
{
	struct flk_snapshot *s = calloc(1, sizeof(*s) + ENTRIES * sizeof(s->entry[0]));
	uint32_t i;

	require(s != NULL);
	s->set.declared = (uint32_t)number(b);
	s->limit = (uint32_t)number(b);
	s->set.override = (int64_t)(number(b) % 8) - 1;
	s->set.withheld = (uint32_t)number(b);
	s->used = number(b);
	s->set.paused = take8(b) % 8 == 0;
	s->holders = take8(b) % (ENTRIES / 2);
	s->waiters = take8(b) % (ENTRIES / 2);
	for (i = 0; i < FLK_BUCKETS; i++)
		s->held.count[i] = take8(b);
	s->held.sum_ns = number(b);
	for (i = 0; i < s->holders + s->waiters; i++) {
		struct flk_entry *e = &s->entry[i];
		*e = (struct flk_entry){ .ticket = number(b),
					 .weight = (uint32_t)number(b),
					 .limit = (uint32_t)number(b),
					 .seat = (uint32_t)number(b),
					 .since_ns = number(b),
					 .holds = i < s->holders };
		memset(e->command, take8(b), sizeof(e->command) - 1);
	}
	return s;
}

/* ---- what comes out ---- */

/* What is for programs may have what terminals take for commands. */
enum reader { FOR_PEOPLE, FOR_PROGRAMS };

static void
check_text(const char *text, size_t size, enum reader reader)
{
	size_t i;

	for (i = 0; i < size; i++) {
		unsigned char c = (unsigned char)text[i];
		require(c >= 0x20 || c == '\n');
		if (reader == FOR_PROGRAMS)
			continue;
		require(c != 0x7f);
		require(c != 0xc2 || i + 1 == size || (unsigned char)text[i + 1] < 0x80 ||
			(unsigned char)text[i + 1] > 0x9f);
	}
}

static void
check_picture(const struct flk_event *e, size_t n, const struct flk_snapshot *s, uint64_t now,
	      bool text)
{
	struct lanes l;
	char *data;
	size_t size;
	FILE *picture;

	if (chart_make(&l, e, n, s, now) != 0)
		return;
	picture = open_memstream(&data, &size);
	require(picture != NULL);
	if (l.turns > 0 && text)
		draw_text(picture, &l, "build", 80, false, n % 2 == 0);
	else if (l.turns > 0)
		draw_svg(picture, &l, "build");
	fclose(picture);
	check_text(data, size, FOR_PEOPLE);
	free(data);
	chart_free(&l);
}

/* Whatever the history says, the parts are the wait. */
static void
check_waits(const struct flk_event *e, size_t n, const struct flk_snapshot *s, uint64_t now)
{
	uint64_t ticket, sum;
	struct why why;
	int i;

	for (ticket = 0; ticket < 16; ticket++) {
		require(why_parts(&why, ticket, e, n, s, now) == 0);
		require(why.to_ns >= why.from_ns);
		for (i = 0, sum = 0; i < WHY_REASONS; i++)
			sum += why.part[i].ns;
		require(sum == why.to_ns - why.from_ns);
	}
}

static void
print(const struct ctl *c, const struct flk_event *e, size_t n, enum reader reader)
{
	struct event_of of = { .c = c, .name = "build", .path = "build", .width = n % 2 ? 8 : 0 };
	char *text;
	size_t size, i;

	out = open_memstream(&text, &size);
	require(out != NULL);
	for (i = 0; i < n; i++)
		event_print(&of, &e[i], NULL);
	fclose(out);
	check_text(text, size, reader);
	free(text);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes b = { data, size };
	struct ctl c = { .raw = take8(&b) % 4 == 0 };
	struct flk_snapshot *s = some_snapshot(&b);
	struct flk_event e[EVENTS];
	double wait_s[ENTRIES];
	uint64_t when = number(&b);
	char why[200];
	size_t n;

	for (n = 0; n < EVENTS && b.left > 0; n++)
		e[n] = some_event(&b, &when);
	print(&c, e, n, FOR_PEOPLE);
	c.json = true;
	print(&c, e, n, FOR_PROGRAMS);
	estimate(s, wait_s);
	why_it_waits(s, "x", why, sizeof(why));
	check_text(why, strlen(why), FOR_PEOPLE);
	check_waits(e, n, s, when + 1);
	check_picture(e, n, s, when + 1, true);
	check_picture(e, n, s, when + 1, false);
	free(s);
	return 0;
}
