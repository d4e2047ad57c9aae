/* SPDX-License-Identifier: ISC */
/*
 * client.c - the calls of etcd's client, against servers that answer well, badly, or not at all.
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

/* ---- good answers -------------------------------------------------------------------------- */

/* What compares held, and one get found one record. */
static struct wire_out
transaction(int revision)
{
	struct wire_out w = { .failed = false }, all;
	size_t response, range, kv;

	wire_number(&w, 2, 1);
	response = wire_begin(&w, 3);
	range = wire_begin(&w, 1);
	kv = wire_begin(&w, 2);
	wire_text(&w, 1, "a");
	wire_number(&w, 2, 2);
	wire_number(&w, 3, 2);
	wire_text(&w, 5, "1");
	wire_end(&w, kv);
	wire_end(&w, range);
	wire_end(&w, response);
	all = message(revision, &w);
	free(w.at);
	return all;
}

static struct wire_out
lease(int revision, int ttl)
{
	struct wire_out w = { .failed = false }, all;

	wire_number(&w, 2, 5);
	if (ttl > 0)
		wire_number(&w, 3, ttl);
	all = message(revision, &w);
	free(w.at);
	return all;
}

static void
answer_well(int listener)
{
	struct visitor *v = visit(listener);
	struct heard h;
	struct wire_out w;
	size_t i;

	hear(v, &h);
	answer(v, h.id, transaction(7));
	hear(v, &h);
	for (w = transaction(8), i = 0; i < w.n; i++)
		say(v, h.id, w.at + i, 1);
	end_call(v, h.id, 0, "");
	hear(v, &h);
	answer(v, h.id, lease(9, 3));
	hear(v, &h);
	answer(v, h.id, lease(9, 3));
	hear(v, &h);
	answer(v, h.id, lease(9, 0));
	hear(v, &h);
	end_call(v, h.id, 5, "etcdserver: requested lease not found");
	hear(v, &h);
	end_call(v, h.id, 9, "etcdserver: lease already exists");
	linger(v);
}

static void
well_answered(void)
{
	struct server s = serve(answer_well);
	struct records *r = client(s.port, 0, "/team");
	struct outcome o = { 0 };
	uint64_t before = flki_boottime_ns();
	char *notes;

	is(asked(r, "a", 5000, &o), RECORDS_OK, "an answer is an answer");
	ok(o.held && o.revision == 7 && o.found == 1, "all that is in it is handed over");
	ok(o.sent_ns >= before && o.sent_ns <= flki_boottime_ns(), "and when it was sent");
	is(asked(r, "b", 5000, &o), RECORDS_OK, "one byte at a time, it is one as well");
	ok(o.held && o.revision == 8 && o.found == 1, "and is the same");
	o.times = 0;
	records_lease(r, 5, 3, 5000, remember_answer, &o);
	ok(until(r, &o.times, 1) && o.result == RECORDS_OK && o.revision == 9, "a lease is given");
	o.times = 0;
	records_renew(r, 5, 5000, remember_answer, &o);
	ok(until(r, &o.times, 1) && o.result == RECORDS_OK && o.alive, "and renewed");
	o.times = 0;
	records_renew(r, 5, 5000, remember_answer, &o);
	ok(until(r, &o.times, 1) && o.result == RECORDS_OK && !o.alive, "until it is over");
	o.times = 0;
	records_end(r, 5, 5000, remember_answer, &o);
	ok(until(r, &o.times, 1) && o.result == RECORDS_NOLEASE, "a lease that is not there");
	o.times = 0;
	records_lease(r, 5, 3, 5000, remember_answer, &o);
	ok(until(r, &o.times, 1) && o.result == RECORDS_EXISTS, "a lease that is there");
	ok(o.found == 0 && contains(o.text, "127.0.0.1:"), "a failure has a text, and no records");
	records_close(r);
	notes = served(&s);
	ok(same(notes, "Txn a\nTxn b\nLeaseGrant \nLeaseKeepAlive \nLeaseKeepAlive \nLeaseRevoke \n"
		       "LeaseGrant \n"),
	   "all over one connection");
	free(notes);
}

/* Ten at once, answered from the last to the first. */
static void
answer_backwards(int listener)
{
	struct visitor *v = visit(listener);
	struct heard h[10];
	int i;

	for (i = 0; i < 10; i++)
		hear(v, &h[i]);
	while (i-- > 0)
		answer(v, h[i].id, sound(i + 1));
	linger(v);
}

