/* SPDX-License-Identifier: ISC */
/*
 * hostile.c - etcd's client against servers that do harm, or are broken: nothing is missed, each call
 * and watch goes on, and no time or memory is lost without end.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/socket.h>

#include "clock.h"
#include "etcd/client/client.h"
#include "pump.h"
#include "server.h"
#include "../helpers/tap.h"

static const struct records_range a_and_b[] = { { .key = "a" }, { .key = "b", .end = "c" } };

/* ---- what a server says -------------------------------------------------------------------- */

static void
tell(struct visitor *v, int32_t id, struct wire_out *w)
{
	struct wire_out all = message(9, w);

	say(v, id, all.at, all.n);
	free(all.at);
	free(w->at);
}

static void
tell_created(struct visitor *v, int32_t id, int watch)
{
	struct wire_out w = { .failed = false };

	wire_number(&w, 2, watch);
	wire_number(&w, 3, 1);
	tell(v, id, &w);
}

static void
add_put(struct wire_out *w, const char *key, int changed)
{
	size_t event = wire_begin(w, 11), kv = wire_begin(w, 2);

	wire_text(w, 1, key);
	wire_number(w, 2, 3);
	wire_number(w, 3, changed);
	wire_end(w, kv);
	wire_end(w, event);
}

/* A message of the first watch: a put at each of two revisions, which may be the same. */
static struct wire_out
two_puts(int changed, int then)
{
	struct wire_out w = { .failed = false };

	wire_number(&w, 2, 1);
	add_put(&w, "a", changed);
	add_put(&w, "a", then);
	return w;
}

/* Takes a connection whose first call is a watch of that many ranges, and creates them. */
static struct visitor *
begin_watch(int listener, struct heard *h, int ranges)
{
	struct visitor *v = visit_and_hear(listener, h);
	int i;

	for (i = 1; i <= ranges; i++) {
		if (i > 1)
			hear(v, h);
		tell_created(v, h->id, i);
	}
	return v;
}

/* ---- connections --------------------------------------------------------------------------- */

/* DATA of no stream, which ends the connection, and much more of anything. */
static void
break_the_rules(int listener)
{
	static const char data[] = "\0\0\1\0\0\0\0\0\0x";
	static char more[1 << 20];
	struct heard h;
	struct visitor *v = visit(listener);

	hear(v, &h);
	send_bytes(raw(v), data, sizeof(data) - 1);
	send_bytes(raw(v), more, sizeof(more));
	pause();
}

static void
dead_connection(void)
{
	struct server s = serve(break_the_rules);
	struct records *r = client(s.port, 0, "");
	struct outcome o = { 0 };

	ask(r, "a", 5000, &o);
	records_step(r);
	records_step(r);
	usleep(300000); /* until there is more to be read than one step reads */
	ok(until(r, &o.times, 1) && o.result != RECORDS_OK,
	   "a server that breaks the rules is left");
	/* The client asks once more, by the other protocol, and gives that up in time. */
	ok(rests(r), "and nothing is due then");
	records_close(r);
	kill(s.pid, SIGKILL);
	free(served(&s));
}

/* The token is refused, and the connection is closed behind that; then the password is wrong. */
static void
refuse_and_close(int listener)
{
	struct wire_out token = { .failed = false };
	struct visitor *v = visit(listener);
	struct heard h;

	hear(v, &h);
	wire_text(&token, 2, "tok.1");
	answer(v, h.id, message(1, &token));
	hear(v, &h);
	end_call(v, h.id, 16, "etcdserver: invalid auth token");
	flush(v);
	shutdown(raw(v), SHUT_RDWR);
	v = visit(listener);
	while (hear(v, &h))
		end_call(v, h.id, 3,
			 "etcdserver: authentication failed, invalid user ID or password");
}

