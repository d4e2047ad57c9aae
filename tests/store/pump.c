/* SPDX-License-Identifier: ISC */
#include "pump.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "../helpers/tap.h"

#define PATIENCE_MS 60000
#define FEW_STEPS   100 /* of a client that waits for its times, and does not spin */

void
clients_begin(void)
{
	signal(SIGPIPE, SIG_IGN);
	unsetenv("FLOCKLIMIT_STORE_USER");
	unsetenv("FLOCKLIMIT_STORE_PASSWORD");
	unsetenv("FLOCKLIMIT_STORE_TOKEN");
}

struct records *
client(unsigned port, unsigned second, const char *extra)
{
	char text[URL_TEXT], more[32] = "", why[RECORDS_TEXT] = "";
	static struct url u;
	struct records *r;

	if (second != 0)
		snprintf(more, sizeof(more), ",127.0.0.1:%u", second);
	snprintf(text, sizeof(text), "etcd://%s127.0.0.1:%u%s%s", *extra == '@' ? "u:secret@" : "",
		 port, more, extra + (*extra == '@'));
	if (url_parse(&u, text) != NULL || records_open(&r, &u, 5000, why) != 0)
		tap_bail("no client of %s: %s", text, why);
	return r;
}

void
remember_answer(void *context, const struct records_answer *answer)
{
	struct outcome *o = context;

	o->times++;
	o->result = answer->result;
	o->revision = answer->revision;
	o->sent_ns = answer->sent_ns;
	o->held = answer->held;
	o->alive = answer->alive;
	o->found = records_found(answer, 0).n;
	snprintf(o->text, sizeof(o->text), "%s", answer->text != NULL ? answer->text : "");
}

struct records_call *
ask(struct records *r, const char *key, unsigned timeout_ms, struct outcome *o)
{
	struct txn *x = txn_new();

	memset(o, 0, sizeof(*o));
	txn_get(x, key, NULL);
	return records_txn(r, x, timeout_ms, remember_answer, o);
}

enum records_result
asked(struct records *r, const char *key, unsigned timeout_ms, struct outcome *o)
{
	ask(r, key, timeout_ms, o);
	if (!until(r, &o->times, 1))
		tap_bail("%s was never answered", key);
	return o->result;
}

void
remember(void *context, const struct records_news *news)
{
	struct remembered *n = context;
	size_t at = strlen(n->text);
	const struct records_change *c = news->change;

	n->begun += news->kind == WATCH_BEGUN;
	n->changes += news->kind == WATCH_CHANGE;
	n->compacted += news->kind == WATCH_COMPACTED;
	n->failed += news->kind == WATCH_FAILED;
	if (news->kind == WATCH_CHANGE)
		snprintf(n->text + at, sizeof(n->text) - at, "%s %s=%s @%lld;",
			 c->deleted ? "DELETE" : "PUT", c->kv.key, c->kv.value,
			 (long long)c->kv.changed);
	else if (news->text != NULL)
		snprintf(n->text + at, sizeof(n->text) - at, "%s", news->text);
	if (n->end != NULL && news->kind == WATCH_CHANGE) {
		records_unwatch(n->end);
		n->end = NULL;
	}
}

bool
contains(const char *text, const char *piece)
{
	if (strstr(text, piece) != NULL)
		return true;
	tap_note("\"%s\" is not in \"%s\"", piece, text);
	return false;
}

bool
same(const char *got, const char *want)
{
	if (strcmp(got, want) == 0)
		return true;
	tap_note("got \"%s\", want \"%s\"", got, want);
	return false;
}

int
count(const char *text, const char *piece)
{
	int n = 0;

	for (; (text = strstr(text, piece)) != NULL; text += strlen(piece))
		n++;
	return n;
}

/* Waits for what comes next, but not past the end, and lets the client go on.  False: it is past. */
static bool
step_before(struct records *r, uint64_t end)
{
	struct pollfd p = { .fd = records_fd(r), .events = POLLIN };
	uint64_t now = flki_boottime_ns(), due = records_due(r);

	if (now >= end)
		return false;
	if (due > end)
		due = end;
	poll(&p, 1, due <= now ? 0 : (int)((due - now) / MS) + 1);
	records_step(r);
	return true;
}

bool
until(struct records *r, const int *happened, int times)
{
	uint64_t end = flki_boottime_ns() + PATIENCE_MS * MS;

	while (*happened < times)
		if (!step_before(r, end))
			return false;
	return true;
}

bool
rests(struct records *r)
{
	uint64_t end = flki_boottime_ns() + PATIENCE_MS * MS;
	int steps;

	for (steps = 0; records_due(r) != UINT64_MAX; steps++)
		if (steps == FEW_STEPS || !step_before(r, end))
			return false;
	return true;
}
