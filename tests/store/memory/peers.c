/* SPDX-License-Identifier: ISC */
/*
 * peers.c - what the engine for the store in memory does while there is no server, and when a server
 * hangs, is another, or ends the connection; and that both ends refuse what is no message.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "../../helpers/common.h"
#include "../records/suite.h"
#include "../start.h"
#include "../../../lib/clock.h"
#include "pack.h"

#define NONSENSE 20000 /* messages of each kind */

static struct txn *
get_of(const char *k)
{
	struct txn *x = txn_new();

	txn_get(x, k, NULL);
	return x;
}

/* What comes of a call that may fail. */
static enum records_result
result_of(struct records *r, unsigned timeout_ms)
{
	static struct outcome o;

	memset(&o, 0, sizeof(o));
	records_txn(r, get_of(key("peers/a")), timeout_ms, remember, &o);
	if (!until(r, &o.times, 1))
		tap_bail("a call was never answered");
	return o.a.result;
}

/* Until the pause after the last failure is over. */
static bool
comes_back(struct records *r)
{
	uint64_t end = now_ns() + PATIENCE_MS * MS;

	while (result_of(r, 5000) != RECORDS_OK)
		if (now_ns() > end)
			return false;
		else
			run_for(r, 10 * MS);
	return true;
}

static void
servers(void)
{
	struct records *r = store_open();
	struct heard h = { .begun = 0 };
	struct records_range range = { .key = key("peers/w") };
	struct records_watch *w = records_watch(r, &range, 1, 0, hear, &h);
	char name[sizeof(store_server.first)];

	is(result_of(r, 5000), RECORDS_AWAY, "nothing is done without a server");
	snprintf(name, sizeof(name), "%s", strstr(ground->url, "//") + 2);
	start_server(&store_server, "store/memory/serve", name);
	ok(comes_back(r) && until(r, &h.begun, 1), "calls and watches find one that comes later");
	kill(store_server.pid, SIGSTOP);
	is(result_of(r, 100), RECORDS_AWAY, "a server that hangs answers nothing");
	kill(store_server.pid, SIGCONT);
	is(result_of(r, 5000), RECORDS_OK, "... until it goes on");
	end_server(&store_server);
	is(result_of(r, 5000), RECORDS_AWAY, "a server has ended");
	start_server(&store_server, "store/memory/serve", name);
	ok(comes_back(r) && until(r, &h.begun, 2), "... and another has come");
	records_unwatch(w);
	records_close(r);
}

/* What happens while a client is cut off, its watch reports later, once. */
static void
connections(void)
{
	struct records *r = store_open(), *other = store_open();
	struct records_range range[] = { { .key = key("cut/a") }, { .key = key("cut/b") } };
	struct heard h = { .begun = 0 };
	struct records_watch *w = records_watch(r, range, 2, 0, hear, &h);
	struct txn *x = txn_new();

	until(r, &h.begun, 1);
	put(r, key("cut/a"), "1", 0);
	until(r, &h.changes, 1);
	tell_server(&store_server, "cut");
	comes_back(other);
	put(other, key("cut/a"), "2", 0);
	txn_put(x, key("cut/a"), "3", 1, 0);
	txn_put(x, key("cut/b"), "3", 1, 0);
	did(other, x);
	ok(until(r, &h.begun, 2) && until(r, &h.changes, 4) && h.changes == 4 &&
	       strcmp(h.text, "+a=1 +a=2 +a=3 +b=3 ") == 0,
	   "a watch goes on where it was when its connection ended");
	tap_note("the watch said: %s", h.text);
	records_unwatch(w);
	records_close(r);
	records_close(other);
}

/* More than a socket takes at once, either way. */
static void
much(void)
{
	struct records *r = store_open();
	char *value = pack_got(calloc(1, MEMORY_VALUE));
	struct txn *x = txn_new();

	txn_put(x, key("much"), value, MEMORY_VALUE, 0);
	ok(did(r, x)->a.held && did(r, get_of(key("much")))->kv[0][0].value_size == MEMORY_VALUE,
	   "the largest value arrives");
	free(value);
	records_close(r);
}

/* ---- nonsense ---- */

static void
add_request(struct pack *p)
{
	struct request q = { .kind = ASK_TXN, .number = 7, .txn = txn_new() };
	struct request watch = { .kind = ASK_WATCH, .ranges = 2 };

	txn_if_absent(q.txn, "a", "b");
	txn_put(q.txn, "c", "x\0y", 3, 5);
	txn_otherwise(q.txn);
	txn_get(q.txn, "d", NULL)->limit = 3;
	watch.range[0] = (struct records_range){ .key = "e", .end = "f" };
	watch.range[1] = (struct records_range){ .key = "g", .no_put = true };
	pack_request(p, &q);
	pack_request(p, &watch);
	txn_free(q.txn);
}

