/* SPDX-License-Identifier: ISC */
/*
 * keys.c - which key a taker is counted to in a fair limiter: its user, its session, or its word.
 */
#include "../helpers/common.h"
#include "../helpers/steer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "internal.h"

/* All bytes of a slot's key count: zeros are behind it. */
static bool
is_key(const struct flk_taker *t, const char *key)
{
	char all[FLK_KEY] = "";

	memcpy(all, key, strlen(key));
	return memcmp(taker_slot(t)->key, all, FLK_KEY) == 0;
}

/* The taker gets the limiter's only permit for this request, and with it this key. */
static void
gets(struct flk *f, struct flk_taker *t, const struct flk_request *want, const char *key,
     const char *words)
{
	int error = flk_acquire(t, want, NULL);
	struct flk_snapshot *s;

	if (error != 0 || (error = flk_snapshot(f, &s)) != 0)
		tap_bail("no permit: %s", flk_strerror(error));
	ok(strcmp(s->entry[0].key, key) == 0 && is_key(t, key), "%s: '%s'", words, s->entry[0].key);
	free(s);
}

static void
has(struct flk *f, const struct flk_request *want, const char *key, const char *words)
{
	struct flk_taker *t = taker(f);

	gets(f, t, want, key, words);
	flk_taker_free(t);
}

static void
test_keys(void)
{
	static char longest[FLK_KEY];
	const struct flk_request nothing = { .weight = 1 }, empty = { .key = "" },
				 a = { .key = "a", .session = 7 }, long_one = { .key = longest };
	char user[20], session[20];
	struct flk *f;

	f = fresh(1);
	snprintf(user, sizeof(user), "%u", (unsigned)geteuid());
	snprintf(session, sizeof(session), "%ld", (long)getsid(0));
	memset(longest, 'k', sizeof(longest) - 1);
	has(f, &a, "", "none, where it is not fair");
	is(steer_fair(f, FLK_FAIR_KEY), 0, "fair by words");
	has(f, &a, "a", "its word");
	has(f, &long_one, longest, "also the longest");
	has(f, &nothing, "-", "without one, that of all that have none");
	has(f, &empty, "-", "as if it is empty");
	is(steer_fair(f, FLK_FAIR_SESSION), 0, "fair by sessions");
	has(f, &a, "7", "its session");
	has(f, &nothing, session, "without one, the caller's");
	is(steer_fair(f, FLK_FAIR_USER), 0, "fair by users");
	has(f, &a, user, "its user");
	is(steer_fair(f, FLK_FAIR_OFF), 0, "not fair any more");
	has(f, &a, "", "none");
	whole(f, "in the end");
	flk_detach(f);
}

/*
 * A slot keeps the key of a taker that has left.  The operator who ends turns clears it; where `fair' has
 * changed in another way, as by a program that wrote into the file, the next taker in the slot clears it.
 */
static void
test_key_of_another(void)
{
	const struct flk_request a = { .key = "a" };
	struct flk *f = fresh(1);
	struct flk_taker *t = taker(f);

	steer_fair(f, FLK_FAIR_KEY);
	gets(f, t, &a, "a", "a taker in turn has its word");
	flk_release(t);
	ok(is_key(t, "a"), "which its slot keeps");
	is(flk_wait_idle(t, NULL), 0, "a taker in that slot waits until all have left");
	ok(is_key(t, "a"), "and leaves the key what it was given");
	f->file.h->fair = FLK_FAIR_OFF;
	gets(f, t, &a, "", "where turns are over, the next permit has none");
	flk_release(t);
	ok(is_key(t, ""), "nor its slot");
	flk_taker_free(t);
	whole(f, "in the end");
	flk_detach(f);
}

/* The line keeps the order that the turns gave it. */
static void
test_end_of_turns(void)
{
	const struct flk_request a = { .key = "a" }, b = { .key = "b" };
	struct flk *f = fresh(1);
	struct flk_taker *t[5];
	struct flk_snapshot *s;
	int i;

	for (i = 0; i < 5; i++)
		t[i] = taker(f);
	steer_fair(f, FLK_FAIR_KEY);
	is(flk_acquire(t[0], &a, NULL), 0, "one holds");
	for (i = 1; i < 4; i++)
		is(flk_enqueue(t[i], &b), -EINPROGRESS, "waiter %d of another key", i);
	steer_fair(f, FLK_FAIR_OFF);
	is(flk_enqueue(t[4], &a), -EINPROGRESS, "when turns are over, a newcomer");
	if (flk_snapshot(f, &s) != 0)
		tap_bail("no snapshot");
	ok(s->waiters == 4 && s->entry[4].ticket == 5, "stands at the end");
	free(s);
	for (i = 4; i >= 0; i--)
		flk_taker_free(t[i]);
	whole(f, "in the end");
	flk_detach(f);
}

int
main(void)
{
	begin();
	test_keys();
	test_key_of_another();
	test_end_of_turns();
	return tap_done();
}
