/* SPDX-License-Identifier: ISC */
/*
 * serve.c - the store in memory as a process of its own: a world (world.h) in real time, with a client
 * of the world for each connection of an engine (engine.c).
 *
 *	serve [-l LOG] [NAME]
 *
 * The server listens on the abstract Unix socket NAME, or on one with a name that the kernel chooses,
 * and prints the name.  Its standard input takes commands, a line each:
 *
 *	compact [REVISION]	forget all changes before that revision, or all
 *	cut			end all connections
 *	hold N TEXT		hold back the Nth request from now on that has TEXT in its description
 *	cut N TEXT		do it, and end its connection without an answer
 *	deny N TEXT		refuse it for want of rights; N for each of these may be `all'
 *	release			do what is held back, though its client may be gone
 *	clear			no request is held back, cut or denied from now on
 *
 * and it prints a line when it has done one.  All that one step of the world's client delivers is one
 * message, so that the changes of one revision arrive together.
 *
 * The log has a line for each connection, request and change, which begins with the milliseconds of
 * CLOCK_BOOTTIME:
 *
 *	MS connection
 *	MS txn if:KEY get:KEY.. put:KEY delete:KEY [!hold]	KEY..: a range
 *	MS lease ID, MS renew ID, MS end ID, MS watch of:KEY.. of:KEY, MS unwatch
 *	MS done					a request that was held back is done
 *	MS REVISION + KEY, MS REVISION - KEY	a record was put, or deleted
 */
#include <err.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/epoll.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "../../../lib/clock.h"
#include "clock.h"
#include "faults.h"
#include "stream.h"
#include "world.h"

#define MOST_MS 60000 /* between two looks at the time */

/* A call or a watch. */
struct asked {
	LIST_ENTRY(asked) link;
	struct peer *peer;
	uint64_t number;
	struct records_watch *watch; /* NULL: a call */
};

/* A connection. */
struct peer {
	LIST_ENTRY(peer) link;
	struct stream stream;
	struct records *records;
	LIST_HEAD(, asked) asked;
	unsigned held; /* so many of its requests, for which it stays when its connection ends */
};

/* A request that is held back, as it came. */
struct held {
	TAILQ_ENTRY(held) queue;
	struct peer *peer;
	struct pack message;
};

static LIST_HEAD(, peer) peers;
static TAILQ_HEAD(, held) held = TAILQ_HEAD_INITIALIZER(held);
static int listener, sources;

/* ---- replies ---- */

static void
forget(struct asked *a)
{
	LIST_REMOVE(a, link);
	free(a);
}

static void
answers(void *context, const struct records_answer *answer)
{
	struct asked *a = context;
	struct reply reply = { .number = a->number, .answer = *answer };

	pack_reply(&a->peer->stream.out, &reply);
	forget(a);
}

static void
reports(void *context, const struct records_news *news)
{
	struct asked *a = context;
	struct reply reply = { .number = a->number, .is_news = true, .news = *news };

	pack_reply(&a->peer->stream.out, &reply);
}

/* ---- requests ---- */

static struct asked *
asked_new(struct peer *p, uint64_t number)
{
	struct asked *a = pack_got(calloc(1, sizeof(*a)));

	a->peer = p;
	a->number = number;
	LIST_INSERT_HEAD(&p->asked, a, link);
	return a;
}

static void
unwatch(const struct peer *p, uint64_t number)
{
	struct asked *a;

	LIST_FOREACH(a, &p->asked, link)
		if (a->number == number && a->watch != NULL) {
			records_unwatch(a->watch);
			forget(a);
			return;
		}
}

/* The world answers at once, and no call is ever late. */
static void
serve(struct peer *p, struct request *q)
{
	struct records *r = p->records;
	struct asked *a;

	if (q->kind == ASK_UNWATCH) {
		unwatch(p, q->number);
		return;
	}
	a = asked_new(p, q->number);
	if (q->kind == ASK_TXN)
		records_txn(r, q->txn, UINT_MAX, answers, a);
	else if (q->kind == ASK_LEASE)
		records_lease(r, q->lease, q->ttl_s, UINT_MAX, answers, a);
	else if (q->kind == ASK_RENEWAL)
		records_renew(r, q->lease, UINT_MAX, answers, a);
	else if (q->kind == ASK_END)
		records_end(r, q->lease, UINT_MAX, answers, a);
	else
		a->watch = records_watch(r, q->range, q->ranges, q->from, reports, a);
}

static void
hold(struct peer *p, const struct pack *message)
{
	struct held *h = pack_got(calloc(1, sizeof(*h)));

	h->peer = p;
	h->message = *message;
	h->message.next = 0;
	h->message.at = memcpy(pack_got(malloc(message->n)), message->at, message->n);
	p->held++;
	TAILQ_INSERT_TAIL(&held, h, queue);
}

static void
deny(struct peer *p, const struct request *q)
{
	static const char text[] = "memory: permission denied";
	struct reply reply = { .number = q->number,
			       .is_news = q->kind == ASK_WATCH,
			       .answer = { .result = RECORDS_DENIED, .text = text },
			       .news = { .kind = WATCH_FAILED, .text = text } };

	stream_begin(&p->stream);
	pack_reply(&p->stream.out, &reply);
	stream_end(&p->stream);
}

/* The request of that message, or what goes wrong with it. */
static void
obtain(struct peer *p, const struct pack *message, struct request *q)
{
	enum fault fault = fault_of(q);

	if (fault == NO_FAULT || fault == CUT)
		serve(p, q);
	else
		txn_free(q->txn);
	if (fault == HOLD)
		hold(p, message);
	if (fault == DENY)
		deny(p, q);
	if (fault == CUT) {
		world_step();
		p->stream.broken = true;
	}
}

