/*
 * keys.h - how the keys of a limiter are called: BASE/NAME/ and then
 *
 *	cfg	how it is steered: struct config (record.h)
 *	e/SELF	who put that taker out: struct culprit; on its lease
 *	h/SELF	its permit: struct record; on no lease, so that no mistake of a server ends it.
 *		Written once, by the grant, and then only deleted
 *	l/SELF	that it is alive; on its lease.  With h/ and without l/ it is suspect
 *	s/SELF	since when it is suspect: written by whoever sees it first, again in the txn that
 *		writes t/, and deleted by all that ends that.  Its revision is what a permit is taken
 *		back by
 *	t/SELF	that its grace is not over; on a lease of that length, which is had after s/ was
 *		written first
 *	w/SELF	its place in the line: struct record; on its lease
 *	tail	the SELF that came into the line last, on its lease: whoever comes next stands behind
 *		that one, if it still waits
 *
 * cfg, e/, h/ and l/ lie in one range, [c, m), for one watch.  A SELF is never used twice.
 */
#ifndef KEYS_H
#define KEYS_H

#include <stdbool.h>

#include "url.h"
#include "view.h"

#define KEY_MAX 1200 /* a path of an URL and a name, both at their longest */

struct key {
	char s[KEY_MAX];
};

#define KEY_DEFAULT_PATH "/flocklimit"

/* "/team/": what all limiters of that URL begin with. */
struct key key_base(const struct url *url);

/* "/team/build/" */
struct key key_limiter(const struct url *url, const char *limiter);

/* kind: 'e', 'h', 'l', 's', 't', 'w'; self: NULL for what all of that kind begin with. */
struct key key_of(const struct key *limiter, char kind, const char *self);
struct key key_cfg(const struct key *limiter);
struct key key_tail(const struct key *limiter);

/* One past all keys that begin so. */
struct key key_end(const struct key *prefix);

/* [c, m) */
void key_watched(const struct key *limiter, struct key *from, struct key *end);

/*
 * What a key below that limiter is: its kind, and whose; 'c' for cfg, 'z' for tail.  0 for anything that is not
 * one of ours.
 */
char key_parse(const struct key *limiter, const char *key, char self[STORE_SELF]);

bool key_is_self(const char *text);

#endif
