/* SPDX-License-Identifier: ISC */
/*
 * older.c - removes what version 1 left of a limiter: keys.h tells of its keys.
 *
 * A permit or a place of version 1 keeps the limiter from removal, dead or alive: only takers of
 * that version take the permits of their dead back, and else an operator deletes their keys.  The
 * txn that removes the limiter compares that no taker came since the keys were read.
 */
#include "ask.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store_exec.h"

/* All permits or all places: PATH/NAME/h/SELF.  Other keys may lie between them. */
struct older_range {
	struct key from, end;
};

/* PATH/NAME/ and that, where the limiter's key is PATH/NAME/cfg. */
static struct key
older_key(const struct key *limiter, const char *rest)
{
	const char *slash = strrchr(limiter->s, '/');
	struct key k;

	snprintf(k.s, sizeof(k.s), "%.*s%s", (int)(slash + 1 - limiter->s), limiter->s, rest);
	return k;
}

static struct older_range
older_range(const struct key *limiter, const char *kind)
{
	struct older_range r = { .from = older_key(limiter, kind) };

	r.end = key_end(&r.from);
	return r;
}

/* How many of the keys are of takers of this limiter, and not of one with a longer path; or -1. */
static long
count_takers(const struct older_range *r, const json_t *range)
{
	struct etcd_kv *kv;
	long n = etcd_kvs(range, &kv), takers = 0, i;
	size_t size = strlen(r->from.s);

	for (i = 0; i < n; i++)
		takers += strncmp(kv[i].key, r->from.s, size) == 0 && key_is_self(kv[i].key + size);
	if (n < 0)
		return -1;
	etcd_kvs_free(kv, n);
	return takers;
}

static json_t *
removal(const struct ask *a, int64_t revision)
{
	const struct key *cfg = &a->look.limiter;
	struct key tail = older_key(cfg, "tail");
	struct older_range h = older_range(cfg, "h/"), w = older_range(cfg, "w/");
	json_t *compares = json_array(), *then = json_array();

	json_array_append_new(compares, etcd_if_mod(cfg->s, a->look.config_mod));
	json_array_append_new(compares, etcd_if_no_news(h.from.s, h.end.s, revision));
	json_array_append_new(compares, etcd_if_no_news(w.from.s, w.end.s, revision));
	json_array_append_new(then, etcd_delete(cfg->s, NULL));
	json_array_append_new(then, etcd_delete(tail.s, NULL));
	return etcd_txn(compares, then, NULL);
}

/* `rm NAME' tells the operator which keys keep the limiter; `rm --idle' passes it by. */
static void
refuse(struct ask *a, const char *keys)
{
	char text[ENGINE_TEXT];

	snprintf(
	    text, sizeof(text),
	    "takers of an older flocklimit hold or wait: let them end, and delete what is left "
	    "of dead ones below %.250s",
	    keys);
	if (a->q.kind == ASK_REMOVE_UNUSED)
		ask_answer_code(a, -FLK_BUSY, NULL);
	else
		ask_answer_code(a, -FLK_STORE, text);
}

static void
looked(void *context, const struct etcd_reply *reply)
{
	struct ask *a = context;
	struct older_range h = older_range(&a->look.limiter, "h/");
	struct older_range w = older_range(&a->look.limiter, "w/");

	if (!ask_went_well(a, reply))
		return;
	if (count_takers(&h, etcd_response_range(reply->body, 0)) != 0)
		refuse(a, h.from.s);
	else if (count_takers(&w, etcd_response_range(reply->body, 1)) != 0)
		refuse(a, w.from.s);
	else if (!operation_may_remove(a))
		ask_answer_code(a, -FLK_BUSY, NULL);
	else
		ask_do(a, removal(a, reply->revision));
}

void
older_remove(struct ask *a)
{
	struct older_range h = older_range(&a->look.limiter, "h/");
	struct older_range w = older_range(&a->look.limiter, "w/");
	json_t *then = json_array();

	json_array_append_new(then, etcd_get(h.from.s, h.end.s, true, 0));
	json_array_append_new(then, etcd_get(w.from.s, w.end.s, true, 0));
	ask_call(a, "/v3/kv/txn", etcd_txn(NULL, then, NULL), looked);
}