static void
hear(struct peer *p)
{
	struct pack message;

	stream_read(&p->stream);
	while (!p->stream.broken && stream_next(&p->stream, &message)) {
		struct request q = { .txn = NULL };

		pack_request(&message, &q);
		if (message.wrong) {
			txn_free(q.txn);
			p->stream.broken = true;
			return;
		}
		obtain(p, &message, &q);
	}
}

/* ---- connections ---- */

static void
listen_to(int fd, void *context)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLOUT | EPOLLET, .data.ptr = context };

	/* A file, as standard input, says nothing. */
	if (epoll_ctl(sources, EPOLL_CTL_ADD, fd, &event) == -1 && errno != EPERM)
		err(1, "epoll_ctl");
}

static void
accept_all(void)
{
	static const struct url nowhere;
	struct peer *p;
	int fd;

	while ((fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) != -1) {
		p = pack_got(calloc(1, sizeof(*p)));
		stream_open(&p->stream, fd);
		LIST_INIT(&p->asked);
		records_open(&p->records, &nowhere, 0, NULL);
		LIST_INSERT_HEAD(&peers, p, link);
		log_line("connection");
		listen_to(fd, p);
	}
}

static void
peer_free(struct peer *p)
{
	records_close(p->records);
	while (!LIST_EMPTY(&p->asked))
		forget(LIST_FIRST(&p->asked));
	stream_close(&p->stream);
	LIST_REMOVE(p, link);
	free(p);
}

static void
step(struct peer *p)
{
	stream_begin(&p->stream);
	records_step(p->records);
	stream_end(&p->stream);
}

/* Lets all that is due happen.  Returns when something is due next. */
static uint64_t
step_all(void)
{
	uint64_t due = 0, next;
	struct peer *p, *after;

	while (due <= true_ns) {
		due = UINT64_MAX;
		for (p = LIST_FIRST(&peers); p != NULL; p = after) {
			after = LIST_NEXT(p, link);
			if (p->stream.broken) {
				if (p->held == 0)
					peer_free(p);
				continue;
			}
			if (records_due(p->records) <= true_ns)
				step(p);
			next = p->stream.broken && p->held == 0 ? 0 : records_due(p->records);
			due = next < due ? next : due;
		}
	}
	return due;
}

/* ---- commands ---- */

static void
release(void)
{
	struct held *h;

	while ((h = TAILQ_FIRST(&held)) != NULL) {
		struct request q = { .txn = NULL };

		TAILQ_REMOVE(&held, h, queue);
		pack_request(&h->message, &q);
		serve(h->peer, &q);
		h->peer->held--;
		step(h->peer);
		log_line("done");
		free(h->message.at);
		free(h);
	}
}

static void
cut_all(void)
{
	struct peer *p;

	LIST_FOREACH(p, &peers, link)
		p->stream.broken = true;
}

static void
obey(void)
{
	char line[512];
	ssize_t n = read(STDIN_FILENO, line, sizeof(line) - 1);
	long long number = memory_revision(world_memory()) + 1;

	if (n <= 0)
		return;
	line[n] = '\0';
	if (strncmp(line, "compact", 7) == 0) {
		sscanf(line, "compact %lld", &number);
		memory_compact(world_memory(), number);
	} else if (strcmp(line, "cut\n") == 0) {
		cut_all();
	} else if (strcmp(line, "release\n") == 0) {
		release();
	} else if (strcmp(line, "clear\n") == 0) {
		faults_clear();
	} else if (!fault_add(line)) {
		errx(1, "no such command: %s", line);
	}
	puts("done");
}

static void
open_listener(const char *name)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	socklen_t size = offsetof(struct sockaddr_un, sun_path);

	if (name != NULL) {
		size += 1 + (socklen_t)strnlen(name, sizeof(at.sun_path) - 1);
		memcpy(at.sun_path + 1, name, size - offsetof(struct sockaddr_un, sun_path) - 1);
	}
	listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (listener == -1 || bind(listener, (struct sockaddr *)&at, size) == -1 ||
	    listen(listener, SOMAXCONN) == -1)
		err(1, "socket");
	size = sizeof(at);
	getsockname(listener, (struct sockaddr *)&at, &size);
	printf("%.*s\n", (int)(size - offsetof(struct sockaddr_un, sun_path) - 1), at.sun_path + 1);
}

int
main(int argc, char **argv)
{
	static const struct world_rules rules = { .changed = log_changes };
	struct epoll_event event[64];
	uint64_t due;
	int i, n;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc > 2 && strcmp(argv[1], "-l") == 0) {
		log_open(argv[2]);
		argv += 2;
		argc -= 2;
	}
	sources = epoll_create1(EPOLL_CLOEXEC);
	world_open(&rules, NULL);
	open_listener(argc > 1 ? argv[1] : NULL);
	listen_to(listener, &listener);
	listen_to(STDIN_FILENO, NULL);
	for (;;) {
		true_ns = flki_boottime_ns();
		due = step_all();
		due = (due - true_ns) / MS + 1;
		n = epoll_wait(sources, event, 64, due < MOST_MS ? (int)due : MOST_MS);
		true_ns = flki_boottime_ns();
		for (i = 0; i < n; i++)
			if (event[i].data.ptr == &listener)
				accept_all();
			else if (event[i].data.ptr == NULL)
				obey();
			else
				hear(event[i].data.ptr);
	}
}