static void
add_reply(struct pack *p)
{
	struct record_kv kv[] = { { .key = "a", .value = "1", .value_size = 1 },
				  { .key = "b", .value = "", .lease = 9 } };
	struct records_found found[] = { { .kv = kv, .n = 2 }, { .n = 0, .count = 5 } };
	struct records_change change = { .kv = kv[0] };
	struct reply answer = { .answer = { .found = found, .n = 2, .text = "text" } };
	struct reply news = { .is_news = true,
			      .news = { .kind = WATCH_CHANGE, .change = &change } };

	pack_reply(p, &answer);
	pack_reply(p, &news);
}

/* Reads as its other end does.  Whether all of it made sense. */
static bool
reads_requests(struct pack *p)
{
	while (p->next < p->n && !p->wrong) {
		struct request q = { .txn = NULL };

		pack_request(p, &q);
		txn_free(q.txn);
	}
	return !p->wrong;
}

static bool
reads_replies(struct pack *p)
{
	while (p->next < p->n && !p->wrong) {
		struct reply r = { .number = 0 };

		pack_reply(p, &r);
		reply_free(&r);
	}
	return !p->wrong;
}

/* Some bytes are others, or the end is missing.  Freed each time, so that a checker sees its edge. */
static void
spoil(const struct pack *whole, bool (*reads)(struct pack *p), const char *what)
{
	struct pack bad = *whole;
	int i, refused = 0;
	uint32_t n;

	bad.reads = true;
	bad.next = 0;
	ok(reads(&bad), "%s: what was written is read", what);
	for (i = 0; i < NONSENSE; i++) {
		bad = (struct pack){ .reads = true,
				     .n = whole->n - random_below(2) * random_below(60) };
		bad.at = pack_got(malloc(bad.n));
		memcpy(bad.at, whole->at, bad.n);
		for (n = random_below(4); n > 0; n--)
			bad.at[random_below((uint32_t)bad.n)] =
			    (char)(random_below(2) ? random_below(256) : random_below(2) * 255);
		refused += !reads(&bad);
		free(bad.at);
	}
	ok(refused > NONSENSE / 10, "%s: what is wrong is refused", what);
}

/* The address of an abstract socket; NULL: of any. */
static socklen_t
address(struct sockaddr_un *at, const char *name)
{
	*at = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if (name == NULL)
		return offsetof(struct sockaddr_un, sun_path);
	strcpy(at->sun_path + 1, name);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name));
}

static void
send_nonsense(int fd, const struct pack *whole)
{
	uint64_t length = random_below(2) ? random_below(300) : UINT64_MAX >> random_below(64);

	send(fd, &length, sizeof(length), MSG_NOSIGNAL);
	send(fd, whole->at + random_below(9), whole->n - 9, MSG_NOSIGNAL);
	close(fd);
}

static void
to_the_server(const struct pack *whole)
{
	struct records *r = store_open();
	struct sockaddr_un at;
	socklen_t size = address(&at, strstr(ground->url, "//") + 2);
	int i, fd;

	for (i = 0; i < 200; i++) {
		fd = socket(AF_UNIX, SOCK_STREAM, 0);
		if (connect(fd, (struct sockaddr *)&at, size) == -1)
			tap_bail("the server is gone");
		send_nonsense(fd, whole);
	}
	is(result_of(r, 5000), RECORDS_OK, "a server drops clients that make no sense");
	records_close(r);
}

/* The test itself is the server. */
static void
to_a_client(const struct pack *whole)
{
	int listener = socket(AF_UNIX, SOCK_STREAM, 0), i, away = 0;
	struct ground here = *ground;
	struct sockaddr_un at;
	socklen_t size = address(&at, NULL);
	char url[100] = "memory://";
	struct records *r;
	struct outcome o;

	if (bind(listener, (struct sockaddr *)&at, size) == -1 || listen(listener, 10) == -1)
		tap_bail("no socket");
	size = sizeof(at) - 1;
	if (getsockname(listener, (struct sockaddr *)&at, &size) == -1)
		tap_bail("no socket");
	((char *)&at)[size] = '\0';
	here.url = strcat(url, at.sun_path + 1);
	ground = &here;
	for (i = 0; i < 200; i++) {
		r = store_open();
		memset(&o, 0, sizeof(o));
		records_txn(r, get_of("/a"), 5000, remember, &o);
		send_nonsense(accept(listener, NULL, NULL), whole);
		away += until(r, &o.times, 1) && o.a.result == RECORDS_AWAY;
		records_close(r);
	}
	is(away, 200, "a client leaves servers that make no sense");
	close(listener);
}

int
main(void)
{
	struct ground here = { .sleep = sleep_really };
	struct pack requests = { .n = 0 }, replies = { .n = 0 };

	begin();
	here.url = start_store();
	ground = &here;
	end_server(&store_server);
	servers();
	connections();
	much();
	add_request(&requests);
	add_reply(&replies);
	spoil(&requests, reads_requests, "requests");
	spoil(&replies, reads_replies, "replies");
	to_the_server(&requests);
	to_a_client(&replies);
	free(requests.at);
	free(replies.at);
	return tap_done();
}