/* What an answer leads to is not begun on a connection that is known to have ended. */
static void
closed_behind_an_answer(void)
{
	struct outcome o = { 0 };
	struct server s;
	struct records *r;
	int i;

	setenv("FLOCKLIMIT_STORE_USER", "ann", 1);
	setenv("FLOCKLIMIT_STORE_PASSWORD", "old", 1);
	s = serve(refuse_and_close);
	r = client(s.port, 0, "");
	ask(r, "a", 5000, &o);
	for (i = 0; i < 5 && o.times == 0; i++) {
		records_step(r);
		usleep(100000); /* until both stand in the socket */
	}
	ok(until(r, &o.times, 1) && strstr(o.text, "password is wrong") != NULL,
	   "a refusal that a connection ends with leads to another: %s", o.text);
	records_close(r);
	kill(s.pid, SIGKILL);
	free(served(&s));
	clients_begin();
}

/* Calls again from within each answer. */
struct eager {
	struct records *records;
	int told;
};

static void
call_again(void *context, const struct records_answer *answer)
{
	struct eager *e = context;
	struct txn *x;

	(void)answer;
	if (++e->told == 1000)
		return;
	x = txn_new();
	txn_get(x, "a", NULL);
	records_txn(e->records, x, 5000, call_again, e);
}

/* To connect to that address fails at once. */
static void
one_step_ends(void)
{
	static struct url u;
	char why[RECORDS_TEXT];
	struct eager e = { .told = 0 };

	if (url_parse(&u, "etcd://255.255.255.255:1") != NULL ||
	    records_open(&e.records, &u, 5000, why) != 0)
		tap_bail("no client");
	call_again(&e, NULL);
	while (e.told == 1)
		records_step(e.records);
	ok(e.told < 1000,
	   "a step ends, though each failure is followed by a call that fails at once");
	records_close(e.records);
}

/* It refuses a call of which it has not read all, and does not read on. */
static void
refuse_unread(int listener)
{
	struct heard h;
	struct visitor *v = visit_with(listener, 0);

	hear(v, &h);
	answer(v, h.id, sound(1));
	while (!is_called(v, 3))
		;
	end_call(v, 3, 8, "grpc: received message larger than max (9 vs. 5)");
	linger(v);
}

static void
refused_unread(void)
{
	struct server s = serve(refuse_unread);
	struct records *r = client(s.port, 0, "");
	struct outcome o = { 0 };

	asked(r, "first", 5000, &o);
	is(asked(r, "second", 5000, &o), RECORDS_WRONG,
	   "what a server says before it has read the call is heard");
	records_close(r);
	free(served(&s));
}

/* ---- watches ------------------------------------------------------------------------------- */

struct listener {
	struct records *records;
	struct remembered heard, other;
	struct records_watch *more;
};

/* Begins another watch from within the first change. */
static void
watch_more(void *context, const struct records_news *news)
{
	struct listener *l = context;

	remember(&l->heard, news);
	if (news->kind == WATCH_CHANGE && l->more == NULL)
		l->more = records_watch(l->records, a_and_b, 1, 9, remember, &l->other);
}

/* A call fails, and in the same packet come two changes. */
static void
fail_and_tell(int listener)
{
	struct heard h, g;
	struct visitor *v = begin_watch(listener, &h, 1);
	struct wire_out w = two_puts(4, 5);

	hear(v, &g);
	hold_back(v, true);
	reset_call(v, g.id, 2);
	tell(v, h.id, &w);
	hold_back(v, false);
	visit_and_hear(listener, &h);
	pause();
}

static void
turned_from_within(void)
{
	struct server s = serve(fail_and_tell);
	struct listener l = { .records = client(s.port, 0, "") };
	struct outcome o = { 0 };

	records_watch(l.records, a_and_b, 1, 4, watch_more, &l);
	until(l.records, &l.heard.begun, 1);
	asked(l.records, "fails", 5000, &o);
	until(l.records, &l.heard.changes, 1);
	ok(same(l.heard.text, "PUT a= @4;PUT a= @5;"),
	   "a watch that is begun from within a change, after a turn, makes another watch miss "
	   "none");
	records_close(l.records);
	kill(s.pid, SIGKILL);
	free(served(&s));
}

