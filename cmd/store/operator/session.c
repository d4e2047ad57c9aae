/* SPDX-License-Identifier: ISC */
/*
 * session.c - drives the store until a question is answered.
 */
#include "session.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "now.h"
#include "settings.h"
#include "wrapper/internal.h"

#define MOST_SLEEP (60 * SECOND)

/* A fork opens another: two processes can't share a connection. */
static struct {
	struct fleet_store *store; /* NULL: not open yet */
	pid_t process;             /* it opened the store */
} own;

static bool was_away;

/* A question under way. */
struct wait {
	bool answered;
	int code;
	session_take *take;
	void *context;
};

bool
session_was_away(void)
{
	return was_away;
}

static int
open_store(void)
{
	/* The rest matters to takers; an operator takes no permit. */
	struct fleet_options options = { .url = &settings.url, .ttl_s = settings.ttl_s };
	char why[FLEET_TEXT] = "";
	int error;

	if (own.process != getpid())
		own.store = NULL;
	own.process = getpid();
	if (own.store != NULL || (error = fleet_store_open(&own.store, &options, why)) == 0)
		return 0;
	return why[0] != '\0' ? store_trouble(why) : error;
}

int
session_open(struct session **session, const char *name)
{
	struct session *d;
	int error = open_store();

	if (error != 0)
		return error;
	if ((d = calloc(1, sizeof(*d))) == NULL)
		return -ENOMEM;
	d->store = own.store;
	if ((d->fleet = fleet_open(d->store, name)) == NULL) {
		free(d);
		return -ENOMEM;
	}
	*session = d;
	return 0;
}

void
session_close(struct session *d)
{
	if (d == NULL)
		return;
	fleet_close(d->fleet);
	free(d->news);
	free(d);
}

int
session_of(struct flk *f, struct session **session)
{
	struct store_limiter *l = (struct store_limiter *)f;
	int error = open_store();

	/* A session by another connection is that of the process that forked us. */
	if (error == 0 && (l->session == NULL || l->session->store != own.store))
		error = session_open(&l->session, l->name);
	*session = l->session;
	return error;
}

int
session_drive(struct session *d, uint64_t until_ns, int bell)
{
	struct pollfd p[2] = { { .fd = fleet_store_fd(d->store), .events = POLLIN },
			       { .fd = bell, .events = POLLIN } };
	uint64_t due = earlier(fleet_store_due(d->store), until_ns);
	/* Not for longer, as poll(2) does not count while the machine sleeps. */
	struct timespec span =
	    flki_timespec(earlier(left_until(due, flki_boottime_ns()), MOST_SLEEP));
	int error = ppoll(p, 2, due == UINT64_MAX ? NULL : &span, NULL) == -1 ? -errno : 0;

	fleet_store_step(d->store);
	return error;
}

static void
answered(void *context, const struct fleet_answer *a)
{
	struct wait *w = context;

	w->answered = true;
	w->code = a->code;
	if ((a->code == 0 || a->code == -FLK_DAMAGED) && w->take != NULL)
		w->code = w->take(w->context, a);
	else if (a->code != 0 && a->text != NULL && a->text[0] != '\0')
		store_trouble(a->text);
	was_away = a->code == -ETIMEDOUT;
	if (was_away)
		w->code = -FLK_STORE;
}

int
session_ask(struct session *d, const struct fleet_question *q, uint64_t patience_ns,
	    session_take *take, void *context)
{
	struct wait w = { .take = take, .context = context };

	fleet_ask(d->fleet, q, patience_ns, answered, &w);
	/* A signal that was handled is no reason to forget the question. */
	while (!w.answered)
		session_drive(d, SESSION_NEVER, -1);
	return w.code;
}