static void
at_once(void)
{
	struct server s = serve(answer_backwards);
	struct records *r = client(s.port, 0, "");
	struct outcome o[10] = { { .times = 0 } };
	int i, right = 0;
	char key[2] = "a";

	for (i = 0; i < 10; i++) {
		key[0] = (char)('a' + i);
		ask(r, key, 5000, &o[i]);
	}
	for (i = 0; i < 10; i++)
		right += until(r, &o[i].times, 1) && o[i].revision == i + 1;
	is(right, 10, "each call has its own answer, in whatever order they come");
	records_close(r);
	free(served(&s));
}

/* ---- answers that are not there ------------------------------------------------------------ */

/* The second request comes over a connection that was good, and is cut when it was heard. */
static void
cut_before_reply(int listener)
{
	struct visitor *v = visit(listener);
	struct heard h;

	hear(v, &h);
	answer(v, h.id, sound(1));
	hear(v, &h);
	reset(v);
	v = visit_and_hear(listener, &h);
	answer(v, h.id, sound(1));
	hear(v, &h);
	close(raw(v));
	v = visit_and_hear(listener, &h);
	answer(v, h.id, sound(1));
	hear(v, &h);
	reset_call(v, h.id, 2);
	v = visit_and_hear(listener, &h);
	answer(v, h.id, sound(1));
	linger(v);
}

static void
never_resent(void)
{
	struct server s = serve(cut_before_reply);
	struct records *r = client(s.port, 0, "");
	struct outcome o = { 0 };
	char *notes;

	is(asked(r, "first", 5000, &o), RECORDS_OK, "a connection is good");
	is(asked(r, "second", 5000, &o), RECORDS_AWAY, "it is reset before the answer");
	ok(contains(o.text, "the connection broke"), "which is said");
	is(asked(r, "third", 5000, &o), RECORDS_OK, "the next call has another");
	is(asked(r, "fourth", 5000, &o), RECORDS_AWAY, "it is closed before the answer");
	is(asked(r, "fifth", 5000, &o), RECORDS_OK, "and the next again");
	is(asked(r, "sixth", 5000, &o), RECORDS_AWAY, "a call is cut, and not the connection");
	is(asked(r, "seventh", 5000, &o), RECORDS_OK, "and the next again");
	records_close(r);
	notes = served(&s);
	ok(same(notes, "Txn first\nTxn second\nTxn third\nTxn fourth\nTxn fifth\nTxn sixth\n"
		       "Txn seventh\n"),
	   "none was sent twice");
	free(notes);
}

/* Each connection is closed after its answer, as a server may at any time. */
static void
close_when_idle(int listener)
{
	struct heard h = { .id = 0 };

	do {
		struct visitor *v = visit(listener);

		if (hear(v, &h))
			answer(v, h.id, sound(1));
		close(raw(v));
	} while (strcmp(h.key, "last") != 0);
}

static void
idle_connections(void)
{
	struct server s = serve(close_when_idle);
	struct records *r = client(s.port, 0, "");
	struct outcome o = { 0 };
	int i, good = 0, sent = 0;
	char *notes;

	for (i = 0; i < 100; i++)
		good += asked(r, "call", 5000, &o) == RECORDS_OK;
	while (asked(r, "last", 5000, &o) != RECORDS_OK && sent++ < 100)
		;
	records_close(r);
	notes = served(&s);
	ok(count(notes, "call") >= good && count(notes, "call") <= 100,
	   "a connection that was closed meanwhile makes no call twice: %d good, %d heard of 100",
	   good, count(notes, "call"));
	free(notes);
}

/* The first call is still answered after that, and the second is not taken. */
static void
say_goodbye(int listener)
{
	struct visitor *v = visit(listener);
	struct heard h, g;

	hear(v, &h);
	hear(v, &g);
	go_away(v, h.id);
	answer(v, h.id, sound(1));
	v = visit_and_hear(listener, &h);
	answer(v, h.id, sound(2));
	linger(v);
}

static void
goodbye(void)
{
	struct server s = serve(say_goodbye);
	struct records *r = client(s.port, 0, "");
	struct outcome a = { 0 }, b = { 0 };

	ask(r, "a", 5000, &a);
	ask(r, "b", 5000, &b);
	ok(until(r, &a.times, 1) && a.result == RECORDS_OK,
	   "a server that ends answers what it had taken");
	ok(until(r, &b.times, 1) && b.result == RECORDS_AWAY, "and nothing else");
	is(asked(r, "c", 5000, &a), RECORDS_OK, "the next call has another connection");
	records_close(r);
	free(served(&s));
}