/* Both changes of a revision, but a byte at a time. */
static void
tell_revision(int listener)
{
	struct heard h;
	struct visitor *v = begin_watch(listener, &h, 1);
	struct wire_out w = two_puts(4, 4), all = message(9, &w);
	size_t i;

	for (i = 0; i < all.n; i++) {
		say(v, h.id, all.at + i, 1);
		usleep(1000);
	}
	linger(v);
}

static void
whole_revision(void)
{
	struct server s = serve(tell_revision);
	struct records *r = client(s.port, 0, "");
	struct remembered n = { 0 };

	records_watch(r, a_and_b, 1, 4, remember, &n);
	ok(until(r, &n.changes, 1) && n.changes == 2,
	   "all changes of a revision come within one step");
	records_close(r);
	free(served(&s));
}

/* Messages that no watch is about, and then a change. */
static void
flood(int listener)
{
	struct heard h;
	struct visitor *v = begin_watch(listener, &h, 1);
	struct wire_out many = { .failed = false }, w = two_puts(4, 5);
	size_t i;

	while (many.n < 1 << 20)
		wire_raw(&many, "\0\0\0\0\2\x0a\0", 7);
	for (i = 0; i < 8; i++)
		say(v, h.id, many.at, many.n);
	tell(v, h.id, &w);
	linger(v);
}

static void
flooded(void)
{
	struct server s = serve(flood);
	struct records *r = client(s.port, 0, "");
	struct remembered n = { 0 };
	uint64_t before = flki_boottime_ns();

	records_watch(r, a_and_b, 1, 4, remember, &n);
	ok(until(r, &n.changes, 2), "behind a million of messages that say nothing, changes come");
	tap_note("after %.1f s", (double)(flki_boottime_ns() - before) / 1e9);
	ok(flki_boottime_ns() - before < 10000 * MS, "soon");
	records_close(r);
	free(served(&s));
}

/* ---- want of memory ------------------------------------------------------------------------ */

/* Each stream ends, as the client has no memory for it, and the next has one watch more. */
static void
serve_watches(int listener)
{
	struct heard h;
	struct visitor *v = begin_watch(listener, &h, 1);
	int watches, i;

	for (watches = 2; watches <= 3; watches++)
		for (i = 1; i <= watches; i++) {
			hear(v, &h);
			/* The third comes over the stream of the two, whose answer finds no memory. */
			if (i == 1 && watches == 3) {
				tell_created(v, h.id, 3);
				hear(v, &h);
			}
			tell_created(v, h.id, i);
		}
	linger(v);
}

/* What is half written is not sent, and nothing that came is missed: all begins again. */
static void
no_memory(void)
{
	struct server s = serve(serve_watches);
	struct records *r = client(s.port, 0, "");
	struct remembered n[3] = { { .begun = 0 } };

	records_watch(r, a_and_b, 1, 4, remember, &n[0]);
	until(r, &n[0].begun, 1);
	r->feed.x.stream.out.failed = true;
	records_watch(r, a_and_b, 1, 4, remember, &n[1]);
	ok(until(r, &n[1].begun, 1) && until(r, &n[0].begun, 2),
	   "no memory for what is to be sent");
	r->feed.x.stream.in.failed = true;
	records_watch(r, a_and_b, 1, 4, remember, &n[2]);
	ok(until(r, &n[2].begun, 1) && until(r, &n[0].begun, 3), "no memory for what came");
	records_close(r);
	free(served(&s));
}

int
main(void)
{
	clients_begin();
	dead_connection();
	closed_behind_an_answer();
	one_step_ends();
	refused_unread();
	turned_from_within();
	whole_revision();
	flooded();
	no_memory();
	return tap_done();
}
