/* SPDX-License-Identifier: ISC */
/*
 * differ - is the fake like the real one?
 *
 *	differ [-n CALLS] [-s SEED] FAKE-PORT REAL-PORT
 *
 * Both must be empty.  The same calls go to both, one after the other, and what is answered is
 * compared, heads and all; now and then a watch on what was, on a connection of its own; and at the
 * end all that the watches said that were there from the beginning.  The first difference is
 * printed and ends it with status 1.
 */
#include "differ.h"

#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { QUIET_MS = 300, PATIENCE_MS = 10000, WATCHES = 6 };

struct two {
	struct peer fake, real;
};

/* ---- what does not count ---- */

static int
by_text(const void *a, const void *b)
{
	const json_t *const *x = a, *const *y = b;
	char *s = json_dumps(*x, JSON_COMPACT | JSON_ENCODE_ANY);
	char *t = json_dumps(*y, JSON_COMPACT | JSON_ENCODE_ANY);
	int c = s != NULL && t != NULL ? strcmp(s, t) : 0;

	free(s);
	free(t);
	return c;
}

/* A list that has no order. */
static void
sort(json_t *list)
{
	size_t i, n = json_array_size(list);
	json_t **all;

	if (n < 2)
		return;
	all = must_make(n * sizeof(json_t *));
	for (i = 0; i < n; i++)
		all[i] = json_incref(json_array_get(list, i));
	qsort(all, n, sizeof(json_t *), by_text);
	json_array_clear(list);
	for (i = 0; i < n; i++)
		json_array_append_new(list, all[i]);
	free(all);
}

/* Who answers, and how long exactly a lease has still to live. */
static void
neutral(json_t *o)
{
	json_t *header = json_object_get(o, "header");

	json_object_del(header, "cluster_id");
	json_object_del(header, "member_id");
	json_object_del(header, "raft_term");
	if (json_object_get(o, "grantedTTL") != NULL)
		json_object_del(o, "TTL");
	sort(json_object_get(o, "leases"));
	sort(json_object_get(o, "keys"));
}

/* The text of an answer without what does not count; what is no JSON is as it is. */
static char *
normal(const char *body)
{
	json_t *o = json_loads(body, JSON_DISABLE_EOF_CHECK, NULL);
	char *text;

	if (o == NULL)
		return must_copy(body, strlen(body));
	neutral(o);
	neutral(json_object_get(o, "result"));
	text = json_dumps(o, JSON_COMPACT);
	json_decref(o);
	return text;
}

/* ---- calls ---- */

static bool
same(const char *fake, const char *real, unsigned long n, const char *path, const char *body)
{
	if (strcmp(fake, real) == 0)
		return true;
	printf("call %lu: %s %s\n--- fake\n%s\n--- real\n%s\n", n, path, body, fake, real);
	return false;
}

/* What the header says, if there is one. */
static void
learn(struct dice *d, const char *body)
{
	const char *at = strstr(body, "\"revision\":\"");

	if (strncmp(body, "{\"header\"", 9) == 0 && at != NULL)
		d->revision = strtoll(at + 12, NULL, 10);
}

static bool
call_both(struct two *t, struct dice *d, unsigned long n, const char *path, const struct buf *body)
{
	struct bytes bytes = { body->at, body->len };
	struct answer a, b;
	char *fake, *real;
	bool fine;

	/* Of what was compacted meanwhile, etcd would not tell what was before. */
	if (strcmp(path, "/v3/kv/compaction") == 0)
		usleep(20000);
	peer_call(&t->real, path, bytes, &b);
	peer_call(&t->fake, path, bytes, &a);
	fake = normal(a.body.at);
	real = normal(b.body.at);
	fine = same(a.head.at, b.head.at, n, path, body->at) && same(fake, real, n, path, body->at);
	learn(d, b.body.at);
	free(fake);
	free(real);
	answer_free(&a);
	answer_free(&b);
	return fine;
}

/* ---- watches ---- */

/* What a stream said: for each watch its events, in order, and how it began and ended.  Which
 * events came in one line is the server's own business, and so is which revision it had by then. */
