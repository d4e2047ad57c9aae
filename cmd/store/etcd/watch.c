/*
 * watch.c - watches: each a stream of lines that goes on at another endpoint, or later at the same,
 * from where each of its ranges was.
 *
 *   RESTING -> OPENING  [begin]     at its due, when there is a token
 *   OPENING -> OPEN     [created]   the server knows of all its ranges
 *   OPENING -> RESTING  [rest]      it failed, the server was silent, or the client took its turn
 *   OPEN    -> RESTING  [rest]      to the next endpoint
 *   any     -> OVER     [end]       there is no going on: the caller was told why
 *
 * W1  range.next of every range is the revision from which on nothing of it was told; 0: not known.
 * W2  While the caller is told something, the watch is not freed, only marked as dead.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "client.h"
#include "read.h"
#include "request.h"
#include "verdict.h"

#define OPEN_MS      5000
#define REST_MS      50
#define LONG_REST    2000
#define LIVED_NS     (1000 * CLOCK_MS) /* a stream that was open for so long was no failure */
#define MOST_UNTAKEN (UINT64_C(32) << 20)

enum state { RESTING, OPENING, OPEN, OVER };

struct etcd_watch {
	LIST_ENTRY(etcd_watch) link;
	struct etcd *etcd;
	enum state state;
	size_t ranges;
	struct request_range range[ETCD_RANGES];
	unsigned created; /* a bit for each range that the server knows of */
	struct post post; /* if OPENING or OPEN */
	uint64_t due;     /* when RESTING: to begin; when OPENING: to give up */
	uint64_t opened;  /* when OPEN: since when */
	unsigned failures;
	bool waits;  /* it is due, but for a token */
	bool called; /* it is to be looked at: see watches_step() */
	bool denied; /* it had no rights, perhaps as its token was old; and tries with another */
	bool telling, dead;
	uint64_t turn, token;
	struct endpoint *at;
	etcd_hears *hears;
	void *context;
};

static void
close_stream(struct etcd_watch *w)
{
	free(w->post.url);
	http_drop(&w->post);
}

static void
destroy(struct etcd_watch *w)
{
	size_t i;

	LIST_REMOVE(w, link);
	close_stream(w);
	for (i = 0; i < w->ranges; i++) {
		free(w->range[i].key);
		free(w->range[i].end);
	}
	free(w);
}

void
etcd_unwatch(struct etcd_watch *w)
{
	if (w->telling)
		w->dead = true;
	else
		destroy(w);
}

/* W2: who calls that while telling is set looks at dead afterwards; who does not, at nothing. */
static void
tell(struct etcd_watch *w, enum etcd_watch_kind kind, const struct etcd_change *change,
     const char *text)
{
	struct etcd_news news = { .kind = kind, .change = change, .text = text };
	bool outer = w->telling;

	if (w->dead)
		return;
	w->telling = true;
	w->hears(w->context, &news);
	w->telling = outer;
	if (w->dead && !outer)
		destroy(w);
}

static uint64_t
rest_ns(unsigned failures)
{
	uint64_t most = failures > 6 ? LONG_REST : (uint64_t)REST_MS << (failures - 1);
	uint32_t some = 0;

	if (most > LONG_REST)
		most = LONG_REST;
	if (getrandom(&some, sizeof(some), GRND_NONBLOCK) != sizeof(some))
		some = UINT32_MAX;
	/* From half of it to all of it. */
	return most * CLOCK_MS / 2 + most * CLOCK_MS / 2 * some / UINT32_MAX;
}

/* It goes on later.  Which endpoint is next is left to the client's turn. */
static void
rest(struct etcd_watch *w)
{
	struct etcd *e = w->etcd;
	uint64_t now = clock_ns();

	close_stream(w);
	if (w->state == OPEN && now - w->opened >= LIVED_NS)
		w->failures = 0;
	w->failures++;
	w->state = RESTING;
	w->waits = false;
	w->due = now + rest_ns(w->failures);
	if (e->endpoints > 1)
		client_turn(e, w->turn);
}

static void
end(struct etcd_watch *w, enum etcd_watch_kind kind, const char *text)
{
	close_stream(w);
	w->state = OVER;
	w->waits = false;
	w->due = UINT64_MAX;
	tell(w, kind, NULL, text);
}

static void
judged(struct etcd_watch *w, const struct verdict *v)
{
	char text[CLIENT_TEXT];

	if ((v->license == BAD_TOKEN || v->result == ETCD_DENIED) && !w->denied &&
	    token_refused(w->etcd, w->token)) {
		w->denied = true;
		rest(w);
		w->due = clock_ns();
		return;
	}
	if (v->result == ETCD_AWAY || v->result == ETCD_OK) {
		rest(w);
		return;
	}
	client_text(text, w->at, v->words);
	end(w, WATCH_FAILED, text);
}

/* ---- lines --------------------------------------------------------------------------------- */

/* The range that a line is about, or NULL: the server numbers them as they were asked for. */
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

	if (!read_kv(&kv, json_object_get(event, "kv")))
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
		tell(w, WATCH_CHANGE, &change, NULL);
	free(kv.key);
	free(kv.value);
	return true;
}

/* All of a revision that is in a range comes in one line: W1. */
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
	if (r->next == 0)
		r->next = etcd_integer(json_object_get(result, "header"), "revision") + 1;
	w->created |= 1u << i;
	if (w->state != OPENING || w->created != (1u << w->ranges) - 1)
		return;
	w->state = OPEN;
	w->opened = clock_ns();
	w->due = UINT64_MAX;
	w->denied = false;
	tell(w, WATCH_BEGUN, NULL, NULL);
}

