/* SPDX-License-Identifier: ISC */
/*
 * client.c - the client of etcd's calls, against servers that answer well, badly, or not at all.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "pump.h"
#include "server.h"
#include "../helpers/tap.h"

static bool
contains(const char *text, const char *piece)
{
	if (strstr(text, piece) != NULL)
		return true;
	tap_note("\"%s\" is not in \"%s\"", piece, text);
	return false;
}

static int
count(const char *text, const char *piece)
{
	int n = 0;

	for (; (text = strstr(text, piece)) != NULL; text += strlen(piece))
		n++;
	return n;
}

/* ---- good answers -------------------------------------------------------------------------- */

static void
answer_well(int listener)
{
	int fd = visit(listener);
	struct heard h;
	const char *c;

	hear(fd, &h);
	answer(fd, 200, sound(7, "\"succeeded\":true"));
	hear(fd, &h);
	send_text(fd, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
	for (c = sound(8, "\"count\":\"1\""); *c != '\0'; c++) {
		char one[2] = { *c, '\0' };

		send_chunk(fd, one);
	}
	send_text(fd, "0\r\n\r\n");
	hear(fd, &h);
	answer(fd, 200,
	       "{\"result\":{\"header\":{\"revision\":\"9\"},\"ID\":\"5\",\"TTL\":\"3\"}}\n");
	hear(fd, &h);
	answer(fd, 404,
	       "{\"error\":\"etcdserver: requested lease not found\",\"message\":"
	       "\"etcdserver: requested lease not found\",\"code\":5}");
	hear(fd, &h);
	answer(fd, 412,
	       "{\"error\":\"etcdserver: lease already exists\",\"message\":"
	       "\"etcdserver: lease already exists\",\"code\":9}");
	linger(fd);
}

static void
well_answered(void)
{
	struct server s = serve(answer_well);
	struct etcd *e = client(s.port, 0, "/team");
	struct outcome o = { 0 };
	uint64_t before = flki_boottime_ns();
	char *notes;

	is(asked(e, "/v3/kv/txn", 5000, &o), ETCD_OK, "an answer is an answer");
	ok(etcd_succeeded(o.body) && o.revision == 7, "its body and its revision are handed over");
	ok(o.sent_ns >= before && o.sent_ns <= flki_boottime_ns(), "and when it was sent");
	is(asked(e, "/v3/kv/range", 5000, &o), ETCD_OK, "one byte at a time, it is one as well");
	ok(etcd_integer(o.body, "count") == 1 && o.revision == 8, "and is the same");
	is(asked(e, "/v3/lease/keepalive", 5000, &o), ETCD_OK, "a stream's answer is one, too");
	is(etcd_integer(o.body, "TTL"), 3, "of which the result is handed over");
	is(asked(e, "/v3/kv/put", 5000, &o), ETCD_NOLEASE, "a lease that is not there");
	is(asked(e, "/v3/lease/grant", 5000, &o), ETCD_EXISTS, "a lease that is there");
	ok(o.body == NULL && contains(o.text, "127.0.0.1:"), "a failure has a text, and no body");
	etcd_free(e);
	notes = served(&s);
	is(count(notes, "\n"), 5, "all over one connection");
	free(notes);
	forget(&o);
}

/* ---- answers that are not there ------------------------------------------------------------ */

/* The second request comes over a connection that was good, and is cut when it was heard. */
static void
cut_before_reply(int listener)
{
	int fd = visit(listener);
	struct heard h;

	hear(fd, &h);
	answer(fd, 200, sound(1, ""));
	hear(fd, &h);
	reset(fd);
	fd = visit_and_hear(listener, &h);
	answer(fd, 200, sound(1, ""));
	hear(fd, &h);
	close(fd);
	fd = visit_and_hear(listener, &h);
	answer(fd, 200, sound(1, ""));
	linger(fd);
}

static void
never_resent(void)
{
	struct server s = serve(cut_before_reply);
	struct etcd *e = client(s.port, 0, "");
	struct outcome o = { 0 };
	char *notes;

	is(asked(e, "/first", 5000, &o), ETCD_OK, "a connection is good");
	is(asked(e, "/second", 5000, &o), ETCD_AWAY, "it is reset before the answer");
	ok(contains(o.text, "the connection broke"), "which is said");
	is(asked(e, "/third", 5000, &o), ETCD_OK, "the next call has another");
	is(asked(e, "/fourth", 5000, &o), ETCD_AWAY, "it is closed before the answer");
	is(asked(e, "/fifth", 5000, &o), ETCD_OK, "and the next again");
	etcd_free(e);
	notes = served(&s);
	ok(strcmp(notes, "/first {}\n/second {}\n/third {}\n/fourth {}\n/fifth {}\n") == 0,
	   "none was sent twice");
	free(notes);
	forget(&o);
}

/* Each connection is closed after its answer, as a server may at any time. */
static void
close_when_idle(int listener)
{
	struct heard h;

	do {
		int fd = visit(listener);

		if (hear(fd, &h))
			answer(fd, 200, sound(1, ""));
		close(fd);
	} while (strcmp(h.path, "/last") != 0);
}

static void
idle_connections(void)
{
	struct server s = serve(close_when_idle);
	struct etcd *e = client(s.port, 0, "");
	struct outcome o = { 0 };
	int i, good = 0, sent = 0;
	char *notes;

	for (i = 0; i < 100; i++)
		good += asked(e, "/call", 5000, &o) == ETCD_OK;
	while (asked(e, "/last", 5000, &o) != ETCD_OK && sent++ < 100)
		;
	etcd_free(e);
	notes = served(&s);
	ok(count(notes, "/call") >= good && count(notes, "/call") <= 100,
	   "a connection that was closed meanwhile makes no call twice: %d good, %d heard of 100",
	   good, count(notes, "/call"));
	free(notes);
	forget(&o);
}

static void
be_silent(int listener)
{
	int fd = visit(listener);
	struct heard h;

	hear(fd, &h);
	linger(fd);
	fd = visit_and_hear(listener, &h);
	send_text(fd, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"header\":");
	close(fd);
	fd = visit_and_hear(listener, &h);
	linger(fd);
}

static void
silence(void)
{
	struct server s = serve(be_silent);
	struct etcd *e = client(s.port, 0, "");
	struct outcome o = { 0 }, never = { 0 };
	uint64_t before = flki_boottime_ns();

	is(asked(e, "/silent", 300, &o), ETCD_AWAY, "no answer is none");
	ok(flki_boottime_ns() - before >= 290 * MS && contains(o.text, "no answer in time"),
	   "when its time is over");
	is(asked(e, "/cut", 5000, &o), ETCD_AWAY, "half an answer is none");
	etcd_cancel(ask(e, "/cancelled", 5000, &never));
	ask(e, "/left", 5000, &never);
	asked(e, "/refused", 100, &o);
	etcd_free(e);
	free(served(&s));
	is(never.times, 0, "what is cancelled is never told of, nor what is left at the end");
	e = client(nobodys_port(), 0, "");
	is(asked(e, "/refused", 5000, &o), ETCD_AWAY, "nobody listens: away");
	ok(contains(o.text, "Connection refused"), "which is said");
	etcd_free(e);
	forget(&o);
	forget(&never);
}

/* ---- answers that make no sense ------------------------------------------------------------ */

static const struct {
	int status;
	const char *body;
	enum etcd_result result;
	const char *words;
} strange[] = {
	{ 404, "404 page not found\n", ETCD_WRONG, "not etcd 3.4 or newer" },
	{ 404, "{\"error\":\"Not Found\",\"message\":\"Not Found\",\"code\":5}", ETCD_WRONG,
	  "not etcd 3.4 or newer" },
	{ 200, "<html><body>It works!</body></html>", ETCD_WRONG, "not etcd 3.4 or newer" },
	{ 200, "", ETCD_WRONG, "not etcd" },
	{ 200, "{}", ETCD_WRONG, "not etcd" },
	{ 200, "[]", ETCD_WRONG, "not etcd" },
	{ 200, "{\"header\":7}", ETCD_WRONG, "not etcd" },
	{ 200, "{\"header\":{}", ETCD_WRONG, "not etcd" },
	{ 200, "{\"header\":{}}}", ETCD_WRONG, "not etcd" },
	{ 200, "{\"result\":{\"header\":[]}}", ETCD_WRONG, "not etcd" },
	{ 301, "", ETCD_WRONG, "not etcd" },
	{ 503, "<html>Service Unavailable</html>", ETCD_AWAY, "HTTP status 503" },
	{ 503, "{\"error\":\"etcdserver: no leader\",\"code\":14}", ETCD_AWAY, "no leader" },
	{ 200, "{\"error\":{\"grpc_code\":14,\"message\":\"etcdserver: leader changed\"}}",
	  ETCD_AWAY, "leader changed" },
	{ 400, "{\"error\":\"etcdserver: duplicate key\\u001b[1m given\",\"code\":3}", ETCD_WRONG,
	  "duplicate key?[1m given" },
	{ 400, "Client sent an HTTP request to an HTTPS server.\n", ETCD_WRONG, "not etcd" },
	{ 400, "{\"error\":7,\"message\":{}}", ETCD_WRONG, "not etcd" },
	{ 403, "{\"error\":\"etcdserver: permission denied\",\"code\":7}", ETCD_DENIED,
	  "--prefix /team/" },
	{ 400, "{\"error\":\"etcdserver: user name is empty\",\"code\":3}", ETCD_WRONG,
	  "FLOCKLIMIT_STORE_USER" },
	{ 401, "{\"error\":\"etcdserver: invalid auth token\",\"code\":16}", ETCD_WRONG,
	  "not valid any more" },
	{ 401, "who are you?", ETCD_WRONG, "does not let us in" },
	{ 429, "{\"error\":\"etcdserver: mvcc: database space exceeded\",\"code\":8}", ETCD_AWAY,
	  "etcdctl alarm list" },
};

#define STRANGE (sizeof(strange) / sizeof(strange[0]))

static void
answer_strangely(int listener)
{
	struct heard h;
	size_t i;

	for (i = 0; i < STRANGE; i++) {
		int fd = visit(listener);

		if (hear(fd, &h))
			answer(fd, strange[i].status, strange[i].body);
		linger(fd);
	}
}

static void
strangers(void)
{
	struct server s = serve(answer_strangely);
	struct outcome o = { 0 };
	size_t i;

	for (i = 0; i < STRANGE; i++) {
		struct etcd *e = client(s.port, 0, "/team");

		is(asked(e, "/v3/kv/txn", 5000, &o), strange[i].result, "%d %.30s",
		   strange[i].status, strange[i].body);
		ok(contains(o.text, strange[i].words), "and is told so");
		etcd_free(e);
	}
	free(served(&s));
	forget(&o);
}

static void
answer_page(int listener)
{
	int fd = visit(listener);
	struct heard h;

	hear(fd, &h);
	answer(fd, 200, sound(1, ""));
	hear(fd, &h);
	answer(fd, 404, "<html>nobody here</html>");
	hear(fd, &h);
	answer(fd, 200, "<html>please log in</html>");
	linger(fd);
}

static void
good_once(void)
{
	struct server s = serve(answer_page);
	struct etcd *e = client(s.port, 0, "");
	struct outcome o = { 0 };

	is(asked(e, "/v3/kv/txn", 5000, &o), ETCD_OK, "it is etcd");
	is(asked(e, "/v3/kv/txn", 5000, &o), ETCD_AWAY,
	   "a page of a proxy's means that it is away");
	is(asked(e, "/v3/kv/txn", 5000, &o), ETCD_AWAY, "whatever it says");
	etcd_free(e);
	free(served(&s));
	forget(&o);
}

/* ---- tokens -------------------------------------------------------------------------------- */

#define BAD_TOKEN "{\"error\":\"etcdserver: invalid auth token\",\"code\":16}"

/* Tokens are t1, t2, ...; each is good for two calls.  "/never" takes none. */
static void
want_tokens(int listener)
{
	int fd = visit(listener), given = 0, left = 0;
	char token[16] = "none", more[64];
	struct heard h;

	while (hear(fd, &h)) {
		if (strcmp(h.path, "/v3/auth/authenticate") == 0) {
			snprintf(token, sizeof(token), "t%d", ++given);
			snprintf(more, sizeof(more), "\"token\":\"%s\"", token);
			left = 2;
			answer(fd, 200, sound(1, more));
		} else if (strcmp(h.token, token) == 0 && left-- > 0 &&
			   strcmp(h.path, "/never") != 0) {
			answer(fd, 200, sound(1, ""));
		} else {
			answer(fd, 401, BAD_TOKEN);
		}
	}
}

static void
tokens(void)
{
	struct server s = serve(want_tokens);
	struct etcd *e = client(s.port, 0, "@");
	struct outcome o = { 0 };
	char *notes;

	is(asked(e, "/a", 5000, &o), ETCD_OK, "a token is had first");
	is(asked(e, "/b", 5000, &o), ETCD_OK, "and used again");
	is(asked(e, "/c", 5000, &o), ETCD_OK, "another is had when it is refused");
	is(asked(e, "/never", 5000, &o), ETCD_WRONG, "once");
	ok(strstr(o.text, "secret") == NULL && strstr(o.text, "t2") == NULL,
	   "what is said of it has no secret in it");
	etcd_free(e);
	notes = served(&s);
	ok(contains(notes, "/v3/auth/authenticate {\"name\":\"u\",\"password\":\"secret\"}\n"
			   "/a t1 {}\n/b t1 {}\n/c t1 {}\n/v3/auth/authenticate"),
	   "in that order");
	is(count(notes, "/never"), 2, "a call is repeated once");
	free(notes);
	forget(&o);
}

/* The first is slow, and fails; then there is no need of one. */
static void
want_no_token(int listener)
{
	int fd = visit(listener);
	struct heard h;

	hear(fd, &h);
	answer(fd, 503, "{\"error\":\"etcdserver: no leader\",\"code\":14}");
	hear(fd, &h);
	answer(fd, 412, "{\"error\":\"etcdserver: authentication is not enabled\",\"code\":9}");
	while (hear(fd, &h))
		answer(fd, 200, sound(1, ""));
}

static void
no_token(void)
{
	struct server s = serve(want_no_token);
	struct etcd *e = client(s.port, 0, "@");
	struct outcome a = { 0 }, b = { 0 };
	char *notes;

	ask(e, "/left", 5000, &a);
	ask(e, "/right", 5000, &b);
	ok(until(e, &a.times, 1) && until(e, &b.times, 1) && a.result == ETCD_AWAY &&
	       b.result == ETCD_AWAY,
	   "all who wait for a token are told that there is none to be had");
	is(asked(e, "/then", 5000, &a), ETCD_OK, "a server that wants none gets none");
	etcd_free(e);
	notes = served(&s);
	is(count(notes, "authenticate"), 2, "nobody asks for himself");
	ok(contains(notes, "\n/then {}\n") && strstr(notes, "/left") == NULL &&
	       strstr(notes, "/right") == NULL,
	   "nothing was sent before that was known");
	free(notes);
	forget(&a);
	forget(&b);
}

/* ---- several ------------------------------------------------------------------------------- */

static void
answer_one_call(int listener)
{
	struct heard h;
	int fd = visit(listener);

	hear(fd, &h);
	answer(fd, 200, sound(1, ""));
	linger(fd);
}

static void
rotation(void)
{
	struct server s = serve(answer_one_call);
	struct etcd *e = client(nobodys_port(), s.port, "");
	struct outcome o = { 0 };

	is(asked(e, "/a", 5000, &o), ETCD_AWAY, "the first endpoint is away");
	is(asked(e, "/b", 5000, &o), ETCD_OK, "the next call goes to the next");
	etcd_free(e);
	free(served(&s));
	forget(&o);
}

static void
two_failures(void)
{
	struct server s = serve(answer_one_call);
	struct etcd *e = client(nobodys_port(), s.port, "");
	struct outcome a = { 0 }, b = { 0 };

	ask(e, "/a", 5000, &a);
	ask(e, "/b", 5000, &b);
	ok(until(e, &a.times, 1) && until(e, &b.times, 1), "two calls fail at one endpoint");
	is(asked(e, "/c", 5000, &a), ETCD_OK, "which is one reason to go on, not two");
	etcd_free(e);
	free(served(&s));
	forget(&a);
	forget(&b);
}

/* ---- from within --------------------------------------------------------------------------- */

struct chain {
	struct etcd *etcd;
	struct etcd_call *other;
	int left, told;
};

static void
next_in_chain(void *context, const struct etcd_reply *reply)
{
	struct chain *c = context;

	(void)reply;
	c->told++;
	if (c->other != NULL)
		etcd_cancel(c->other);
	c->other = NULL;
	if (--c->left > 0)
		etcd_call(c->etcd, "/next", json_object(), 5000, next_in_chain, c);
}

static void
answer_all(int listener)
{
	struct heard h;
	int fd = visit(listener);

	while (hear(fd, &h))
		answer(fd, 200, sound(1, ""));
}

static void
from_within(void)
{
	struct server s = serve(answer_all);
	struct chain c = { .left = 5 };
	struct outcome never = { 0 };

	c.etcd = client(s.port, 0, "");
	etcd_call(c.etcd, "/next", json_object(), 5000, next_in_chain, &c);
	c.other = ask(c.etcd, "/hangs", 60000, &never);
	ok(until(c.etcd, &c.told, 5), "what is told may call, and cancel, others");
	is(never.times, 0, "who was cancelled is not told");
	etcd_free(c.etcd);
	free(served(&s));
	forget(&never);
}

int
main(void)
{
	signal(SIGPIPE, SIG_IGN);
	unsetenv("FLOCKLIMIT_STORE_USER");
	unsetenv("FLOCKLIMIT_STORE_PASSWORD");
	unsetenv("FLOCKLIMIT_STORE_TOKEN");
	well_answered();
	never_resent();
	idle_connections();
	silence();
	strangers();
	good_once();
	tokens();
	no_token();
	rotation();
	two_failures();
	from_within();
	return tap_done();
}
