/* SPDX-License-Identifier: ISC */
/*
 * watch.c - the watches of etcd's client: messages in any pieces, interruptions, and ends.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "etcd/h2/h2.h"
#include "pump.h"
#include "server.h"
#include "../helpers/tap.h"

static const struct records_range two[] = { { .key = "a" }, { .key = "b", .end = "c" } };

/* ---- what a server says -------------------------------------------------------------------- */

/* Each is a message of the watch with that id, at revision 9. */

static struct wire_out
framed(struct wire_out *w)
{
	struct wire_out all = message(9, w);

	free(w->at);
	return all;
}

static struct wire_out
created(int id)
{
	struct wire_out w = { .failed = false };

	wire_number(&w, 2, id);
	wire_number(&w, 3, 1);
	return framed(&w);
}

static void
add_event(struct wire_out *w, bool deleted, const char *key, const char *value, int64_t changed)
{
	size_t event = wire_begin(w, 11), kv;

	if (deleted)
		wire_number(w, 1, 1);
	kv = wire_begin(w, 2);
	wire_text(w, 1, key);
	if (!deleted)
		wire_number(w, 2, 3);
	wire_number(w, 3, changed);
	wire_text(w, 5, value);
	wire_end(w, kv);
	wire_end(w, event);
}

/* Of the key a: from that revision up to the other. */
static struct wire_out
put_a(int id, int from, int to)
{
	struct wire_out w = { .failed = false };

	wire_number(&w, 2, id);
	for (; from <= to; from++)
		add_event(&w, false, "a", "1", from);
	return framed(&w);
}

static struct wire_out
delete_b(int id, int changed)
{
	struct wire_out w = { .failed = false };

	wire_number(&w, 2, id);
	add_event(&w, true, "b", NULL, changed);
	return framed(&w);
}

static struct wire_out
canceled(int id, bool at_once, int compacted, const char *reason)
{
	struct wire_out w = { .failed = false };

	wire_number(&w, 2, id);
	if (at_once)
		wire_number(&w, 3, 1);
	wire_number(&w, 4, 1);
	if (compacted > 0)
		wire_number(&w, 5, compacted);
	wire_text(&w, 6, reason);
	return framed(&w);
}

static void
tell(struct visitor *v, int32_t id, struct wire_out w)
{
	say(v, id, w.at, w.n);
	free(w.at);
}

/* A connection whose first call is a watch of two ranges; both are created if `both'. */
static struct visitor *
begin_watch(int listener, struct heard *h, bool both)
{
	struct visitor *v = visit_and_hear(listener, h);

	hear(v, h);
	if (both) {
		tell(v, h->id, created(1));
		tell(v, h->id, created(2));
	}
	return v;
}

/* ---- pieces -------------------------------------------------------------------------------- */

static struct wire_out
all_of_it(void)
{
	struct wire_out all = { .failed = false };
	struct wire_out parts[] = { created(1), created(2), put_a(1, 4, 5), delete_b(2, 4) };
	size_t i;

	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		wire_raw(&all, parts[i].at, parts[i].n);
		free(parts[i].at);
	}
	return all;
}

static void
send_by_byte(int listener)
{
	struct heard h;
	struct visitor *v = begin_watch(listener, &h, false);
	struct wire_out w = all_of_it();
	size_t i;

	for (i = 0; i < w.n; i++)
		say(v, h.id, w.at + i, 1);
	linger(v);
}

static void
send_whole(int listener)
{
	struct heard h;
	struct visitor *v = begin_watch(listener, &h, false);

	tell(v, h.id, all_of_it());
	while (hear(v, &h))
		;
	close(raw(v));
}

/*
 * A watch from that revision on, until it has told of so many changes, and what the server noted, to be
 * freed; extra: as client() has it.
 */
static char *
watched(script *s, const char *extra, int64_t from, int changes, struct remembered *n)
{
	struct server server = serve(s);
	struct records *r = client(server.port, 0, extra);

	memset(n, 0, sizeof(*n));
	records_watch(r, two, 2, from, remember, n);
	until(r, &n->changes, changes);
	records_close(r);
	return served(&server);
}

