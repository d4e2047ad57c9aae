/*
 * log.c - what happened, as far back as the limiter remembers.
 */
#include "ctl.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "explain.h"
#include "json.h"
#include "now.h"
#include "pace.h"
#include "say.h"
#include "text.h"
#include "where.h"

const char *
event_name(uint32_t kind)
{
	static const char *const names[] = {
		[FLK_EV_QUEUED] = "queued",     [FLK_EV_GRANTED] = "granted",
		[FLK_EV_RELEASED] = "ended",    [FLK_EV_UNITS] = "released",
		[FLK_EV_FORGOT] = "forgot",     [FLK_EV_LEFT] = "left",
		[FLK_EV_EVICTED] = "cancelled", [FLK_EV_REAPED] = "reaped",
		[FLK_EV_DECLARED] = "declared", [FLK_EV_OVERRIDE] = "limit",
		[FLK_EV_PAUSED] = "paused",     [FLK_EV_RESUMED] = "resumed",
		[FLK_EV_CLOSED] = "closed",     [FLK_EV_OPENED] = "opened",
		[FLK_EV_RESTORED] = "restored", [FLK_EV_REPAIRED] = "repaired",
		[FLK_EV_PACED] = "pace",
	};

	return kind < sizeof(names) / sizeof(names[0]) && names[kind] != NULL ? names[kind]
									      : "unknown";
}

const char *
why_left(int code)
{
	/* In a file that lies it may be any number, and not every one can be negated. */
	switch (code) {
	case -ETIMEDOUT:
		return "timed out";
	case -FLK_CANCELLED:
		return "by a signal";
	case -FLK_CLOSED:
		return "the limiter is closed";
	case -FLK_EVICTED:
		return "by an operator";
	default:
		return "gave up";
	}
}

#define DETAIL PACE_TEXT

/* What is particular about it. */
static const char *
detail(const struct flk_event *e, char room[DETAIL])
{
	switch (e->kind) {
	case FLK_EV_GRANTED:
		snprintf(room, DETAIL, "seat %u", e->seat);
		return room;
	case FLK_EV_RELEASED:
		return e->code == FLK_UNKNOWN ? "status unknown" : status_text(e->code, room);
	case FLK_EV_UNITS:
	case FLK_EV_FORGOT:
	case FLK_EV_RESTORED:
		snprintf(room, DETAIL, "%d units", e->code);
		return room;
	case FLK_EV_LEFT:
		return why_left(e->code);
	case FLK_EV_EVICTED:
		return why_left(e->code);
	case FLK_EV_REAPED:
		return e->code != 0 ? "killed while it ran" : "killed while it waited";
	case FLK_EV_DECLARED:
		snprintf(room, DETAIL, "%d", e->code);
		return room;
	case FLK_EV_OVERRIDE:
		if (e->code == FLK_AUTO)
			return "auto";
		snprintf(room, DETAIL, "%d", e->code);
		return room;
	case FLK_EV_PACED:
		return pace_text(&e->pace, (unsigned)e->code, room);
	default:
		return "";
	}
}

static void
print_text(const struct ctl *c, struct flk *f, const struct flk_event *e)
{
	char when[40], room[DETAIL], ticket[24] = "", user[USER_TEXT], command[VISIBLE(20)];
	char host[VISIBLE(HOST)] = "";
	const char *abroad = where_happened(f, e);

	if (c->raw)
		snprintf(when, sizeof(when), "%.6f", epoch_of(e->when_ns));
	else
		time_of(e->when_ns, when);
	if (e->ticket != 0)
		snprintf(ticket, sizeof(ticket), "%" PRIu64, e->ticket);
	printf("%s  %-9s  %6s  ", when, event_name(e->kind), ticket);
	if (e->ticket != 0)
		printf("-w %u  ", e->weight);
	if (abroad != NULL)
		visible(abroad, host, sizeof(host));
	else if (where_am_i() != NULL)
		visible(where_am_i(), host, sizeof(host));
	printf("%s%s", host, host[0] != '\0' ? "  " : "");
	/* A store knows the process of each change but of those that were made without us. */
	if (e->pid == 0 && where_is_store()) {
		printf("%s\n", detail(e, room));
		return;
	}
	printf("pid %-7u  %-8s  %s%s%s\n", e->pid, user_name((uid_t)e->uid, c->raw, user),
	       visible(e->command, command, sizeof(command)), e->command[0] != '\0' ? "  " : "",
	       detail(e, room));
}

