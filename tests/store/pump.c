/* SPDX-License-Identifier: ISC */
#include "pump.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "clock.h"
#include "../helpers/tap.h"

#define PATIENCE_MS 60000

struct etcd *
client(unsigned port, unsigned second, const char *extra)
{
	char text[URL_TEXT], more[32] = "", why[512] = "";
	static struct url u;
	struct etcd *e;

	if (second != 0)
		snprintf(more, sizeof(more), ",127.0.0.1:%u", second);
	snprintf(text, sizeof(text), "etcd://%s127.0.0.1:%u%s%s", *extra == '@' ? "u:secret@" : "",
		 port, more, extra + (*extra == '@'));
	if (url_parse(&u, text) != NULL || etcd_new(&e, &u, 5000, why, sizeof(why)) != 0)
		tap_bail("no client of %s: %s", text, why);
	return e;
}

static void
done(void *context, const struct etcd_reply *reply)
{
	struct outcome *o = context;

	o->times++;
	o->result = reply->result;
	o->revision = reply->revision;
	o->sent_ns = reply->sent_ns;
	json_decref(o->body);
	o->body = reply->body == NULL ? NULL : json_deep_copy(reply->body);
	snprintf(o->text, sizeof(o->text), "%s", reply->text != NULL ? reply->text : "");
}

struct etcd_call *
ask(struct etcd *e, const char *path, unsigned timeout_ms, struct outcome *o)
{
	json_decref(o->body);
	memset(o, 0, sizeof(*o));
	return etcd_call(e, path, json_object(), timeout_ms, done, o);
}

enum etcd_result
asked(struct etcd *e, const char *path, unsigned timeout_ms, struct outcome *o)
{
	ask(e, path, timeout_ms, o);
	if (!until(e, &o->times, 1))
		tap_bail("%s was never answered", path);
	return o->result;
}

void
forget(struct outcome *o)
{
	json_decref(o->body);
	o->body = NULL;
}

void
remember(void *context, const struct etcd_news *news)
{
	struct news *n = context;
	size_t at = strlen(n->text);
	const struct etcd_change *c = news->change;

	n->begun += news->kind == ETCD_BEGUN;
	n->changes += news->kind == ETCD_CHANGE;
	n->compacted += news->kind == ETCD_COMPACTED;
	n->failed += news->kind == ETCD_FAILED;
	if (news->kind == ETCD_CHANGE)
		snprintf(n->text + at, sizeof(n->text) - at, "%s %s=%s @%lld;",
			 c->deleted ? "DELETE" : "PUT", c->key, c->value,
			 (long long)c->mod_revision);
	else if (news->text != NULL)
		snprintf(n->text + at, sizeof(n->text) - at, "%s", news->text);
	if (n->end != NULL && news->kind == ETCD_CHANGE) {
		etcd_unwatch(n->end);
		n->end = NULL;
	}
}

bool
until(struct etcd *e, const int *happened, int times)
{
	uint64_t end = flki_boottime_ns() + PATIENCE_MS * MS;

	while (*happened < times) {
		struct pollfd p = { .fd = etcd_fd(e), .events = POLLIN };
		uint64_t now = flki_boottime_ns(), due = etcd_due(e);

		if (now >= end)
			return false;
		if (due > end)
			due = end;
		poll(&p, 1, due <= now ? 0 : (int)((due - now) / MS) + 1);
		etcd_step(e);
	}
	return true;
}