static void
pieces(script *s, const char *how)
{
	struct remembered n;
	char *notes = watched(s, "", 4, 3, &n);

	ok(n.changes >= 3, "messages that come %s are understood", how);
	ok(n.begun == 1 && same(n.text, "PUT a=1 @4;PUT a=1 @5;DELETE b= @4;"), "in order");
	ok(same(notes, "Watch a @4 #1\nWatch b..c @4 #2\n"), "all ranges were asked for");
	free(notes);
}

/* ---- several watches ----------------------------------------------------------------------- */

static void
serve_two_watches(int listener)
{
	struct heard h;
	struct visitor *v = begin_watch(listener, &h, true);

	hear(v, &h);
	tell(v, h.id, created(3));
	tell(v, h.id, put_a(1, 4, 4));
	hear(v, &h);
	hear(v, &h);
	/* What was under way already: nobody wants to know. */
	tell(v, h.id, put_a(1, 5, 5));
	tell(v, h.id, canceled(1, false, 0, NULL));
	tell(v, h.id, canceled(2, false, 0, NULL));
	tell(v, h.id, put_a(3, 6, 6));
	linger(v);
}

static void
one_stream(void)
{
	struct server server = serve(serve_two_watches);
	struct records *r = client(server.port, 0, "");
	struct remembered n = { 0 }, other = { 0 };
	char *notes;

	n.end = records_watch(r, two, 2, 4, remember, &n);
	records_step(r); /* which asks for it first */
	records_watch(r, two, 1, 4, remember, &other);
	ok(until(r, &other.changes, 1), "two watches share a stream");
	ok(n.changes == 1 && same(other.text, "PUT a=1 @6;") && n.begun == 1 && other.begun == 1,
	   "the end of one is none of the other");
	records_close(r);
	notes = served(&server);
	ok(same(notes, "Watch a @4 #1\nWatch b..c @4 #2\nWatch a @4 #3\nWatch -#1\nWatch -#2\n"),
	   "which is told to the server");
	free(notes);
}

/* ---- interruptions ------------------------------------------------------------------------- */

/* Cut in the middle of a message, after what was heard of each range: a up to 6, b up to 4. */
static void
cut_message(int listener)
{
	struct heard h;
	struct visitor *v = begin_watch(listener, &h, true);
	struct wire_out w = put_a(1, 8, 8);

	tell(v, h.id, put_a(1, 6, 6));
	tell(v, h.id, delete_b(2, 4));
	say(v, h.id, w.at, w.n / 2);
	reset(v);
	v = begin_watch(listener, &h, true);
	/* What was heard already comes once more: a server that begins too early. */
	tell(v, h.id, put_a(1, 6, 8));
	linger(v);
}

static void
resumed(void)
{
	struct remembered n;
	char *notes = watched(cut_message, "", 3, 4, &n);

	ok(n.changes >= 4, "a watch that was cut in a message goes on");
	ok(same(n.text, "PUT a=1 @6;DELETE b= @4;PUT a=1 @7;PUT a=1 @8;") && n.begun == 2,
	   "nothing is told twice, nothing is missed");
	ok(strstr(notes, "a @7 #1\nWatch b..c @5 #2") != NULL, "each range from where it was");
	free(notes);
}

/* From now on: the revision at which it began is what it goes on from. */
static void
cut_at_once(int listener)
{
	struct heard h;
	struct visitor *v = begin_watch(listener, &h, true);

	end_call(v, h.id, 0, "");
	hear(v, &h);
	hear(v, &h);
	tell(v, h.id, created(1));
	tell(v, h.id, created(2));
	tell(v, h.id, put_a(1, 10, 10));
	linger(v);
}

static void
from_now(void)
{
	struct remembered n;
	char *notes = watched(cut_at_once, "", 0, 1, &n);

	ok(n.changes >= 1 && n.begun == 2, "a watch that had an end goes on");
	ok(same(notes, "Watch a #1\nWatch b..c #2\nWatch a @10 #1\nWatch b..c @10 #2\n"),
	   "from now on at first, and then from where it began, over the same connection");
	free(notes);
}

static void
watch_twice(int listener)
{
	struct heard h;
	struct visitor *v = begin_watch(listener, &h, true);

	tell(v, h.id, put_a(1, 5, 5));
	linger(v);
}

