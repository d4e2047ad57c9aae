/* SPDX-License-Identifier: ISC */
/*
 * session.c - drives a fleet of its own until a question is answered.
 */
#include "session.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "protocol/record.h"
#include "settings.h"
#include "wrapper/internal.h"

#define SESSIONS 4 /* how many stay open */

static struct session desks[SESSIONS];
static bool was_away;

/*
 * A question under way.  Its asker frees it or, if the asker has left meanwhile, the answer does.
 */
struct wait {
	bool answered, left;
	int code;
	session_take *take;
	void *context;
};

bool
session_was_away(void)
{
	return was_away;
}

static void
clear(struct session *d)
{
	if (d->fleet != NULL)
		fleet_close(d->fleet);
	free(d->news);
	*d = (struct session){ .fleet = NULL };
}

/* The session of that name, or else the least recently used one; a session that follows stays. */
static struct session *
pick(const char *name)
{
	struct session *d, *oldest = NULL;

	for (d = desks; d < desks + SESSIONS; d++) {
		if (d->fleet != NULL && strcmp(d->name, name) == 0)
			return d;
		if (d->news == NULL && (oldest == NULL || d->used < oldest->used))
			oldest = d;
	}
	return oldest != NULL ? oldest : desks;
}

static int
find(const char *name, struct session **session)
{
	/* ttl and grace matter to takers; an operator takes no permit. */
	struct fleet_options options = { .url = &settings.url,
					 .limiter = *name != '\0' ? name : NULL,
					 .ttl_s = settings.ttl_s,
					 .grace_s = settings.grace_s };
	static uint64_t uses;
	struct session *d = pick(name);
	char why[FLEET_TEXT] = "";
	int error;

	if (d->fleet == NULL || strcmp(d->name, name) != 0) {
		clear(d);
		if ((error = fleet_open(&d->fleet, &options, why)) != 0) {
			d->fleet = NULL;
			if (why[0] == '\0')
				return error;
			return store_trouble(why);
		}
		snprintf(d->name, sizeof(d->name), "%s", name);
	}
	d->used = ++uses;
	*session = d;
	return 0;
}

int
session_of(const struct flk *f, struct session **session)
{
	return find(((const struct store_limiter *)f)->name, session);
}

int
session_of_all(struct session **session)
{
	return find("", session);
}

int
session_drive(struct session *d, uint64_t until_ns, int bell)
{
	struct pollfd p[2] = { { .fd = fleet_fd(d->fleet), .events = POLLIN },
			       { .fd = bell, .events = POLLIN } };
	uint64_t due = fleet_due(d->fleet), now = flki_boottime_ns();
	int ms = -1;

	due = due < until_ns ? due : until_ns;
	if (due <= now)
		ms = 0;
	else if (due != UINT64_MAX)
		ms = due - now < UINT64_C(60000000000) ? (int)((due - now) / 1000000) + 1 : 60000;
	if (poll(p, 2, ms) == -1)
		return -errno;
	fleet_step(d->fleet);
	return 0;
}

static void
answered(void *context, const struct fleet_answer *a)
{
	struct wait *w = context;

	if (w->left) {
		free(w);
		return;
	}
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
	struct wait *w = malloc(sizeof(*w));
	int error = 0;

	if (w == NULL)
		return -ENOMEM;
	*w = (struct wait){ .take = take, .context = context };
	fleet_ask(d->fleet, q, patience_ns, answered, w);
	/* A signal that was handled is no reason to forget the question. */
	while (!w->answered && (error == 0 || error == -EINTR))
		error = session_drive(d, SESSION_NEVER, -1);
	if (w->answered) {
		error = w->code;
		free(w);
	} else {
		w->left = true;
	}
	return error;
}

/* ---- names of machines ---- */

struct machine {
	struct machine *next;
	char name[];
};

const char *
session_machine(const char *host)
{
	static struct machine *machines;
	static char me[STORE_HOST];
	size_t n = strlen(host) + 1;
	struct machine *m;

	if (me[0] == '\0')
		record_host(me);
	if (strcmp(host, me) == 0)
		return NULL;
	for (m = machines; m != NULL; m = m->next)
		if (strcmp(m->name, host) == 0)
			return m->name;
	m = malloc(sizeof(*m) + n);
	if (m == NULL)
		return "?";
	memcpy(m->name, host, n);
	m->next = machines;
	machines = m;
	return m->name;
}