/* Of two calls, the first may never be sent whole. */
static void
keep_window_shut(int listener)
{
	struct visitor *v = visit_with(listener, 0);
	struct heard h;

	hear(v, &h);
	answer(v, h.id, sound(1));
	let_write(v, 5);
	hear(v, &h);
	answer(v, h.id, sound(2));
	linger(v);
}

static void
stuck_stream(void)
{
	struct server s = serve(keep_window_shut);
	struct records *r = client(s.port, 0, "");
	struct outcome a = { 0 }, b = { 0 };

	is(asked(r, "first", 5000, &a), RECORDS_OK, "a connection is good");
	ask(r, "stuck", 500, &a);
	ask(r, "through", 5000, &b);
	ok(until(r, &b.times, 1) && b.result == RECORDS_OK && a.times == 0,
	   "a call that may not be sent keeps no other from being answered");
	ok(until(r, &a.times, 1) && a.result == RECORDS_AWAY, "and has a time that ends");
	records_close(r);
	free(served(&s));
}

static void
be_silent(int listener)
{
	struct visitor *v = visit(listener);
	struct heard h;
	struct wire_out w = transaction(1);

	hear(v, &h);
	linger(v);
	v = visit_and_hear(listener, &h);
	say(v, h.id, w.at, w.n / 2);
	close(raw(v));
	v = visit_and_hear(listener, &h);
	say(v, h.id, w.at, w.n / 2);
	end_call(v, h.id, 0, "");
	hear(v, &h);
	linger(v);
}

static void
silence(void)
{
	struct server s = serve(be_silent);
	struct records *r = client(s.port, 0, "");
	struct outcome o = { 0 }, never = { 0 };
	uint64_t before = flki_boottime_ns();

	is(asked(r, "silent", 300, &o), RECORDS_AWAY, "no answer is none");
	ok(flki_boottime_ns() - before >= 290 * MS && contains(o.text, "no answer in time"),
	   "when its time is over");
	is(asked(r, "cut", 5000, &o), RECORDS_AWAY, "half an answer is none");
	ok(asked(r, "half", 5000, &o) != RECORDS_OK, "nor is one that pretends to be whole");
	records_cancel(ask(r, "cancelled", 5000, &never));
	ask(r, "left", 5000, &never);
	asked(r, "refused", 100, &o);
	records_close(r);
	free(served(&s));
	is(never.times, 0, "what is cancelled is never told of, nor what is left at the end");
	r = client(nobodys_port(), 0, "");
	is(asked(r, "refused", 5000, &o), RECORDS_AWAY, "nobody listens: away");
	ok(contains(o.text, "Connection refused"), "which is said");
	records_close(r);
}

/* It takes connections, and is stopped: the first call has a long time. */
static void
stand_still(int listener)
{
	struct visitor *v = visit(listener);
	struct heard h;

	hear(v, &h);
	pause();
}

static void
stopped(void)
{
	struct server s = serve(stand_still);
	struct records *r = client(s.port, 0, "");
	struct outcome o = { 0 };
	uint64_t before = flki_boottime_ns();

	h2_quiet_ns = 300 * MS;
	h2_ping_ns = 200 * MS;
	is(asked(r, "long", 60000, &o), RECORDS_AWAY, "a server that is stopped is noticed");
	ok(flki_boottime_ns() - before < 30000 * MS && contains(o.text, "no answer in time"),
	   "before the call's own time is over");
	h2_quiet_ns = 10 * SECOND;
	h2_ping_ns = 5 * SECOND;
	records_close(r);
	kill(s.pid, SIGKILL);
	free(served(&s));
}

/* It answers each PING, and the call late. */
static void
take_time(int listener)
{
	struct visitor *v = visit(listener);
	struct heard h, later;

	hear(v, &h);
	/* The client's PINGs are answered while the next call is awaited. */
	hear(v, &later);
	answer(v, h.id, sound(1));
	answer(v, later.id, sound(2));
	linger(v);
}