/* A call comes, and is not answered. */
static void
answer_nothing(int listener)
{
	struct heard h;
	struct visitor *v = begin_watch(listener, &h, true);

	hear(v, &h);
	linger(v);
}

/* The first endpoint hangs: a call notices, and the watch, which could not, goes along. */
static void
goes_along(void)
{
	struct server first = serve(answer_nothing), second = serve(watch_twice);
	struct records *r = client(first.port, second.port, "");
	struct remembered n = { 0 };
	struct outcome o = { 0 };
	char *notes;

	records_watch(r, two, 2, 4, remember, &n);
	ok(until(r, &n.begun, 1), "a watch has begun at the first endpoint");
	is(asked(r, "call", 200, &o), RECORDS_AWAY, "a call there is not answered");
	ok(until(r, &n.changes, 1) && n.begun == 2, "the watch goes on at the second");
	records_close(r);
	free(served(&first));
	notes = served(&second);
	is(count(notes, "@4"), 2, "from where it was");
	free(notes);
}

/* A call comes, and is not answered; the next one, over another connection, is. */
static void
answer_later(int listener)
{
	struct heard h;
	struct visitor *v = begin_watch(listener, &h, true), *other;
	int32_t watch = h.id;

	hear(v, &h);
	other = visit_and_hear(listener, &h);
	answer(other, h.id, sound(9));
	tell(v, watch, put_a(1, 5, 5));
	linger(v);
}

/* There is no other endpoint: what the server has begun it need not begin again. */
static void
stays(void)
{
	struct server s = serve(answer_later);
	struct records *r = client(s.port, 0, "");
	struct remembered n = { 0 };
	struct outcome o = { 0 };
	char *notes;

	records_watch(r, two, 2, 4, remember, &n);
	ok(until(r, &n.begun, 1), "a watch has begun at the only endpoint");
	is(asked(r, "slow", 200, &o), RECORDS_AWAY, "a call there is not answered");
	is(asked(r, "next", 60000, &o), RECORDS_OK, "the next one is");
	ok(until(r, &n.changes, 1) && n.begun == 1, "the watch has gone on");
	records_close(r);
	notes = served(&s);
	is(count(notes, "Watch a"), 1, "and the server was asked for it once");
	free(notes);
}

/* It takes a watch, and is stopped: nobody calls. */
static void
stand_still(int listener)
{
	struct heard h;

	begin_watch(listener, &h, true);
	pause();
}

static void
noticed(void)
{
	struct server first = serve(stand_still), second = serve(watch_twice);
	struct records *r = client(first.port, second.port, "");
	struct remembered n = { 0 };

	h2_quiet_ns = 300 * MS;
	h2_ping_ns = 200 * MS;
	records_watch(r, two, 2, 4, remember, &n);
	ok(until(r, &n.changes, 1) && n.begun == 2,
	   "a watch alone notices that its server hangs, and goes on at the second");
	h2_quiet_ns = 10 * SECOND;
	h2_ping_ns = 5 * SECOND;
	records_close(r);
	kill(first.pid, SIGKILL);
	free(served(&first));
	free(served(&second));
}

/* ---- what makes no sense ------------------------------------------------------------------- */

static int said; /* by talk_nonsense(), which then mends its ways */

static const char *const nonsense[] = {
	"another id than it was asked for",
	"an id below 0",
	"more watches than it was asked for",
	"an event of an id that there is not",
	"a message without a header",
	"a message that is none",
	"an event without a key",
	"an event without a revision",
	"an end, as it has no leader",
	"an end of the stream, as it has no leader",
	"an end of the stream, for no reason",
	"half a message, and an end of the stream",
	"a message that is compressed",
	"a message that is longer than any",
	"a revision that is the last",
	"a reset of the stream",
};

