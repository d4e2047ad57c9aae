/* SPDX-License-Identifier: ISC */
/*
 * watch.c - the watches of etcd's client: lines in any pieces, interruptions, and ends.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pump.h"
#include "server.h"
#include "../helpers/tap.h"

#define HEADER      "\"header\":{\"revision\":\"9\"}"
#define CREATED     "{\"result\":{" HEADER ",\"created\":true}}\n"
#define CREATED_1   "{\"result\":{" HEADER ",\"watch_id\":\"1\",\"created\":true}}\n"
#define LINE(words) "{\"result\":{" HEADER "," words "}}\n"

/* Keys and values: "a" is YQ==, "b" is Yg==, "1" is MQ==. */
#define PUT_A(revision)                                                             \
	"{\"kv\":{\"key\":\"YQ==\",\"value\":\"MQ==\",\"mod_revision\":\"" revision \
	"\",\"create_revision\":\"3\"}}"
#define DELETE_B(revision) \
	"{\"type\":\"DELETE\",\"kv\":{\"key\":\"Yg==\",\"mod_revision\":\"" revision "\"}}"

static const struct etcd_range two[] = { { .key = "a", .no_delete = true },
					 { .key = "b", .end = "c" } };

static int
count(const char *text, const char *piece)
{
	int n = 0;

	for (; (text = strstr(text, piece)) != NULL; text += strlen(piece))
		n++;
	return n;
}

static bool
same(const char *got, const char *want)
{
	if (strcmp(got, want) == 0)
		return true;
	tap_note("got \"%s\", want \"%s\"", got, want);
	return false;
}

static int
begin_watch(int listener, struct heard *h)
{
	int fd = visit_and_hear(listener, h);

	begin_stream(fd);
	return fd;
}

/* ---- pieces -------------------------------------------------------------------------------- */

#define ALL                                                                        \
	CREATED CREATED_1 LINE("\"events\":[" PUT_A("4") "," PUT_A("5") "]") LINE( \
	    "\"watch_id\":\"1\",\"events\":[" DELETE_B("4") "]") "\n" LINE("\"watch_id\":\"1\"")

static void
send_bytes(int listener)
{
	struct heard h;
	int fd = begin_watch(listener, &h);
	const char *c;

	for (c = ALL; *c != '\0'; c++) {
		char one[2] = { *c, '\0' };

		send_chunk(fd, one);
	}
	linger(fd);
}

static void
send_whole(int listener)
{
	struct heard h;
	int fd = begin_watch(listener, &h);

	send_chunk(fd, ALL);
	linger(fd);
}

static void
pieces(script *s, const char *how)
{
	struct server server = serve(s);
	struct etcd *e = client(server.port, 0, "");
	struct news n = { 0 };
	char *notes;

	etcd_watch(e, two, 2, 4, remember, &n);
	ok(until(e, &n.changes, 3), "lines that come %s are understood", how);
	ok(n.begun == 1 && same(n.text, "PUT a=1 @4;PUT a=1 @5;DELETE b= @4;"), "in order");
	etcd_free(e);
	notes = served(&server);
	ok(strstr(notes, "/v3/watch {\"create_request\":{\"key\":\"YQ==\",\"start_revision\":"
			 "\"4\",\"filters\":[\"NODELETE\"]}}{\"create_request\":{\"key\":\"Yg==\","
			 "\"range_end\":\"Yw==\",\"start_revision\":\"4\"}}\n") == notes,
	   "all ranges were asked for at once");
	free(notes);
}

/* ---- interruptions ------------------------------------------------------------------------- */

/* Cut in the middle of a line, after what was heard of each range: a up to 6, b up to 4. */
static void
cut_line(int listener)
{
	struct heard h;
	int fd = begin_watch(listener, &h);

	send_chunk(fd, CREATED CREATED_1 LINE("\"events\":[" PUT_A("6") "]")
			   LINE("\"watch_id\":\"1\",\"events\":[" DELETE_B("4") "]"));
	send_chunk(fd, "{\"result\":{" HEADER ",\"events\":[" PUT_A("8"));
	reset(fd);
	fd = begin_watch(listener, &h);
	/* What was heard already comes once more: a server that begins too early. */
	send_chunk(fd, CREATED CREATED_1 LINE("\"events\":[" PUT_A("6") "," PUT_A("8") "]"));
	linger(fd);
}

