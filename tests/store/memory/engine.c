/* SPDX-License-Identifier: ISC */
/*
 * engine.c - records.h over the store in memory as a process of its own: see serve.c.
 *
 * memory://NAME/PATH is the server that has the abstract Unix socket NAME.  All calls and watches of a
 * client share one connection.  A call is sent at once, or fails: after a failure the client pauses
 * before it connects again.  A watch continues over the next connection, from the first revision of
 * which it has reported nothing.  All its ranges are at the same revision, because one message of the
 * server has all that is due to any of them.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/epoll.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "../../../lib/clock.h"
#include "records/range.h"
#include "records/retry.h"
#include "stream.h"

struct records {
	struct stream stream;
	int epoll; /* has the stream's socket, too */
	struct sockaddr_un at;
	socklen_t at_size;
	uint64_t numbers; /* of calls and watches, so far */
	unsigned failures;
	uint64_t pause_ns, retry_ns; /* the longest pause; when this one ends */
	char why[RECORDS_TEXT];      /* there is no connection */
	LIST_HEAD(, records_call) calls;
	LIST_HEAD(, records_watch) watches;
};

struct records_call {
	LIST_ENTRY(records_call) link;
	uint64_t number, sent_ns;
	uint64_t due_ns; /* 0: the connection is lost */
	records_done *done;
	void *context;
};

struct records_watch {
	LIST_ENTRY(records_watch) link;
	struct records *records;
	struct request request; /* from: where it continues */
	bool asked, over;
	records_hears *hears;
	void *context;
};

/* ---- the connection ---- */

static void
say_why(char to[RECORDS_TEXT], const struct records *r, const char *words)
{
	snprintf(to, RECORDS_TEXT, "memory://%s: %s", r->at.sun_path + 1, words);
}

static void
pause_for(struct records *r, const char *words)
{
	uint64_t pause = retry_pause(r->failures++);

	say_why(r->why, r, words);
	r->retry_ns = flki_boottime_ns() + (pause < r->pause_ns ? pause : r->pause_ns);
}

static bool
is_connected(struct records *r)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLOUT | EPOLLET };
	int fd;

	if (r->stream.fd != -1 || flki_boottime_ns() < r->retry_ns)
		return r->stream.fd != -1 && !r->stream.broken;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	stream_open(&r->stream, fd);
	if (fd != -1 && connect(fd, (struct sockaddr *)&r->at, r->at_size) == 0 &&
	    epoll_ctl(r->epoll, EPOLL_CTL_ADD, fd, &event) == 0)
		return true;
	pause_for(r, strerror(errno));
	stream_close(&r->stream);
	return false;
}

static void
lost(struct records *r)
{
	struct records_watch *w;
	struct records_call *c;

	stream_close(&r->stream);
	pause_for(r, "connection lost");
	LIST_FOREACH(c, &r->calls, link)
		c->due_ns = 0;
	LIST_FOREACH(w, &r->watches, link)
		w->asked = false;
}

static bool
request(struct records *r, struct request *q)
{
	if (!is_connected(r))
		return false;
	stream_begin(&r->stream);
	pack_request(&r->stream.out, q);
	stream_end(&r->stream);
	return true;
}

/* ---- calls ---- */

static struct records_call *
call(struct records *r, struct request q, unsigned timeout_ms, records_done *done, void *context)
{
	struct records_call *c = pack_got(calloc(1, sizeof(*c)));

	c->number = q.number = ++r->numbers;
	c->done = done;
	c->context = context;
	c->sent_ns = flki_boottime_ns();
	c->due_ns = request(r, &q) ? c->sent_ns + timeout_ms * MS : 0;
	LIST_INSERT_HEAD(&r->calls, c, link);
	return c;
}

struct records_call *
records_txn(struct records *r, struct txn *txn, unsigned timeout_ms, records_done *done,
	    void *context)
{
	struct records_call *c = NULL;

	if (txn != NULL && !txn->failed)
		c = call(r, (struct request){ .kind = ASK_TXN, .txn = txn }, timeout_ms, done,
			 context);
	txn_free(txn);
	return c;
}

struct records_call *
records_lease(struct records *r, int64_t id, uint32_t ttl_s, unsigned timeout_ms,
	      records_done *done, void *context)
{
	return call(r, (struct request){ .kind = ASK_LEASE, .lease = id, .ttl_s = ttl_s },
		    timeout_ms, done, context);
}

struct records_call *
records_renew(struct records *r, int64_t id, unsigned timeout_ms, records_done *done, void *context)
{
	return call(r, (struct request){ .kind = ASK_RENEWAL, .lease = id }, timeout_ms, done,
		    context);
}

struct records_call *
records_end(struct records *r, int64_t id, unsigned timeout_ms, records_done *done, void *context)
{
	return call(r, (struct request){ .kind = ASK_END, .lease = id }, timeout_ms, done, context);
}

void
records_cancel(struct records_call *c)
{
	LIST_REMOVE(c, link);
	free(c);
}

static void
finish(struct records_call *c, struct records_answer *answer)
{
	records_done *done = c->done;
	void *context = c->context;

	answer->sent_ns = c->sent_ns;
	records_cancel(c);
	done(context, answer);
}

static void
answered(struct records *r, struct reply *reply)
{
	struct records_call *c;

	LIST_FOREACH(c, &r->calls, link)
		if (c->number == reply->number) {
			finish(c, &reply->answer);
			return;
		}
}