static void
slow(void)
{
	struct server s = serve(take_time);
	struct records *r = client(s.port, 0, "");
	struct outcome o = { 0 }, next = { 0 };
	uint64_t until_ns = flki_boottime_ns() + 1500 * MS;

	h2_quiet_ns = 100 * MS;
	h2_ping_ns = 10 * SECOND;
	ask(r, "slow", 60000, &o);
	while (flki_boottime_ns() < until_ns) {
		usleep(10000);
		records_step(r);
	}
	is(o.times, 0, "a server that answers PINGs may take its time");
	ask(r, "next", 60000, &next);
	ok(until(r, &o.times, 1) && o.result == RECORDS_OK, "and its answer comes");
	h2_quiet_ns = 10 * SECOND;
	h2_ping_ns = 5 * SECOND;
	records_close(r);
	free(served(&s));
}

/* ---- answers that make no sense ------------------------------------------------------------ */

#define NO_HTTP NULL

static const struct {
	const char *http; /* not 200, or what it says is no gRPC; NO_HTTP: raw bytes */
	int status;       /* gRPC's */
	const char *text;
	enum records_result result;
	const char *words;
} strange[] = {
	{ "404", -1, "404 page not found\n", RECORDS_WRONG, "not etcd 3.4 or newer" },
	{ "200", -1, "<html><body>It works!</body></html>", RECORDS_WRONG,
	  "not etcd 3.4 or newer" },
	{ "200", 0, "", RECORDS_WRONG, "not etcd" },
	{ "200", 0, "garbage", RECORDS_WRONG, "not etcd" },
	{ "301", -1, "", RECORDS_WRONG, "not etcd" },
	{ "503", -1, "<html>Service Unavailable</html>", RECORDS_AWAY, "HTTP status 503" },
	{ "401", -1, "who are you?", RECORDS_WRONG, "does not let us in" },
	{ "200", 12, "unknown service etcdserverpb.KV", RECORDS_WRONG, "not etcd 3.4 or newer" },
	{ "200", 14, "etcdserver: no leader", RECORDS_AWAY, "no leader" },
	{ "200", 14, "etcdserver: leader changed", RECORDS_AWAY, "leader changed" },
	{ "200", 3, "etcdserver: duplicate key%1B[1m given%", RECORDS_WRONG,
	  "duplicate key?[1m given%" },
	{ "200", 7, "etcdserver: permission denied", RECORDS_DENIED, "--prefix /team/" },
	{ "200", 3, "etcdserver: user name is empty", RECORDS_WRONG, "FLOCKLIMIT_STORE_USER" },
	{ "200", 16, "etcdserver: invalid auth token", RECORDS_WRONG, "not valid any more" },
	{ "200", 8, "etcdserver: mvcc: database space exceeded", RECORDS_AWAY,
	  "etcdctl alarm list" },
	{ "200", 8, "grpc: received message larger than max (9 vs. 5)", RECORDS_WRONG,
	  "larger than max" },
	{ "200", 3, "etcdserver: request is too large", RECORDS_WRONG, "too large" },
	{ "200", 99, "what is that?", RECORDS_WRONG, "what is that?" },
	{ NO_HTTP, 0, "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n", RECORDS_WRONG,
	  "speaks no HTTP/2" },
	{ NO_HTTP, 0, "220 mail.example ESMTP\r\n", RECORDS_WRONG, "speaks no HTTP/2" },
	{ NO_HTTP, 0, "\x15\x03\x01\x02\x02\x46\x46", RECORDS_WRONG, "speaks TLS only" },
};

#define STRANGE (sizeof(strange) / sizeof(strange[0]))

static void
answer_strangely(int listener)
{
	struct heard h;
	size_t i;

	for (i = 0; i < STRANGE; i++) {
		struct visitor *v = visit(listener);

		if (strange[i].http == NO_HTTP) {
			send_bytes(raw(v), strange[i].text, strlen(strange[i].text));
			while (read(raw(v), &h, sizeof(h)) > 0)
				;
			close(raw(v));
			continue;
		}
		hear(v, &h);
		if (strange[i].status == -1) {
			page(v, h.id, strange[i].http, strange[i].text);
		} else if (strange[i].status == 0) {
			say(v, h.id, strange[i].text, strlen(strange[i].text));
			end_call(v, h.id, 0, "");
		} else {
			end_call(v, h.id, strange[i].status, strange[i].text);
		}
		linger(v);
	}
}