static void
resumed(void)
{
	struct server server = serve(cut_line);
	struct etcd *e = client(server.port, 0, "");
	struct news n = { 0 };
	char *notes, *second;

	etcd_watch(e, two, 2, 3, remember, &n);
	ok(until(e, &n.changes, 3), "a watch that was cut in a line goes on");
	ok(same(n.text, "PUT a=1 @6;DELETE b= @4;PUT a=1 @8;") && n.begun == 2,
	   "nothing is told twice, nothing is missed");
	etcd_free(e);
	notes = served(&server);
	second = strchr(notes, '\n');
	ok(second != NULL && strstr(second, "\"YQ==\",\"start_revision\":\"7\"") != NULL &&
	       strstr(second, "\"range_end\":\"Yw==\",\"start_revision\":\"5\"") != NULL,
	   "each range from where it was");
	free(notes);
}

/* From now on: the revision at which it began is what it goes on from. */
static void
cut_at_once(int listener)
{
	struct heard h;
	int fd = begin_watch(listener, &h);

	send_chunk(fd, CREATED CREATED_1);
	send_chunk(fd, "");
	close(fd);
	fd = begin_watch(listener, &h);
	send_chunk(fd, CREATED CREATED_1 LINE("\"events\":[" PUT_A("10") "]"));
	linger(fd);
}

static void
from_now(void)
{
	struct server server = serve(cut_at_once);
	struct etcd *e = client(server.port, 0, "");
	struct news n = { 0 };
	char *notes;

	etcd_watch(e, two, 2, 0, remember, &n);
	ok(until(e, &n.changes, 1) && n.begun == 2, "a watch that had an end goes on");
	etcd_free(e);
	notes = served(&server);
	is(count(notes, "start_revision"), 2, "from now on: no revision at first");
	is(count(notes, "\"start_revision\":\"10\""), 2, "then from where it began");
	free(notes);
}

static void
watch_twice(int listener)
{
	struct heard h;
	int fd = begin_watch(listener, &h);

	send_chunk(fd, CREATED CREATED_1 LINE("\"events\":[" PUT_A("5") "]"));
	linger(fd);
}

static void
answer_nothing(int listener)
{
	struct heard h;
	int fd = begin_watch(listener, &h), call;

	send_chunk(fd, CREATED CREATED_1);
	call = visit_and_hear(listener, &h);
	linger(call);
	linger(fd);
}

/* The first endpoint hangs: a call notices, and the watch, which could not, goes along. */
static void
goes_along(void)
{
	struct server first = serve(answer_nothing), second = serve(watch_twice);
	struct etcd *e = client(first.port, second.port, "");
	struct news n = { 0 };
	struct outcome o = { 0 };
	char *notes;

	etcd_watch(e, two, 2, 4, remember, &n);
	ok(until(e, &n.begun, 1), "a watch has begun at the first endpoint");
	is(asked(e, "/call", 200, &o), ETCD_AWAY, "a call there is not answered");
	ok(until(e, &n.changes, 1) && n.begun == 2, "the watch goes on at the second");
	etcd_free(e);
	free(served(&first));
	notes = served(&second);
	is(count(notes, "\"start_revision\":\"4\""), 2, "from where it was");
	free(notes);
	forget(&o);
}

static const char *const nonsense[] = {
	"{\"result\":{" HEADER ",\"watch_id\":\"2\",\"created\":true}}\n",
	"{\"result\":{" HEADER ",\"watch_id\":\"-1\",\"created\":true}}\n",
	"{\"result\":{\"created\":true}}\n",
	"{\"result\":7}\n",
	"{}\n",
	"garbage\n",
	"{\"result\":{" HEADER ",\"events\":{}}}\n",
	"{\"result\":{" HEADER ",\"events\":[7]}}\n",
	"{\"result\":{" HEADER ",\"events\":[{\"kv\":{\"key\":\"Y!==\"}}]}}\n",
	"{\"result\":{" HEADER ",\"events\":[{\"kv\":{\"key\":7}}]}}\n",
	"{\"result\":{" HEADER ",\"events\":[{\"kv\":{}}]}}\n",
	"{\"error\":{\"http_code\":503,\"message\":\"etcdserver: no leader\"}}\n",
	"{\"result\":{" HEADER ",\"canceled\":true,\"cancel_reason\":\"etcdserver: no leader\"}}\n",
	"{\"result\":{" HEADER ",\"canceled\":true}}\n",
};