static struct records_call *
first_due(const struct records *r)
{
	struct records_call *c, *first = NULL;

	LIST_FOREACH(c, &r->calls, link)
		if (first == NULL || c->due_ns < first->due_ns)
			first = c;
	return first;
}

/* The end of one call may begin or cancel others. */
static void
fail_due(struct records *r)
{
	struct records_answer away = { .result = RECORDS_AWAY };
	struct records_call *c;
	char text[RECORDS_TEXT];

	while ((c = first_due(r)) != NULL && c->due_ns <= flki_boottime_ns()) {
		say_why(text, r, "no answer in time");
		away.text = c->due_ns == 0 ? r->why : text;
		finish(c, &away);
	}
}

/* ---- watches ---- */

struct records_watch *
records_watch(struct records *r, const struct records_range *range, size_t ranges, int64_t from,
	      records_hears *hears, void *context)
{
	struct records_watch *w = pack_got(calloc(1, sizeof(*w)));
	struct request *q = &w->request;

	*q = (struct request){ .kind = ASK_WATCH, .number = ++r->numbers, .from = from };
	w->records = r;
	w->hears = hears;
	w->context = context;
	q->ranges = ranges < RECORDS_RANGES ? ranges : RECORDS_RANGES;
	if (!ranges_copy(q->range, range, q->ranges))
		abort();
	LIST_INSERT_HEAD(&r->watches, w, link);
	w->asked = request(r, q);
	return w;
}

void
records_unwatch(struct records_watch *w)
{
	struct request *q = &w->request;

	if (w->asked && !w->over)
		request(w->records, &(struct request){ .kind = ASK_UNWATCH, .number = q->number });
	ranges_free(q->range, q->ranges);
	LIST_REMOVE(w, link);
	free(w);
}

static struct records_watch *
unasked(const struct records *r)
{
	struct records_watch *w;

	LIST_FOREACH(w, &r->watches, link)
		if (!w->asked && !w->over)
			return w;
	return NULL;
}

/* The function that hears it may end the watch: so this comes last. */
static void
heard(struct records *r, struct reply *reply)
{
	const struct records_news *news = &reply->news;
	struct records_watch *w;
	int64_t next = news->revision;

	LIST_FOREACH(w, &r->watches, link)
		if (w->request.number == reply->number)
			break;
	if (w == NULL)
		return;
	if (news->kind == WATCH_CHANGE)
		next = news->change->kv.changed + 1;
	else
		w->over = news->kind != WATCH_BEGUN;
	if (next > w->request.from)
		w->request.from = next;
	w->hears(w->context, news);
}

/* ---- a store ---- */

int
records_open(struct records **records, const struct url *url, unsigned pause_ms,
	     char why[RECORDS_TEXT])
{
	struct records *r = pack_got(calloc(1, sizeof(*r)));
	size_t n = strlen(url->at[0].host);

	*records = NULL;
	if (n >= sizeof(r->at.sun_path) - 1 || (r->epoll = epoll_create1(EPOLL_CLOEXEC)) == -1) {
		snprintf(why, RECORDS_TEXT, "memory: no descriptor, or its name is too long");
		free(r);
		return -EINVAL;
	}
	r->at.sun_family = AF_UNIX;
	memcpy(r->at.sun_path + 1, url->at[0].host, n);
	r->at_size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + n);
	r->pause_ns = pause_ms * MS;
	LIST_INIT(&r->calls);
	LIST_INIT(&r->watches);
	stream_open(&r->stream, -1);
	*records = r;
	return 0;
}

void
records_close(struct records *r)
{
	while (!LIST_EMPTY(&r->calls))
		records_cancel(LIST_FIRST(&r->calls));
	while (!LIST_EMPTY(&r->watches))
		records_unwatch(LIST_FIRST(&r->watches));
	stream_close(&r->stream);
	close(r->epoll);
	free(r);
}

struct records_limits
records_limits(const struct records *r)
{
	(void)r;
	return (struct records_limits){ .operations = MEMORY_OPERATIONS, .value = MEMORY_VALUE };
}

uint64_t
records_replaced(const struct records *r)
{
	(void)r;
	return 0;
}

int
records_fd(const struct records *r)
{
	return r->epoll;
}

uint64_t
records_due(const struct records *r)
{
	const struct records_call *c = first_due(r);
	uint64_t due = c == NULL ? UINT64_MAX : c->due_ns;

	if (r->stream.broken)
		return 0;
	return unasked(r) != NULL && r->retry_ns < due ? r->retry_ns : due;
}

static void
deliver(struct records *r, struct pack *message)
{
	struct reply reply;

	while (message->next < message->n && !r->stream.broken) {
		memset(&reply, 0, sizeof(reply));
		pack_reply(message, &reply);
		r->stream.broken = message->wrong;
		r->failures = message->wrong ? r->failures : 0;
		if (!message->wrong)
			(reply.is_news ? heard : answered)(r, &reply);
		reply_free(&reply);
	}
}

void
records_step(struct records *r)
{
	struct records_watch *w;
	struct epoll_event event;
	struct pack message;

	epoll_wait(r->epoll, &event, 1, 0); /* else its descriptor stays readable */
	if (r->stream.fd != -1) {
		stream_read(&r->stream);
		while (stream_next(&r->stream, &message))
			deliver(r, &message);
		if (r->stream.broken)
			lost(r);
	}
	while ((w = unasked(r)) != NULL && request(r, &w->request))
		w->asked = true;
	fail_due(r);
}