static void
strangers(void)
{
	struct server s = serve(answer_strangely);
	struct outcome o = { 0 };
	size_t i;

	for (i = 0; i < STRANGE; i++) {
		struct records *r = client(s.port, 0, "/team");

		is(asked(r, "a", 5000, &o), strange[i].result, "%s %d %.*s",
		   strange[i].http == NO_HTTP ? "no HTTP/2" : strange[i].http, strange[i].status,
		   (int)strcspn(strange[i].text, "\x15\r\n"), strange[i].text);
		ok(contains(o.text, strange[i].words), "and is told so");
		records_close(r);
	}
	free(served(&s));
}

static void
answer_page(int listener)
{
	struct visitor *v = visit(listener);
	struct heard h;

	hear(v, &h);
	answer(v, h.id, sound(1));
	hear(v, &h);
	page(v, h.id, "404", "<html>nobody here</html>");
	v = visit_and_hear(listener, &h);
	page(v, h.id, "200", "<html>please log in</html>");
	linger(v);
}

static void
good_once(void)
{
	struct server s = serve(answer_page);
	struct records *r = client(s.port, 0, "");
	struct outcome o = { 0 };

	is(asked(r, "a", 5000, &o), RECORDS_OK, "it is etcd");
	is(asked(r, "a", 5000, &o), RECORDS_AWAY, "a page of a proxy's means that it is away");
	is(asked(r, "a", 5000, &o), RECORDS_AWAY, "whatever it says");
	records_close(r);
	free(served(&s));
}

/* ---- tokens -------------------------------------------------------------------------------- */

static struct wire_out
token_answer(const char *token)
{
	struct wire_out w = { .failed = false }, all;

	wire_text(&w, 2, token);
	all = message(1, &w);
	free(w.at);
	return all;
}

/* Tokens are t1, t2, ...; each is good for two calls.  "never" takes none. */
static void
want_tokens(int listener)
{
	struct visitor *v = visit(listener);
	int given = 0, left = 0;
	char token[16] = "none";
	struct heard h;

	while (hear(v, &h)) {
		if (strcmp(h.call, "Authenticate") == 0) {
			snprintf(token, sizeof(token), "t%d", ++given);
			left = 2;
			answer(v, h.id, token_answer(token));
		} else if (strcmp(h.token, token) == 0 && left-- > 0 &&
			   strcmp(h.key, "never") != 0) {
			answer(v, h.id, sound(1));
		} else {
			end_call(v, h.id, 16, "etcdserver: invalid auth token");
		}
	}
}

static void
tokens(void)
{
	struct server s = serve(want_tokens);
	struct records *r = client(s.port, 0, "@");
	struct outcome o = { 0 };
	char *notes;

	is(asked(r, "a", 5000, &o), RECORDS_OK, "a token is had first");
	is(asked(r, "b", 5000, &o), RECORDS_OK, "and used again");
	is(asked(r, "c", 5000, &o), RECORDS_OK, "another is had when it is refused");
	is(asked(r, "never", 5000, &o), RECORDS_WRONG, "once");
	ok(strstr(o.text, "secret") == NULL && strstr(o.text, "t2") == NULL,
	   "what is said of it has no secret in it");
	records_close(r);
	notes = served(&s);
	ok(contains(notes, "Authenticate u secret\nTxn t1 a\nTxn t1 b\nTxn t1 c\nAuthenticate"),
	   "in that order");
	is(count(notes, "never"), 2, "a call is repeated once");
	free(notes);
}

/* The first is slow, and fails; then there is no need of one. */
static void
want_no_token(int listener)
{
	struct visitor *v = visit(listener);
	struct heard h;

	hear(v, &h);
	end_call(v, h.id, 14, "etcdserver: no leader");
	v = visit_and_hear(listener, &h);
	end_call(v, h.id, 9, "etcdserver: authentication is not enabled");
	while (hear(v, &h))
		answer(v, h.id, sound(1));
}

static void
no_token(void)
{
	struct server s = serve(want_no_token);
	struct records *r = client(s.port, 0, "@");
	struct outcome a = { 0 }, b = { 0 };
	char *notes;

	ask(r, "left", 5000, &a);
	ask(r, "right", 5000, &b);
	ok(until(r, &a.times, 1) && until(r, &b.times, 1) && a.result == RECORDS_AWAY &&
	       b.result == RECORDS_AWAY,
	   "all who wait for a token are told that there is none to be had");
	is(asked(r, "then", 5000, &a), RECORDS_OK, "a server that wants none gets none");
	records_close(r);
	notes = served(&s);
	is(count(notes, "Authenticate"), 2, "nobody asks for himself");
	ok(contains(notes, "\nTxn then\n") && strstr(notes, "left") == NULL &&
	       strstr(notes, "right") == NULL,
	   "nothing was sent before that was known");
	free(notes);
}