static const char *said; /* by talk_nonsense(), which then mends its ways */

static void
talk_nonsense(int listener)
{
	struct heard h;
	int fd = begin_watch(listener, &h);

	send_chunk(fd, said);
	linger(fd);
	fd = begin_watch(listener, &h);
	send_chunk(fd, CREATED CREATED_1 LINE("\"events\":[" PUT_A("5") "]"));
	linger(fd);
}

static void
patience(void)
{
	size_t i;

	for (i = 0; i < sizeof(nonsense) / sizeof(nonsense[0]); i++) {
		struct server server;
		struct etcd *e;
		struct news n = { 0 };

		said = nonsense[i];
		server = serve(talk_nonsense);
		e = client(server.port, 0, "");
		etcd_watch(e, two, 2, 4, remember, &n);
		ok(until(e, &n.changes, 1) && n.begun == 1 && n.failed == 0 && n.compacted == 0,
		   "it is left and tried anew after %.*s", (int)strcspn(said, "\n"), said);
		etcd_free(e);
		free(served(&server));
	}
}

/* Of two ranges it knows one, and says nothing more; then both. */
static void
forget_one(int listener)
{
	struct heard h;
	int fd = begin_watch(listener, &h);

	send_chunk(fd, CREATED);
	linger(fd);
	watch_twice(listener);
}

static void
half_begun(void)
{
	struct server server = serve(forget_one);
	struct etcd *e = client(server.port, 0, "");
	struct news n = { 0 };
	char *notes;

	etcd_watch(e, two, 2, 4, remember, &n);
	ok(until(e, &n.changes, 1) && n.begun == 1,
	   "a watch of which a range is missing is begun anew");
	etcd_free(e);
	notes = served(&server);
	is(count(notes, "/v3/watch"), 2, "once");
	free(notes);
}

/* ---- ends ---------------------------------------------------------------------------------- */

static void
say_compacted(int listener)
{
	struct heard h;
	int fd = begin_watch(listener, &h);

	send_chunk(fd, CREATED CREATED_1 LINE("\"canceled\":true,\"compact_revision\":\"8\""));
	linger(fd);
}

static void
say_denied(int listener)
{
	struct heard h;
	int fd = begin_watch(listener, &h);

	send_chunk(fd, LINE("\"created\":true,\"canceled\":true,"
			    "\"cancel_reason\":\"etcdserver: permission denied\""));
	linger(fd);
}

static void
say_not_found(int listener)
{
	struct heard h;
	int fd = visit_and_hear(listener, &h);

	answer(fd, 404, "<html>no such page</html>");
	linger(fd);
}

static void
over(script *s, bool compacted, const char *words)
{
	struct server server = serve(s);
	struct etcd *e = client(server.port, 0, "");
	struct news n = { 0 };
	struct etcd_watch *w = etcd_watch(e, two, 2, 4, remember, &n);

	ok(until(e, compacted ? &n.compacted : &n.failed, 1), "a watch is over: %s",
	   compacted ? "compacted" : words);
	ok(compacted || strstr(n.text, words) != NULL, "and it is told why: %s", n.text);
	etcd_unwatch(w);
	etcd_free(e);
	free(served(&server));
}

