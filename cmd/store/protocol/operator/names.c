/* SPDX-License-Identifier: ISC */
/*
 * names.c - finds the limiters of a path by reading only keys, page by page.  Keys of limiters with
 * longer paths lie between them: once a page has shown whether a name is that of a limiter, it
 * skips all other keys that begin with the name.
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

static void
go_on_after(struct ask *a, const char *key)
{
	size_t size = strlen(key);

	memcpy(a->from.s, key, size);
	memcpy(a->from.s + size, "\001", 2);
}

/*
 * A key with that name in it: adds the limiter, if the key is one of its keys.  False: no memory.
 */
static bool
read_key(struct ask *a, const char *key, const char *name, size_t n)
{
	struct key limiter = key_named(&a->fleet->store->base, name, n),
		   parts = key_parts(&limiter);
	char copy[FLK_NAME_MAX + 1], self[STORE_SELF];
	char kind = key_parse(&limiter, key, self);

	if (kind == '?') {
		go_on_after(a, key);
		return true;
	}
	/* Another limiter's key: the first key of this one is yet to come, or there is none. */
	if (kind == 0 && strcmp(key, parts.s) < 0) {
		a->from = strcmp(key, limiter.s) < 0 ? limiter : parts;
		return true;
	}
	memcpy(copy, name, n);
	copy[n] = '\0';
	*(strrchr(limiter.s, '/') + 1) = '\0';
	a->from = key_end(&limiter);
	return kind == 0 || add(a, copy);
}

/* Reads the keys of a page that are not to be skipped.  False: no memory. */
static bool
read_page(struct ask *a, struct records_found page)
{
	size_t base = strlen(a->fleet->store->base.s), size;
	const char *key;
	size_t i;

	for (i = 0; i < page.n; i++) {
		key = page.kv[i].key;
		if (strncmp(key, a->fleet->store->base.s, base) != 0 || strcmp(key, a->from.s) < 0)
			continue;
		size = strcspn(key + base, "/");
		/* Longer than any key of ours: skip all keys that begin so, or there would be no end. */
		if (strlen(key) + 2 > sizeof(a->from.s)) {
			a->from = key_after(key);
		} else if (size == 0 || size > FLK_NAME_MAX || key[base + size] == '\0') {
			go_on_after(a, key);
		} else if (!read_key(a, key, key + base, size)) {
			return false;
		}
	}
	return true;
}

static int
by_name(const void *x, const void *y)
{
	return strcmp(*(char *const *)x, *(char *const *)y);
}

static void
paged(void *context, const struct records_answer *reply)
{
	struct ask *a = context;
	struct fleet_answer answer = { .code = 0 };
	struct records_found page = records_found(reply, 0);

	if (!ask_went_well(a, reply))
		return;
	if (!read_page(a, page)) {
		ask_answer_code(a, -ENOMEM, NULL);
	} else if (page.n == PAGE) {
		names_ask(a);
	} else {
		/* The keys are ordered by name plus slash, which is not the order of the names. */
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
	struct key end = key_end(&a->fleet->store->base);
	struct txn *x = txn_new();
	struct txn_item *page = txn_get(x, a->from.s, end.s);

	page->keys_only = true;
	page->limit = PAGE;
	ask_txn(a, x, paged);
}