static void
talk(struct visitor *v, int32_t id)
{
	struct wire_out w = { .failed = false };

	switch (said) {
	case 0:
		tell(v, id, created(2));
		break;
	case 1:
		tell(v, id, created(-2));
		break;
	case 2:
		tell(v, id, created(1));
		tell(v, id, created(2));
		tell(v, id, created(3));
		break;
	case 3:
		tell(v, id, put_a(3, 5, 5));
		break;
	case 4:
		say(v, id, "\0\0\0\0\2\x18\1", 7);
		break;
	case 5:
		say(v, id, "\0\0\0\0\3\xff\xff\xff", 8);
		break;
	case 6:
	case 7:
		wire_number(&w, 2, 1);
		add_event(&w, false, said == 6 ? "" : "a", "1", said == 6 ? 5 : 0);
		tell(v, id, framed(&w));
		break;
	case 8:
		tell(v, id, canceled(1, false, 0, "etcdserver: no leader"));
		break;
	case 9:
		end_call(v, id, 14, "etcdserver: no leader");
		break;
	case 10:
		end_call(v, id, 0, "");
		break;
	case 11:
		say(v, id, "\0\0\0\0\2\x18", 6);
		end_call(v, id, 0, "");
		break;
	case 12:
		say(v, id, "\1\0\0\0\2\x0a\0", 7);
		break;
	case 13:
		say(v, id, "\0\xff\xff\xff\xff\x0a\0", 7);
		break;
	case 14:
		wire_number(&w, 2, 1);
		add_event(&w, false, "a", "1", INT64_MAX);
		tell(v, id, framed(&w));
		break;
	default:
		reset_call(v, id, 2);
		break;
	}
}

/* The same connection serves on where the client may use it again. */
static void
talk_nonsense(int listener)
{
	struct heard h, g;
	struct visitor *v = begin_watch(listener, &h, false);

	talk(v, h.id);
	/* The watch's end may be told before it begins again. */
	while (hear(v, &g) && g.id == h.id)
		;
	if (g.id == h.id) {
		v = begin_watch(listener, &g, true);
	} else {
		hear(v, &g);
		tell(v, g.id, created(1));
		tell(v, g.id, created(2));
	}
	tell(v, g.id, put_a(1, 5, 5));
	linger(v);
}

static void
patience(void)
{
	size_t i;

	for (i = 0; i < sizeof(nonsense) / sizeof(nonsense[0]); i++) {
		struct remembered n;

		said = (int)i;
		free(watched(talk_nonsense, "", 4, 1, &n));
		ok(n.changes >= 1 && n.failed == 0 && n.compacted == 0 &&
		       same(n.text, "PUT a=1 @5;"),
		   "it is left and tried anew after %s", nonsense[i]);
	}
}

/* Of two ranges it knows one, and says nothing more; then both. */
static void
forget_one(int listener)
{
	struct heard h;
	struct visitor *v = begin_watch(listener, &h, false);

	tell(v, h.id, created(1));
	linger(v);
	watch_twice(listener);
}

static void
half_begun(void)
{
	struct remembered n;
	char *notes = watched(forget_one, "", 4, 1, &n);

	ok(n.changes >= 1 && n.begun == 1, "a watch of which a range is missing is begun anew");
	is(count(notes, "Watch a"), 2, "once, over another connection");
	free(notes);
}

/* ---- ends ---------------------------------------------------------------------------------- */

static void
say_compacted(int listener)
{
	struct heard h;
	struct visitor *v = begin_watch(listener, &h, true);

	tell(v, h.id, canceled(2, false, 8, NULL));
	linger(v);
}

static void
say_denied(int listener)
{
	struct heard h;
	struct visitor *v = begin_watch(listener, &h, false);

	/* From etcd 3.5 on it has no id. */
	tell(v, h.id, canceled(-1, true, 0, "etcdserver: permission denied"));
	linger(v);
}

static void
say_not_found(int listener)
{
	struct heard h;
	struct visitor *v = begin_watch(listener, &h, false);

	page(v, h.id, "404", "<html>no such page</html>");
	linger(v);
}

/* As etcd 3.3, which does not know that clients choose the ids. */
static void
number_itself(int listener)
{
	struct heard h;
	struct visitor *v = begin_watch(listener, &h, false);

	tell(v, h.id, created(0));
	tell(v, h.id, created(1));
	linger(v);
}

static void
over(script *s, bool compacted, const char *words)
{
	struct server server = serve(s);
	struct records *r = client(server.port, 0, "");
	struct remembered n = { 0 };
	struct records_watch *w = records_watch(r, two, 2, 4, remember, &n);

	ok(until(r, compacted ? &n.compacted : &n.failed, 1), "a watch is over: %s",
	   compacted ? "compacted" : words);
	ok(compacted || strstr(n.text, words) != NULL, "and it is told why: %s", n.text);
	records_unwatch(w);
	records_close(r);
	free(served(&server));
}

