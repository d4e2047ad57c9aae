/* SPDX-License-Identifier: ISC */
/*
 * lost.c - a taker that has lost its permit: it finds out why, and reports it.
 *
 * The record of a permit goes in one of four ways.  An operator breaks the permit, and leaves e/ on
 * the taker's lease.  A waiter takes the permit back when l/ has been gone for the taker's grace:
 * then the taker was silent for as long, or it would have attached again.  Somebody deletes the
 * record by hand.  Or an operator restores a backup, or puts an empty store in its place: then the
 * store's revision may be one from before the grant.
 */
#include "taker.h"

#include <stdio.h>

#include "kind.h"
#include "user.h"

enum { AT_E, AT_L };

const char lost_unkept[] =
    "the permit passed to another taker, or its record was deleted, while no keeper renewed it";

/* Whether the n-th key was there; reads its culprit, unless NULL. */
static bool
was_there(const struct etcd_reply *reply, size_t n, struct culprit *by)
{
	struct etcd_kv *kv = NULL;
	long found = -1;

	if (reply->result == ETCD_OK)
		found = etcd_kvs(etcd_response_range(reply->body, n), &kv);
	if (found > 0 && by != NULL)
		culprit_decode(by, kv[0].value, kv[0].value_size);
	etcd_kvs_free(kv, found);
	return found > 0;
}

static void
say_operator(const struct culprit *by, char text[ENGINE_TEXT])
{
	char user[USER_TEXT];

	snprintf(text, ENGINE_TEXT, "an operator took the permit back (user %s, pid %u on %s)",
		 user_text((uid_t)by->uid, user), by->pid,
		 by->host[0] != '\0' ? by->host : "an unknown host");
}

static void
say_why(const struct engine_taker *t, const struct etcd_reply *reply, char text[ENGINE_TEXT])
{
	uint64_t silent_ns = flki_boottime_ns() - t->proven_ns;

	if (reply->result == ETCD_OK && reply->revision < t->held_since)
		snprintf(text, ENGINE_TEXT,
			 "the store is older than the permit: was an older backup restored?");
	else if (was_there(reply, AT_L, NULL) ||
		 (t->proven_ns != 0 && silent_ns < t->e->grace_s * SECOND))
		snprintf(text, ENGINE_TEXT,
			 "the permit's record is gone from the store: somebody deleted it, or "
			 "restored an older backup");
	else if (t->proven_ns == 0) /* the last proof was another keeper's */
		snprintf(text, ENGINE_TEXT, "%s", lost_unkept);
	else
		snprintf(
		    text, ENGINE_TEXT,
		    "the permit passed to another taker, as the store had heard nothing for %.1f s",
		    (double)silent_ns / 1e9);
}

/* Reports the loss even without an answer: the command must not run on because we lack a reason. */
static void
reason_read(struct engine_taker *t, const struct etcd_reply *reply)
{
	struct culprit by = { 0 };
	char text[ENGINE_TEXT];
	bool evicted = was_there(reply, AT_E, &by);

	if (evicted)
		say_operator(&by, text);
	else
		say_why(t, reply, text);
	if (t->held) {
		taker_end(t, &(struct engine_event){ .kind = ENGINE_LOST,
						     .ticket = t->ticket,
						     .pid = by.pid,
						     .uid = by.uid,
						     .host = by.host,
						     .text = text });
	} else if (evicted) {
		taker_end(t, &(struct engine_event){ .kind = ENGINE_REFUSED,
						     .code = -FLK_EVICTED,
						     .pid = by.pid,
						     .uid = by.uid,
						     .host = by.host });
	} else {
		/* The taker never reported a grant: it takes its turn again. */
		t->looked = false;
		t->created = 0;
		taker_drop_lease(t);
		taker_unwatch(t);
		taker_go(t, ASKING);
	}
}

void
losing_act(struct engine_taker *t)
{
	struct key e = taker_key(t, 'e'), l = taker_key(t, 'l');

	if (t->slot[MAIN].call != NULL)
		return;
	taker_hush(t, BEAT);
	taker_hush(t, CHECK);
	t->beat_ns = UINT64_MAX;
	taker_txn(t, MAIN, NULL,
		  etcd_list(etcd_get(e.s, NULL, false, 0), etcd_get(l.s, NULL, true, 0)), NULL,
		  reason_read);
}
