/* SPDX-License-Identifier: ISC */
/*
 * watches.c - the watches of a stream.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../memory/inside.h"
#include "../memory/world.h"
#include "stream.h"

struct watch {
	LIST_ENTRY(watch) link;
	struct stream *stream;
	struct records_watch *watch;
	int64_t id;
	struct wire_out events; /* that were not said yet */
};

static void
watch_free(struct watch *w)
{
	if (w->watch != NULL)
		records_unwatch(w->watch);
	LIST_REMOVE(w, link);
	wire_free(&w->events);
	free(w);
}

static struct wire_out *
say_of(struct stream *st, size_t *begun, int64_t id, int64_t revision)
{
	struct wire_out *w = stream_says(st, begun, revision);

	wire_number(w, 2, id);
	return w;
}

static void
hears(void *context, const struct records_news *news)
{
	struct watch *w = context;
	int64_t revision = memory_revision(world_memory());
	struct wire_out *out;
	size_t begun;

	if (news->kind == WATCH_CHANGE) {
		write_event(&w->events, news->change);
	} else if (news->kind == WATCH_BEGUN) {
		out = say_of(w->stream, &begun, w->id,
			     news->revision != 0 ? news->revision - 1 : revision);
		wire_number(out, 3, true);
		wire_frame(out, begun);
	}
}

void
watches_say(struct stream *st)
{
	struct wire_out *out;
	struct watch *w;
	size_t begun;

	LIST_FOREACH(w, &st->watches, link) {
		if (w->events.n == 0)
			continue;
		out = say_of(st, &begun, w->id, memory_revision(world_memory()));
		wire_raw(out, w->events.at, w->events.n);
		wire_frame(out, begun);
		w->events.n = 0;
	}
}

static void
cancel(struct stream *st, int64_t id, const char *why)
{
	size_t begun;
	struct wire_out *w = say_of(st, &begun, id, memory_revision(world_memory()));

	if (why != NULL)
		wire_number(w, 3, true);
	wire_number(w, 4, true);
	wire_text(w, 6, why);
	wire_frame(w, begun);
}

void
watch_create(struct stream *st, struct wire_in in)
{
	struct watch *w = memory_got(calloc(1, sizeof(*w)));
	struct records_range range = { .key = NULL };
	char *text[3] = { NULL }, why[200];
	const char *wrong;
	struct wire_field f;
	int64_t from = 0;
	enum code code;

	while (wire_next(&in, &f)) {
		if (f.type == WIRE_BYTES && f.number < 3 && text[f.number] == NULL)
			text[f.number] = copy_of(&f);
		else if (f.number == 3)
			from = (int64_t)f.value;
		else if (f.number == 5)
			range.no_put = true;
		else if (f.number == 7)
			w->id = (int64_t)f.value;
	}
	range.key = text[1];
	range.end = text[2];
	note("%s %s", st->call, range.key);
	wrong = user_wrong(st->token, &code);
	if (wrong != NULL) {
		snprintf(why, sizeof(why), "rpc error: code = %s desc = %s",
			 code == UNAUTHENTICATED ? "Unauthenticated" : "InvalidArgument", wrong);
		cancel(st, -1, why);
		free(w);
	} else {
		w->stream = st;
		LIST_INSERT_HEAD(&st->watches, w, link);
		w->watch = records_watch(st->records, &range, 1, from, hears, w);
	}
	free(text[1]);
	free(text[2]);
}

void
watch_end(struct stream *st, struct wire_in in)
{
	struct wire_field f;
	struct watch *w;

	if (!wire_next(&in, &f))
		return;
	LIST_FOREACH(w, &st->watches, link)
		if (w->id == (int64_t)f.value) {
			watch_free(w);
			cancel(st, (int64_t)f.value, NULL);
			return;
		}
}

void
watches_free(struct stream *st)
{
	while (!LIST_EMPTY(&st->watches))
		watch_free(LIST_FIRST(&st->watches));
}