struct told {
	json_t *watches; /* an object: by the watch's number a list */
	unsigned long said;
	bool over; /* the last event of all was there */
};

/* The watches that are there from the beginning to the end, at one of the two. */
struct stream {
	struct peer peer;
	struct told told;
};

static const char last_key[] = "a3p6"; /* kzz */

static void
tell(struct told *t, const char *id, json_t *what)
{
	json_t *list = json_object_get(t->watches, id);

	if (list == NULL) {
		list = json_array();
		json_object_set_new(t->watches, id, list);
	}
	json_array_append(list, what);
	t->said++;
}

static void
hear(struct told *t, const char *line)
{
	json_t *o = json_loads(line, 0, NULL), *result, *events;
	const char *id, *type, *key;
	size_t i;

	result = json_object_get(o, "result");
	if (result == NULL)
		errx(1, "a line of a watch: %s", line);
	id = json_string_value(json_object_get(result, "watch_id"));
	events = json_object_get(result, "events");
	json_object_del(result, "header");
	if (events == NULL)
		tell(t, id != NULL ? id : "0", result);
	for (i = 0; i < json_array_size(events); i++) {
		json_t *event = json_array_get(events, i);

		type = json_string_value(json_object_get(event, "type"));
		key = json_string_value(json_object_get(json_object_get(event, "kv"), "key"));
		tell(t, id != NULL ? id : "0", event);
		if (type != NULL && key != NULL && strcmp(key, last_key) == 0)
			t->over = true;
	}
	json_decref(o);
}

/* The first events that are not the same. */
static bool
same_list(const char *id, const json_t *fake, const json_t *real, unsigned long n,
	  const char *asked)
{
	size_t i, count = json_array_size(fake);
	bool fine = true;

	if (json_array_size(real) > count)
		count = json_array_size(real);
	for (i = 0; i < count && fine; i++) {
		char *a = json_dumps(json_array_get(fake, i), JSON_SORT_KEYS);
		char *b = json_dumps(json_array_get(real, i), JSON_SORT_KEYS);

		fine = same(a != NULL ? a : "nothing", b != NULL ? b : "nothing", n, "/v3/watch",
			    asked);
		if (!fine)
			printf("watch %s, event %zu of %zu and %zu\n", id, i, json_array_size(fake),
			       json_array_size(real));
		free(a);
		free(b);
	}
	return fine;
}

static bool
compare_told(struct told *fake, struct told *real, unsigned long n, const char *asked)
{
	const char *id;
	json_t *list;
	bool fine = true;

	/* So that what only one has is seen, too. */
	json_object_foreach(real->watches, id, list)
	{
		if (json_object_get(fake->watches, id) == NULL)
			json_object_set_new(fake->watches, id, json_array());
	}
	json_object_foreach(fake->watches, id, list)
	{
		fine = fine && same_list(id, list, json_object_get(real->watches, id), n, asked);
	}
	json_decref(fake->watches);
	json_decref(real->watches);
	return fine;
}

/* A watch on what was: the fake says all at once; then the other one has to. */
static bool
watch_both(struct two *t, struct dice *d, unsigned long n)
{
	struct two w = { { "fake", t->fake.port, -1, { 0 } }, { "real", t->real.port, -1, { 0 } } };
	struct told fake = { .watches = json_object() }, real = { .watches = json_object() };
	struct buf body = { 0 };
	const char *line;
	bool fine;

	dice_watch(d, &body, true);
	peer_ask(&w.fake, "/v3/watch", (struct bytes){ body.at, body.len });
	peer_ask(&w.real, "/v3/watch", (struct bytes){ body.at, body.len });
	for (line = peer_line(&w.fake, 1000); line != NULL; line = peer_line(&w.fake, 20))
		hear(&fake, line);
	while (real.said < fake.said && (line = peer_line(&w.real, 2000)) != NULL)
		hear(&real, line);
	while ((line = peer_line(&w.real, 20)) != NULL)
		hear(&real, line);
	fine = compare_told(&fake, &real, n, body.at);
	peer_close(&w.fake);
	peer_close(&w.real);
	buf_free(&body);
	return fine;
}

