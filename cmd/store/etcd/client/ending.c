/* SPDX-License-Identifier: ISC */
/*
 * ending.c - how a watch's stream ends: the watch then rests and opens another, or is over.
 */
#include <stdlib.h>
#include <string.h>

#include "records/retry.h"
#include "verdict.h"
#include "watch.h"

#define LIVED_NS (1000 * MS) /* a stream that was open for this long was no failure */

void
stream_close(struct etcd_watch *w)
{
	free(w->post.url);
	http_drop(&w->post);
}

void
stream_destroy(struct etcd_watch *w)
{
	size_t i;

	LIST_REMOVE(w, link);
	stream_close(w);
	for (i = 0; i < w->ranges; i++) {
		free(w->range[i].key);
		free(w->range[i].end);
	}
	free(w);
}

void
stream_report(struct etcd_watch *w, enum etcd_watch_kind kind, const struct etcd_change *change,
	      const char *text)
{
	struct etcd_news news = { .kind = kind, .change = change, .text = text };
	bool outer = w->in_callback;

	if (w->dead)
		return;
	if (kind == ETCD_BEGUN) {
		news.revision = w->begun_at;
		w->begun_at = 0;
	}
	w->in_callback = true;
	w->hears(w->context, &news);
	w->in_callback = outer;
	if (w->dead && !outer)
		stream_destroy(w);
}

void
stream_rest(struct etcd_watch *w)
{
	struct etcd *e = w->etcd;
	uint64_t now = flki_boottime_ns();

	stream_close(w);
	if (w->state == OPEN && now - w->opened >= LIVED_NS)
		w->failures = 0;
	w->state = RESTING;
	w->waits = false;
	w->due = now + retry_pause(w->failures++);
	if (e->endpoints > 1)
		client_turn(e, w->turn);
	else
		client_failed(e);
}

void
stream_end(struct etcd_watch *w, enum etcd_watch_kind kind, const char *text)
{
	stream_close(w);
	w->state = OVER;
	w->waits = false;
	w->due = UINT64_MAX;
	stream_report(w, kind, NULL, text);
}

void
stream_judged(struct etcd_watch *w, struct verdict *v)
{
	char text[CLIENT_TEXT];

	if ((v->license == BAD_TOKEN || v->result == ETCD_DENIED) && !w->denied &&
	    token_refused(w->etcd, w->token)) {
		w->denied = true;
		stream_rest(w);
		w->due = flki_boottime_ns();
		return;
	}
	token_hope(w->etcd, v);
	if (v->result == ETCD_AWAY || v->result == ETCD_OK) {
		stream_rest(w);
		return;
	}
	client_text(text, w->at, v->words);
	stream_end(w, ETCD_FAILED, text);
}

/* A watch has no end: whatever ended it is a failure. */
void
stream_ended(struct post *p, enum http_trouble trouble, const char *why)
{
	struct etcd_watch *w = p->owner;
	struct verdict v = { ETCD_AWAY, LICENSED, "" };

	if (trouble != HTTP_FINE) {
		verdict_of_trouble(&v, w->etcd, w->at, trouble, why);
	} else if (p->status != 200) {
		struct asked asked = { p->body };
		json_t *body = json_loadb(p->answer != NULL ? p->answer : "", p->length, 0, NULL);

		verdict_of(&v, w->etcd, p->status, body, &asked);
		json_decref(body);
	}
	w->in_callback = true;
	stream_judged(w, &v);
	w->in_callback = false;
	if (w->dead)
		stream_destroy(w);
}
