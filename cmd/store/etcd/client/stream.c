/* SPDX-License-Identifier: ISC */
/*
 * stream.c - what the lines of a watch's stream say.  A line that makes no sense ends the stream,
 * not the watch.
 */
#include <stdlib.h>
#include <string.h>

#include "verdict.h"
#include "watch.h"

/*
 * The range that a line is about, or NULL: the server numbers ranges in the order of the requests.
 */
static struct request_range *
range_of(struct etcd_watch *w, const json_t *result, size_t *i)
{
	int64_t id = etcd_integer(result, "watch_id");

	if (id < 0 || (uint64_t)id >= w->ranges)
		return NULL;
	*i = (size_t)id;
	return &w->range[id];
}

static bool
heard_event(struct etcd_watch *w, const json_t *event, int64_t next, int64_t *last)
{
	const char *type = json_string_value(json_object_get(event, "type"));
	struct etcd_kv kv;
	struct etcd_change change;

	if (!etcd_kv_read(&kv, json_object_get(event, "kv")))
		return false;
	if (kv.mod_revision > *last)
		*last = kv.mod_revision;
	change.deleted = type != NULL && strcmp(type, "DELETE") == 0;
	change.key = kv.key;
	change.key_size = kv.key_size;
	change.value = kv.value;
	change.value_size = kv.value_size;
	change.create_revision = kv.create_revision;
	change.mod_revision = kv.mod_revision;
	change.lease = kv.lease;
	if (kv.mod_revision >= next)
		stream_report(w, ETCD_CHANGE, &change, NULL);
	free(kv.key);
	free(kv.value);
	return true;
}

/* One line has all changes of a revision that are in a range: W1. */
static bool
heard_events(struct etcd_watch *w, struct request_range *r, const json_t *events)
{
	int64_t last = 0;
	size_t i;

	if (!json_is_array(events))
		return false;
	for (i = 0; i < json_array_size(events) && !w->dead; i++)
		if (!heard_event(w, json_array_get(events, i), r->next, &last))
			return false;
	if (last >= r->next)
		r->next = last + 1;
	return true;
}

static void
created(struct etcd_watch *w, struct request_range *r, size_t i, const json_t *result)
{
	if (r->next == 0) {
		r->next = etcd_integer(json_object_get(result, "header"), "revision") + 1;
		if (r->next > w->begun_at)
			w->begun_at = r->next;
	}
	w->created |= 1u << i;
	if (w->state != OPENING || w->created != (1u << w->ranges) - 1)
		return;
	w->state = OPEN;
	w->opened = flki_boottime_ns();
	w->due = UINT64_MAX;
	w->denied = false;
	stream_report(w, ETCD_BEGUN, NULL, NULL);
}

static void
canceled(struct etcd_watch *w, const json_t *result)
{
	const char *reason = json_string_value(json_object_get(result, "cancel_reason"));
	struct verdict v;
	struct asked asked = { w->post.body };

	if (etcd_integer(result, "compact_revision") > 0) {
		stream_end(w, ETCD_COMPACTED, NULL);
		return;
	}
	verdict_of_message(&v, w->etcd, 503, reason != NULL ? reason : "", &asked);
	stream_judged(w, &v);
}

/* False: it makes no sense. */
static bool
heard_result(struct etcd_watch *w, const json_t *result)
{
	const json_t *events = json_object_get(result, "events");
	size_t i;
	struct request_range *r = range_of(w, result, &i);

	if (!json_is_object(json_object_get(result, "header")))
		return false;
	if (json_is_true(json_object_get(result, "canceled"))) {
		canceled(w, result);
		return true;
	}
	if (r == NULL)
		return false;
	w->etcd->sound = true;
	client_well(w->etcd);
	if (json_is_true(json_object_get(result, "created")))
		created(w, r, i, result);
	return events == NULL || heard_events(w, r, events);
}

static bool
heard_line(struct etcd_watch *w, const char *text, size_t size)
{
	json_t *line = json_loadb(text, size, 0, NULL);
	const char *message = verdict_message(line);
	bool sense = true;

	if (message != NULL) {
		struct verdict v;

		verdict_of_message(&v, w->etcd, 503, message, NULL);
		stream_judged(w, &v);
	} else {
		sense = heard_result(w, json_object_get(line, "result"));
	}
	json_decref(line);
	return sense;
}

/*
 * Takes the lines out of the answer first: a function called for one of them may close the stream,
 * and free the answer.
 */
void
stream_hears(struct post *p)
{
	struct etcd_watch *w = p->owner;
	char *last, *lines, *at, *next;
	size_t n;

	last = memrchr(p->answer, '\n', p->length);
	if (p->status != 200 || last == NULL)
		return;
	n = (size_t)(last + 1 - p->answer);
	lines = malloc(n);
	if (lines == NULL) {
		stream_rest(w);
		return;
	}
	memcpy(lines, p->answer, n);
	memmove(p->answer, p->answer + n, p->length - n + 1);
	p->length -= n;
	w->in_callback = true;
	for (at = lines; n > 0; at = next) {
		next = (char *)memchr(at, '\n', n) + 1;
		n -= (size_t)(next - at);
		if (next - at > 1 && !heard_line(w, at, (size_t)(next - at - 1)))
			stream_rest(w);
		if (w->dead || (w->state != OPENING && w->state != OPEN))
			break;
	}
	w->in_callback = false;
	free(lines);
	if (w->dead)
		stream_destroy(w);
}