/* ---- several ------------------------------------------------------------------------------- */

static void
answer_one_call(int listener)
{
	struct heard h;
	struct visitor *v = visit(listener);

	hear(v, &h);
	answer(v, h.id, sound(1));
	linger(v);
}

static void
linger_alone(int listener)
{
	linger(visit(listener));
}

static void
rotation(void)
{
	struct server s = serve(answer_one_call);
	struct records *r = client(nobodys_port(), s.port, "");
	struct outcome o = { 0 };

	is(asked(r, "a", 5000, &o), RECORDS_AWAY, "the first endpoint is away");
	is(asked(r, "b", 5000, &o), RECORDS_OK, "the next call goes to the next");
	records_close(r);
	free(served(&s));
}

static void
two_failures(void)
{
	struct server s = serve(answer_one_call);
	struct records *r = client(nobodys_port(), s.port, "");
	struct outcome a = { 0 }, b = { 0 };

	ask(r, "a", 5000, &a);
	ask(r, "b", 5000, &b);
	ok(until(r, &a.times, 1) && until(r, &b.times, 1), "two calls fail at one endpoint");
	is(asked(r, "c", 5000, &a), RECORDS_OK, "which is one reason to go on, not two");
	records_close(r);
	free(served(&s));
}

/* It answers all calls but the first. */
static void
answer_but_one(int listener)
{
	struct visitor *v = visit(listener);
	struct heard h;

	hear(v, &h);
	while (hear(v, &h))
		answer(v, h.id, sound(1));
}

/* A server that answers others meanwhile is slow, and would be slower if all its work began anew. */
static void
answered_meanwhile(void)
{
	struct server first = serve(answer_but_one), second = serve(linger_alone);
	struct records *r = client(first.port, second.port, "");
	struct outcome slow = { 0 }, o = { 0 };
	char *notes;

	ask(r, "slow", 1000, &slow);
	is(asked(r, "b", 60000, &o), RECORDS_OK, "a call is answered after one that is not");
	ok(until(r, &slow.times, 1) && slow.result == RECORDS_AWAY, "which is given up");
	is(asked(r, "c", 60000, &o), RECORDS_OK, "the next call");
	records_close(r);
	notes = served(&first);
	ok(same(notes, "Txn slow\nTxn b\nTxn c\n"), "goes to the same endpoint");
	free(notes);
	kill(second.pid, SIGKILL);
	free(served(&second));
}

/* ---- from within --------------------------------------------------------------------------- */

struct chain {
	struct records *records;
	struct records_call *other;
	int left, told;
};

static void
next_in_chain(void *context, const struct records_answer *answer)
{
	struct chain *c = context;
	struct txn *x;

	(void)answer;
	c->told++;
	if (c->other != NULL)
		records_cancel(c->other);
	c->other = NULL;
	if (--c->left == 0)
		return;
	x = txn_new();
	txn_get(x, "next", NULL);
	records_txn(c->records, x, 5000, next_in_chain, c);
}

static void
answer_all(int listener)
{
	struct heard h;
	struct visitor *v = visit(listener);

	while (hear(v, &h))
		answer(v, h.id, sound(1));
}

static void
from_within(void)
{
	struct server s = serve(answer_all);
	struct chain c = { .left = 5 };
	struct outcome never = { 0 };
	struct txn *x = txn_new();

	c.records = client(s.port, 0, "");
	txn_get(x, "next", NULL);
	records_txn(c.records, x, 5000, next_in_chain, &c);
	c.other = ask(c.records, "hangs", 60000, &never);
	ok(until(c.records, &c.told, 5), "what is told may call, and cancel, others");
	is(never.times, 0, "who was cancelled is not told");
	records_close(c.records);
	free(served(&s));
}

int
main(void)
{
	clients_begin();
	well_answered();
	at_once();
	never_resent();
	idle_connections();
	goodbye();
	stuck_stream();
	silence();
	stopped();
	slow();
	strangers();
	good_once();
	tokens();
	no_token();
	rotation();
	two_failures();
	answered_meanwhile();
	from_within();
	return tap_done();
}
