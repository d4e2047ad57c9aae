/*
 * names.c - the limiters below a path, by reading only keys: a page, and when it is full, on from
 * what comes after the last limiter in it.
 */
#include "ask.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* gcc 12 loses sight of what add() keeps. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wanalyzer-malloc-leak"
#endif

#define PAGE 1000

static bool
add(struct ask *a, const char *name)
{
	char *copy;

	if (a->names == a->room) {
		size_t room = a->room == 0 ? 16 : a->room * 2;
		char **more = reallocarray(a->name, room, sizeof(*more));
		if (more == NULL)
			return false;
		a->name = more;
		a->room = room;
	}
	if ((copy = strdup(name)) == NULL)
		return false;
	a->name[a->names++] = copy;
	return true;
}

/* Of a key, the limiter that it is of: its keys' beginning; false if it is of none. */
static bool
limiter_of(const struct ask *a, const char *key, struct key *limiter, char name[FLK_NAME_MAX + 1])
{
	size_t base = strlen(a->e->base.s), n;
	char self[STORE_SELF];

	if (strncmp(key, a->e->base.s, base) != 0)
		return false;
	n = strcspn(key + base, "/");
	if (n == 0 || n > FLK_NAME_MAX || key[base + n] != '/' || base + n + 2 > sizeof(limiter->s))
		return false;
	memcpy(name, key + base, n);
	name[n] = '\0';
	memcpy(limiter->s, key, base + n + 1);
	limiter->s[base + n + 1] = '\0';
	return key_parse(limiter, key, self) != 0;
}

/* What the page has; the next one begins after the last limiter in it.  False: no memory. */
static bool
read_page(struct ask *a, struct etcd_kv *kv, long n)
{
	char name[FLK_NAME_MAX + 1];
	struct key limiter;
	long i;

	for (i = 0; i < n; i++) {
		size_t size = strlen(kv[i].key);
		/* Longer than any of ours: on behind all that begin so, or there would be no end. */
		if (size + 2 > sizeof(a->from.s)) {
			kv[i].key[sizeof(a->from.s) - 2] = '\0';
			etcd_prefix_end(a->from.s, kv[i].key);
			continue;
		}
		if (!limiter_of(a, kv[i].key, &limiter, name)) {
			memcpy(a->from.s, kv[i].key, size + 1);
			memcpy(a->from.s + size, "\001", 2);
			continue;
		}
		a->from = key_end(&limiter);
		if (a->names > 0 && strcmp(a->name[a->names - 1], name) == 0)
			continue;
		if (!add(a, name))
			return false;
	}
	return true;
}

static int
by_name(const void *x, const void *y)
{
	return strcmp(*(char *const *)x, *(char *const *)y);
}

static void
paged(void *context, const struct etcd_reply *reply)
{
	struct ask *a = context;
	struct engine_answer answer = { .code = 0 };
	struct etcd_kv *kv;
	bool good;
	long n;

	if (!ask_went_well(a, reply))
		return;
	if ((n = etcd_kvs(etcd_response_range(reply->body, 0), &kv)) < 0) {
		ask_answer_code(a, -ENOMEM, NULL);
		return;
	}
	good = read_page(a, kv, n);
	etcd_kvs_free(kv, n);
	if (!good) {
		ask_answer_code(a, -ENOMEM, NULL);
	} else if (n == PAGE) {
		names_ask(a);
	} else {
		/* Keys are in the order of names with a slash behind, which is another. */
		if (a->names > 0)
			qsort(a->name, a->names, sizeof(*a->name), by_name);
		answer.names = (const char *const *)a->name;
		answer.n = a->names;
		ask_answer(a, &answer);
	}
}

void
names_ask(struct ask *a)
{
	struct key end = key_end(&a->e->base);
	json_t *then = json_array();

	json_array_append_new(then, etcd_get(a->from.s, end.s, true, PAGE));
	ask_call(a, "/v3/kv/txn", etcd_txn(NULL, then, NULL), paged);
}