static void
canceled(struct etcd_watch *w, const json_t *result)
{
	const char *reason = json_string_value(json_object_get(result, "cancel_reason"));
	struct verdict v;
	struct asked asked = { w->post.body };

	if (etcd_integer(result, "compact_revision") > 0) {
		end(w, WATCH_COMPACTED, NULL);
		return;
	}
	verdict_of_message(&v, w->etcd, 503, reason != NULL ? reason : "", &asked);
	judged(w, &v);
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
		judged(w, &v);
	} else {
		sense = heard_result(w, json_object_get(line, "result"));
	}
	json_decref(line);
	return sense;
}

/*
 * The lines are taken out of the answer first: what is done about one may close the stream, and the
 * answer with it.
 */
static void
comes(struct post *p)
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
		rest(w);
		return;
	}
	memcpy(lines, p->answer, n);
	memmove(p->answer, p->answer + n, p->length - n + 1);
	p->length -= n;
	w->telling = true;
	for (at = lines; n > 0; at = next) {
		next = (char *)memchr(at, '\n', n) + 1;
		n -= (size_t)(next - at);
		if (next - at > 1 && !heard_line(w, at, (size_t)(next - at - 1)))
			rest(w);
		if (w->dead || (w->state != OPENING && w->state != OPEN))
			break;
	}
	w->telling = false;
	free(lines);
	if (w->dead)
		destroy(w);
}

/* A watch has no end: whatever ended it is a failure. */
static void
ended(struct post *p, enum http_trouble trouble, const char *why)
{
	struct etcd_watch *w = p->owner;
	struct verdict v = { ETCD_AWAY, LICENSED, "" };

	if (trouble != HTTP_FINE) {
		client_trouble(w->etcd, trouble, why, &v);
	} else if (p->status != 200) {
		struct asked asked = { p->body };
		json_t *body = json_loadb(p->answer != NULL ? p->answer : "", p->length, 0, NULL);

		verdict_of(&v, w->etcd, p->status, body, &asked);
		json_decref(body);
	}
	w->telling = true;
	judged(w, &v);
	w->telling = false;
	if (w->dead)
		destroy(w);
}

/* ---- to begin ------------------------------------------------------------------------------ */

static void
begin(struct etcd_watch *w)
{
	struct etcd *e = w->etcd;
	struct post *p = &w->post;

	w->turn = e->turn;
	if (!client_reaches(e)) {
		rest(w);
		return;
	}
	w->waits = !token_ready(e);
	if (w->waits) {
		w->due = UINT64_MAX;
		return;
	}
	memset(p, 0, sizeof(*p));
	w->created = 0;
	w->token = token_number(e);
	w->at = client_endpoint(e);
	p->body = request_make(w->range, w->ranges, &p->size);
	p->most = MOST_UNTAKEN;
	p->comes = comes;
	p->ended = ended;
	p->owner = w;
	if (p->body == NULL || !client_aim(e, p, "/v3/watch") || !http_post(e->http, p)) {
		rest(w);
		return;
	}
	w->state = OPENING;
	w->due = clock_ns() + OPEN_MS * CLOCK_MS;
}

struct etcd_watch *
etcd_watch(struct etcd *e, const struct etcd_range *range, size_t ranges, int64_t from_revision,
	   etcd_hears *hears, void *context)
{
	struct etcd_watch *w;
	size_t i;

	if (ranges == 0 || ranges > ETCD_RANGES)
		return NULL;
	w = calloc(1, sizeof(*w));
	if (w == NULL)
		return NULL;
	w->etcd = e;
	w->hears = hears;
	w->context = context;
	w->ranges = ranges;
	LIST_INSERT_HEAD(&e->watches, w, link);
	for (i = 0; i < ranges; i++) {
		struct request_range *r = &w->range[i];

		r->no_put = range[i].no_put;
		r->no_delete = range[i].no_delete;
		r->next = from_revision;
		r->key = strdup(range[i].key);
		r->end = range[i].end == NULL ? NULL : strdup(range[i].end);
		if (r->key == NULL || (r->end == NULL) != (range[i].end == NULL)) {
			destroy(w);
			return NULL;
		}
	}
	begin(w);
	return w;
}

static struct etcd_watch *
next_called(const struct etcd *e)
{
	struct etcd_watch *w;

	LIST_FOREACH(w, &e->watches, link)
	if (w->called) {
		w->called = false;
		return w;
	}
	return NULL;
}

void
watches_told(struct etcd *e, enum etcd_result result, const char *text)
{
	struct etcd_watch *w;

	LIST_FOREACH(w, &e->watches, link)
	w->called = w->waits;
	while ((w = next_called(e)) != NULL) {
		if (result == ETCD_OK)
			begin(w);
		else if (result == ETCD_AWAY)
			rest(w);
		else
			end(w, WATCH_FAILED, text);
	}
}

uint64_t
watches_due(const struct etcd *e)
{
	uint64_t due = UINT64_MAX;
	const struct etcd_watch *w;

	LIST_FOREACH(w, &e->watches, link)
	if (w->due < due)
		due = w->due;
	return due;
}

/* Something may hang unseen at an endpoint that the client gave up: none stays behind. */
void
watches_step(struct etcd *e)
{
	uint64_t now = clock_ns();
	struct etcd_watch *w;

	LIST_FOREACH(w, &e->watches, link)
	w->called =
	    w->due <= now || ((w->state == OPENING || w->state == OPEN) && w->turn != e->turn);
	while ((w = next_called(e)) != NULL) {
		if (w->state == RESTING) {
			begin(w);
		} else if (w->turn == e->turn) {
			rest(w); /* the server was silent */
		} else {
			close_stream(w);
			w->state = RESTING;
			begin(w);
		}
	}
}