static json_t *
json_known(bool is_known, int64_t n)
{
	return is_known ? json_integer(n) : json_null();
}

static void
print_json(const struct ctl *c, struct flk *f, const struct flk_event *e)
{
	const char *host = where_happened(f, e) != NULL ? where_happened(f, e) : where_am_i();
	bool told = e->pid != 0 || !where_is_store(), taker = e->ticket != 0;
	json_t *o = json_begin(name_of(c), flk_path(f));
	char room[DETAIL];

	json_put(o, "number", json_u64(e->number));
	json_put(o, "time", json_seconds(epoch_of(e->when_ns)));
	json_put(o, "event", json_string(event_name(e->kind)));
	json_put(o, "code", json_integer(e->code));
	json_put(o, "detail", json_text(detail(e, room)));
	json_put(o, "ticket", taker ? json_u64(e->ticket) : json_null());
	json_put(o, "weight", json_known(taker, e->weight));
	json_put(o, "command", taker ? json_text(e->command) : json_null());
	json_put(o, "seat", json_known(e->kind == FLK_EV_GRANTED, e->seat));
	json_put(o, "host", host != NULL && *host != '\0' ? json_text(host) : json_null());
	json_put(o, "pid", json_known(told, e->pid));
	json_put(o, "uid", json_known(told, e->uid));
	json_put(o, "pace", e->kind == FLK_EV_PACED ? json_pace(&e->pace) : json_null());
	json_print_line(o);
}

static void
print_events(const struct ctl *c, struct flk *f, const struct flk_event *e, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		c->json ? print_json(c, f, &e[i]) : print_text(c, f, &e[i]);
}

/* Who removes a limiter by rm(1) tells nobody: once a minute we look. */
static int
sleep_until_event(struct flk *f, uint64_t number)
{
	uint64_t at = now_ns() + 60 * SECOND;
	struct timespec relook = { .tv_sec = (time_t)(at / SECOND),
				   .tv_nsec = (long)(at % SECOND) };
	int error = flk_follow(f, number, &relook);

	return error == -ETIMEDOUT ? flk_verify(f) : error == -EINTR ? 0 : error;
}

static int
follow(const struct ctl *c, struct flk *f, struct flk_event *e, uint64_t number)
{
	size_t n;
	int error;

	while (fflush(stdout) == 0) {
		error = sleep_until_event(f, number);
		if (error != 0)
			return refuse(name_of(c), flk_path(f), f, error);
		n = flk_history(f, number, e, FLK_HISTORY);
		if (n > 0 && e[0].number > number + 1)
			say(name_of(c), "too much happened at once: %" PRIu64 " events are missing",
			    e[0].number - number - 1);
		print_events(c, f, e, n);
		if (n > 0)
			number = e[n - 1].number;
	}
	return DONE; /* nobody reads any more: main() says so */
}

/*
 * A store is not asked by opening a limiter.  Whoever mistyped a name would wait for ever, and so
 * would he whose store is away, which may come back.
 */
static int
look_first(const struct ctl *c, struct flk *f)
{
	struct flk_snapshot *s;
	int error;

	if (!where_is_store())
		return DONE;
	if ((error = flk_snapshot(f, &s)) == 0)
		free(s);
	else if (error == -ENOENT)
		return refuse(name_of(c), flk_path(f), f, error);
	else if (where_is_away())
		say(name_of(c), "%s; trying on", explain(error));
	return DONE;
}

int
log_of(const struct ctl *c)
{
	struct flk_event *e = calloc(FLK_HISTORY, sizeof(*e));
	struct flk *f;
	size_t n, skip;
	uint64_t number;
	int status;

	if (e == NULL) {
		say(NULL, "no memory");
		return FAILED;
	}
	if (where_is_store() && !c->follow) {
		say(NULL, "log: a store keeps no history: log -f tells what happens from now on");
		free(e);
		return FAILED;
	}
	if ((f = open_only(c, &status)) != NULL) {
		n = flk_history(f, 0, e, FLK_HISTORY);
		number = n > 0 ? e[n - 1].number : 0;
		skip = c->last < n ? n - (size_t)c->last : 0;
		print_events(c, f, e + skip, n - skip);
		status = c->follow ? look_first(c, f) : DONE;
		if (c->follow && status == DONE)
			status = follow(c, f, e, number);
		flk_detach(f);
	}
	free(e);
	return status;
}
