/* SPDX-License-Identifier: ISC */
/*
 * session_events.c - what happens in a limiter of a store, while a session follows it.  It keeps
 * the last FLK_HISTORY events here, as the store keeps none.
 */
#include "session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "wrapper/internal.h"

struct past_event {
	struct flk_event event;
	const char *host; /* from session_machine() */
};

/*
 * Event NUMBER is at index NUMBER % FLK_HISTORY, if it is among the last FLK_HISTORY.
 */
struct news {
	uint64_t newest; /* number; 0: none */
	bool begun;      /* we miss nothing from here on */
	int ended;       /* why there will be no more events; 0: there may be */
	struct past_event event[FLK_HISTORY];
};

/* As in fleet.h: kind 0 is about the follower itself. */
static void
happens(void *context, const struct flk_event *event, const char *host)
{
	struct news *n = context;
	struct past_event *t;

	if (event->kind == 0 && event->code == 0) {
		n->begun = true;
		return;
	}
	if (event->kind == 0) {
		n->ended = event->code;
		if (host != NULL)
			store_trouble(host);
		return;
	}
	t = &n->event[++n->newest % FLK_HISTORY];
	t->event = *event;
	t->event.number = n->newest;
	t->host = session_machine(host != NULL ? host : "");
}

int
session_follow(struct session *d)
{
	if (d->news != NULL)
		return 0;
	d->news = calloc(1, sizeof(*d->news));
	if (d->news == NULL)
		return -ENOMEM;
	fleet_follow(d->fleet, happens, d->news);
	return 0;
}

uint64_t
session_newest(const struct session *d)
{
	return d->news != NULL ? d->news->newest : 0;
}

static uint64_t
oldest(const struct news *n)
{
	return n->newest > FLK_HISTORY ? n->newest - FLK_HISTORY + 1 : 1;
}

size_t
session_events(const struct session *d, uint64_t number, struct flk_event *event, size_t room)
{
	const struct news *n = d->news;
	uint64_t i;
	size_t copied = 0;

	if (n == NULL)
		return 0;
	for (i = number + 1 > oldest(n) ? number + 1 : oldest(n); i <= n->newest && copied < room;
	     i++)
		event[copied++] = n->event[i % FLK_HISTORY].event;
	return copied;
}

const char *
session_host(const struct session *d, uint64_t number)
{
	const struct news *n = d->news;

	if (n == NULL || number < oldest(n) || number > n->newest)
		return NULL;
	return n->event[number % FLK_HISTORY].host;
}

int
session_sleep(struct session *d, uint64_t number, uint64_t until_ns, struct store_taker *t)
{
	const struct news *n = d->news;
	int error = 0;

	for (;;) {
		if (number == SESSION_NEVER ? n->begun : n->newest > number)
			return 0;
		if (n->ended != 0)
			return n->ended;
		if (error != 0 || (t != NULL && (error = await_bell(t)) != 0))
			return error;
		if (flki_boottime_ns() >= until_ns)
			return -ETIMEDOUT;
		error = session_drive(d, until_ns, t != NULL ? t->bell : -1);
		if (t != NULL && error == -EINTR)
			error = 0; /* a signal handler ends no wait of a taker */
	}
}