/* Denied, as the token is of before the server's restart: another one helps. */
static void
deny_old_token(int listener)
{
	struct heard h;
	int fd, times;

	for (times = 0; times < 2; times++) {
		fd = visit_and_hear(listener, &h);
		answer(fd, 200, sound(1, times == 0 ? "\"token\":\"t1\"" : "\"token\":\"t2\""));
		if (times == 1)
			break;
		hear(fd, &h);
		begin_stream(fd);
		send_chunk(fd, LINE("\"created\":true,\"canceled\":true,"
				    "\"cancel_reason\":\"etcdserver: permission denied\""));
		linger(fd);
	}
	hear(fd, &h);
	begin_stream(fd);
	send_chunk(fd, CREATED CREATED_1 LINE("\"events\":[" PUT_A("5") "]"));
	linger(fd);
}

static void
another_token(void)
{
	struct server server = serve(deny_old_token);
	struct etcd *e = client(server.port, 0, "@");
	struct news n = { 0 };
	char *notes;

	etcd_watch(e, two, 2, 4, remember, &n);
	ok(until(e, &n.changes, 1) && n.failed == 0, "no rights by an old token: another is had");
	etcd_free(e);
	notes = served(&server);
	ok(strstr(notes, "/v3/watch t1 ") != NULL && strstr(notes, "/v3/watch t2 ") != NULL,
	   "and used");
	free(notes);
}

static void
ended_from_within(void)
{
	struct server server = serve(send_whole);
	struct etcd *e = client(server.port, 0, "");
	struct news n = { 0 };
	struct outcome o = { 0 };

	n.end = etcd_watch(e, two, 2, 4, remember, &n);
	ok(until(e, &n.changes, 1), "a watch may be ended by what it tells");
	asked(e, "/call", 100, &o);
	is(n.changes, 1, "and tells no more");
	etcd_free(e);
	free(served(&server));
	forget(&o);
}

/* ---- the gateway's trap -------------------------------------------------------------------- */

/* How many bytes the decoder has when the first request is whole. */
static size_t
decoded(const struct heard *h, size_t first)
{
	size_t piece = 512;

	while (piece < first)
		piece = 2 * piece + 512;
	return piece < h->size ? piece : h->size;
}

/* Knows only of what it read before its first answer, as etcd's does; up to 8 ranges. */
static void
throw_away(int listener)
{
	static struct heard h;
	int fd = begin_watch(listener, &h), n = 0;
	const char *second = strstr(h.body, "}}{");
	char line[200];

	if (second != NULL)
		h.body[decoded(&h, (size_t)(second + 2 - h.body))] = '\0';
	for (second = h.body; (second = strstr(second, "create_request")) != NULL; second++) {
		if (strstr(second, "}}") == NULL)
			break;
		snprintf(line, sizeof(line),
			 "{\"result\":{" HEADER ",\"watch_id\":\"%d\",\"created\":true}}\n", n++);
		send_chunk(fd, line);
	}
	linger(fd);
}

static void
trap(size_t ranges, size_t length)
{
	struct server server = serve(throw_away);
	struct etcd *e = client(server.port, 0, "");
	struct etcd_range range[8] = { { .no_put = false } };
	char key[2048];
	struct news n = { 0 };
	size_t i;

	memset(key, 'k', length);
	key[length] = '\0';
	for (i = 0; i < ranges; i++)
		range[i].key = key;
	etcd_watch(e, range, ranges, 1, remember, &n);
	ok(until(e, &n.begun, 1), "%zu ranges of keys of %zu bytes are all read", ranges, length);
	etcd_free(e);
	free(served(&server));
}

int
main(void)
{
	static const size_t lengths[] = { 1, 30, 60, 100, 200, 500, 1000, 2000 };
	size_t i, ranges;

	signal(SIGPIPE, SIG_IGN);
	unsetenv("FLOCKLIMIT_STORE_USER");
	unsetenv("FLOCKLIMIT_STORE_PASSWORD");
	unsetenv("FLOCKLIMIT_STORE_TOKEN");
	pieces(send_whole, "at once");
	pieces(send_bytes, "a byte at a time");
	resumed();
	from_now();
	goes_along();
	patience();
	half_begun();
	over(say_compacted, true, "");
	over(say_denied, false, "no rights on a");
	over(say_not_found, false, "not etcd 3.4 or newer");
	another_token();
	ended_from_within();
	for (i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++)
		for (ranges = 1; ranges <= 8; ranges++)
			trap(ranges, lengths[i]);
	return tap_done();
}
