/* SPDX-License-Identifier: ISC */
/*
 * keys.h - the keys of a limiter.
 *
 * The limiter NAME below PATH is steered by the key PATH/NAME/cfg, and each of its other keys is
 * that key, two slashes and:
 *
 *	e/SELF	the operator that evicted that taker: struct culprit; on the taker's lease
 *	h/SELF	its permit: struct record; on no lease, so that no mistake of a server ends it.
 *		The grant writes it once; after that it is only deleted
 *	l/SELF	the taker is alive; on its lease.  With h/ and without l/ it is suspect
 *	s/SELF	since when the taker is suspect: the first to see it writes the mark, and writes it
 *		again in the txn that writes t/; each txn that ends the suspicion deletes it.
 *		A permit is taken back by the revision of this mark
 *	t/SELF	its grace is not over; on a lease of that length, which is granted after s/ was
 *		first written
 *	w/SELF	its place in the line: struct record; on its lease
 *	x/SELF	how its command ended, for people that follow: put by its release, on its lease, so
 *		that it goes a moment later; may be absent
 *	tail	the SELF of the taker that was the last to enter the line, on its lease: the next
 *		taker stands behind it, if it still waits
 *
 * Limiters nest: the path of one may be path and name of another.  Yet no key of one limiter is
 * ever a key of another, nor lies in a range of another's keys: a path has no two slashes in a row
 * (url_parse() refuses them), and a name has no slash.  So the first two slashes of a key end its
 * limiter's cfg, and the last slash before "/cfg" separates name from path.
 *
 * cfg, e/, h/ and l/ lie in one range, for one watch.  A SELF is never used twice.
 */
#ifndef KEYS_H
#define KEYS_H

#include <stdbool.h>

#include "protocol/fleet.h"
#include "records/url.h"
#include "protocol/view.h"

#define KEY_MAX      FLEET_KEY
#define KEY_PATH_MAX 400 /* bytes of a URL's path; leaves room for the rest of a key */

struct key {
	char s[KEY_MAX];
};

/* "/team/": the limiters of that URL begin with it. */
struct key key_base(const struct url *url);

/* "/team/build/cfg": the limiter's key, which steers it. */
struct key key_limiter(const struct url *url, const char *limiter);

/* The same for a name that is `n' bytes long. */
struct key key_named(const struct key *base, const char *name, size_t n);

/* kind: 'e', 'h', 'l', 's', 't', 'w', 'x'; self: NULL for the prefix of all keys of that kind. */
struct key key_of(const struct key *limiter, char kind, const char *self);
struct key key_tail(const struct key *limiter);

/* The prefix of the limiter's other keys. */
struct key key_parts(const struct key *limiter);

/* One past all keys with that prefix. */
struct key key_end(const struct key *prefix);

/* The same for any text, of which no more counts than a key has room for. */
struct key key_after(const char *text);

/* From cfg to all of l/. */
void key_watched(const struct key *limiter, struct key *from, struct key *end);

/* From cfg to the last of the limiter's keys; keys of other limiters may lie between. */
void key_whole(const struct key *limiter, struct key *from, struct key *end);

/*
 * The kind of a key, and in `self' the taker that it belongs to; 'c' for cfg, 'z' for tail, '?' for
 * a key that no flocklimit writes.  0 for a key that does not belong to that limiter.
 */
char key_parse(const struct key *limiter, const char *key, char self[STORE_SELF]);

bool key_is_self(const char *text);

#endif