static void
stream_begin(struct stream *s, const struct peer *like, const struct buf *asked,
	     unsigned long count)
{
	const char *line;

	s->peer = (struct peer){ like->name, like->port, -1, { 0 } };
	s->told = (struct told){ .watches = json_object() };
	peer_ask(&s->peer, "/v3/watch", (struct bytes){ asked->at, asked->len });
	/* What happens before a watch is there, it does not tell. */
	while (s->told.said < count && (line = peer_line(&s->peer, PATIENCE_MS)) != NULL)
		hear(&s->told, line);
}

/* All that it said until the last event, and until it is quiet. */
static void
stream_end(struct stream *s)
{
	const char *line;

	while (!s->told.over) {
		line = peer_line(&s->peer, PATIENCE_MS);
		if (line == NULL)
			errx(1, "%s: a watch fell silent", s->peer.name);
		hear(&s->told, line);
	}
	while ((line = peer_line(&s->peer, QUIET_MS)) != NULL)
		hear(&s->told, line);
	peer_close(&s->peer);
}

/* The first one sees everything.  None has a past: etcd takes its time to tell of it, and a
 * compaction may come before.  All of it is in the first of the chunks that are read of a body. */
static void
ask_for_watches(struct stream *fake, struct stream *real, const struct two *t, struct dice *d,
		struct buf *asked)
{
	unsigned long n = 1;

	buf_text(asked, "{\"create_request\":{\"key\":\"AA==\",\"range_end\":\"AA==\"}}");
	for (; n < WATCHES && asked->len < 400; n++)
		dice_watch(d, asked, false);
	stream_begin(fake, &t->fake, asked, n);
	stream_begin(real, &t->real, asked, n);
}

/* Calls that give the watches their last event. */
static bool
call_last(struct two *t, struct dice *d, unsigned long n)
{
	struct buf last = { 0 };
	bool fine;

	buf_printf(&last, "{\"key\":\"%s\"}", last_key);
	fine = call_both(t, d, n, "/v3/kv/put", &last) &&
	       call_both(t, d, n, "/v3/kv/deleterange", &last);
	buf_free(&last);
	return fine;
}

static bool
compare(struct two *t, struct dice *d, unsigned long calls)
{
	struct buf body = { 0 }, asked = { 0 };
	struct stream fake, real;
	unsigned long n;
	bool fine = true;

	d->revision = 1;
	ask_for_watches(&fake, &real, t, d, &asked);
	for (n = 1; n <= calls && fine; n++) {
		const char *path = dice_call(d, &body);

		fine = call_both(t, d, n, path, &body);
		if (fine && n % 50 == 0)
			fine = watch_both(t, d, n);
	}
	if (fine && call_last(t, d, n)) {
		stream_end(&fake);
		stream_end(&real);
		fine = compare_told(&fake.told, &real.told, n, asked.at);
	} else {
		fine = false;
	}
	buf_free(&asked);
	buf_free(&body);
	return fine;
}

int
main(int argc, char **argv)
{
	struct two t = { { "fake", 0, -1, { 0 } }, { "real", 0, -1, { 0 } } };
	unsigned long calls = 1000, seed = 1;
	struct dice d = { 0 };
	int c;
	bool fine;

	while ((c = getopt(argc, argv, "n:s:")) != -1) {
		if (c == '?')
			errx(2, "see the head of differ.c");
		*(c == 'n' ? &calls : &seed) = strtoul(optarg, NULL, 10);
	}
	if (optind + 2 != argc)
		errx(2, "see the head of differ.c");
	t.fake.port = atoi(argv[optind]);
	t.real.port = atoi(argv[optind + 1]);
	d.state = seed * 0x9e3779b97f4a7c15u | 1;
	fine = compare(&t, &d, calls);
	printf("%lu calls, seed %lu, revision %" PRId64 ": %s\n", calls, seed, d.revision,
	       fine ? "no difference" : "different");
	peer_close(&t.fake);
	peer_close(&t.real);
	return fine ? 0 : 1;
}