/* The refusal of one is that of the first, which is gone by then; the second is created. */
static void
refuse_first(int listener)
{
	struct heard h;
	struct visitor *v = begin_watch(listener, &h, false);

	tell(v, h.id, canceled(-1, true, 0, "etcdserver: permission denied"));
	tell(v, h.id, created(2));
	tell(v, h.id, put_a(2, 5, 5));
	linger(v);
}

static void
refused_by_order(void)
{
	struct server server = serve(refuse_first);
	struct records *r = client(server.port, 0, "");
	struct remembered gone = { 0 }, n = { 0 };
	struct records_watch *first = records_watch(r, two, 1, 4, remember, &gone);

	records_step(r); /* which asks for it first */
	records_watch(r, two, 1, 4, remember, &n);
	records_step(r);
	records_unwatch(first);
	ok(until(r, &n.changes, 1) && n.failed == 0 && gone.failed == 0,
	   "what is refused without an id is the watch whose turn it is");
	records_close(r);
	free(served(&server));
}

static void
send_token(struct visitor *v, int32_t id, const char *token)
{
	struct wire_out w = { .failed = false };

	wire_text(&w, 2, token);
	answer(v, id, framed(&w));
}

/* Denied, as the token is of before the server's restart: another one helps. */
static void
deny_old_token(int listener)
{
	struct heard h;
	struct visitor *v = visit_and_hear(listener, &h);

	send_token(v, h.id, "t1");
	hear(v, &h);
	hear(v, &h);
	tell(v, h.id, canceled(1, true, 0, "etcdserver: permission denied"));
	do
		hear(v, &h);
	while (strcmp(h.call, "Authenticate") != 0);
	send_token(v, h.id, "t2");
	do
		hear(v, &h);
	while (strcmp(h.token, "t2") != 0);
	hear(v, &h);
	tell(v, h.id, created(1));
	tell(v, h.id, created(2));
	tell(v, h.id, put_a(1, 5, 5));
	linger(v);
}

static void
another_token(void)
{
	struct remembered n;
	char *notes = watched(deny_old_token, "@", 4, 1, &n);

	ok(n.changes >= 1 && n.failed == 0, "no rights by an old token: another is had");
	ok(strstr(notes, "Watch t1 ") != NULL && strstr(notes, "Watch t2 ") != NULL, "and used");
	free(notes);
}

static void
ended_from_within(void)
{
	struct server server = serve(send_whole);
	struct records *r = client(server.port, 0, "");
	struct remembered n = { 0 };
	struct outcome o = { 0 };

	n.end = records_watch(r, two, 2, 4, remember, &n);
	ok(until(r, &n.changes, 1), "a watch may be ended by what it tells");
	asked(r, "call", 100, &o);
	is(n.changes, 1, "and tells no more");
	records_close(r);
	free(served(&server));
}

/* The end of the connection is enough. */
static void
left_and_closed(void)
{
	struct server server = serve(send_whole);
	struct records *r = client(server.port, 0, "");
	struct remembered n = { 0 };
	struct records_watch *w = records_watch(r, two, 2, 4, remember, &n);
	char *notes;

	until(r, &n.changes, 3);
	records_unwatch(w);
	records_step(r);
	ok(records_due(r) > flki_boottime_ns() && records_due(r) < UINT64_MAX,
	   "the server is told later of a watch that has ended");
	records_close(r);
	notes = served(&server);
	ok(same(notes, "Watch a @4 #1\nWatch b..c @4 #2\n"),
	   "and not at all, if it is closed first");
	free(notes);
}

int
main(void)
{
	clients_begin();
	pieces(send_whole, "at once");
	pieces(send_by_byte, "a byte at a time");
	one_stream();
	resumed();
	from_now();
	goes_along();
	stays();
	noticed();
	patience();
	half_begun();
	over(say_compacted, true, "");
	over(say_denied, false, "no rights on a");
	over(say_not_found, false, "not etcd 3.4 or newer");
	over(number_itself, false, "not etcd 3.4 or newer");
	refused_by_order();
	another_token();
	ended_from_within();
	left_and_closed();
	return tap_done();
}
