/*
 * desk.c - drives an engine of its own until a question is answered.
 */
#include "desk.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "internal.h"
#include "settings.h"

#define DESKS 4 /* that are kept */

struct desk {
	char name[FLK_NAME_MAX + 1]; /* "": of all limiters */
	struct engine *engine;       /* NULL: there is none yet */
	struct news *news;           /* NULL: nobody follows */
	uint64_t used;               /* the larger, the later */
};

static struct desk desks[DESKS];
static bool was_away;

/* A question under way. */
struct wait {
	bool answered;
	int code;
	desk_take *take;
	void *context;
};

uint64_t
desk_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

bool
desk_was_away(void)
{
	return was_away;
}

static void
clear(struct desk *d)
{
	if (d->engine != NULL)
		engine_close(d->engine);
	news_free(d->news);
	*d = (struct desk){ .engine = NULL };
}

/* The one of that name, or else the one that was not used for longest; what is followed stays. */
static struct desk *
pick(const char *name)
{
	struct desk *d, *oldest = NULL;

	for (d = desks; d < desks + DESKS; d++) {
		if (d->engine != NULL && strcmp(d->name, name) == 0)
			return d;
		if (d->news == NULL && (oldest == NULL || d->used < oldest->used))
			oldest = d;
	}
	return oldest != NULL ? oldest : desks;
}

static int
find(const char *name, struct desk **desk)
{
	/* Times are of those who take permits, which nobody does here. */
	struct engine_options options = { .url = &settings.url,
					  .limiter = *name != '\0' ? name : NULL,
					  .ttl_s = settings.ttl_s,
					  .grace_s = settings.grace_s };
	static uint64_t uses;
	struct desk *d = pick(name);
	char why[ENGINE_TEXT] = "";
	int error;

	if (d->engine == NULL || strcmp(d->name, name) != 0) {
		clear(d);
		if ((error = engine_open(&d->engine, &options, why)) != 0) {
			d->engine = NULL;
			if (why[0] == '\0')
				return error;
			trouble(why);
			return -FLK_STORE;
		}
		snprintf(d->name, sizeof(d->name), "%s", name);
	}
	d->used = ++uses;
	*desk = d;
	return 0;
}

int
desk_of(const struct flk *f, struct desk **desk)
{
	return find(f->name, desk);
}

int
desk_of_all(struct desk **desk)
{
	return find("", desk);
}

struct news **
desk_news(struct desk *d)
{
	return &d->news;
}

const struct news *
desk_news_of(const struct desk *d)
{
	return d->news;
}

struct engine *
desk_engine(struct desk *d)
{
	return d->engine;
}

int
desk_drive(struct desk *d, uint64_t until_ns)
{
	struct pollfd p = { .fd = engine_fd(d->engine), .events = POLLIN };
	uint64_t due = engine_due(d->engine), now = desk_now_ns();
	int ms = -1;

	due = due < until_ns ? due : until_ns;
	if (due <= now)
		ms = 0;
	else if (due != UINT64_MAX)
		ms = due - now < UINT64_C(60000000000) ? (int)((due - now) / 1000000) + 1 : 60000;
	if (poll(&p, 1, ms) == -1)
		return -errno;
	engine_step(d->engine);
	return 0;
}

static void
answered(void *context, const struct engine_answer *a)
{
	struct wait *w = context;

	w->answered = true;
	w->code = a->code;
	if ((a->code == 0 || a->code == -FLK_DAMAGED) && w->take != NULL)
		w->code = w->take(w->context, a);
	else if (a->code != 0 && a->text != NULL && a->text[0] != '\0')
		trouble(a->text);
	was_away = a->code == -ETIMEDOUT;
	if (was_away)
		w->code = -FLK_STORE;
}

int
desk_ask(struct desk *d, const struct engine_question *q, uint64_t patience_ns, desk_take *take,
	 void *context)
{
	struct wait w = { .take = take, .context = context };
	int error = 0;

	engine_ask(d->engine, q, patience_ns, answered, &w);
	/* A signal that is handled is no reason to forget what was asked: it has w. */
	while (!w.answered && (error == 0 || error == -EINTR))
		error = desk_drive(d, DESK_NEVER);
	return w.answered ? w.code : error;
}

/* ---- names of machines ---- */

void
desk_me(char host[STORE_HOST])
{
	if (gethostname(host, STORE_HOST) == -1)
		host[0] = '\0';
	host[STORE_HOST - 1] = '\0';
}

struct machine {
	struct machine *next;
	char name[];
};

const char *
desk_machine(const char *host)
{
	static struct machine *machines;
	static char me[STORE_HOST];
	size_t n = strlen(host) + 1;
	struct machine *m;

	if (me[0] == '\0')
		desk_me(me);

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
