/* SPDX-License-Identifier: ISC */
/*
 * keys.h - the keys of a limiter.
 *
 * The limiter NAME below PATH is steered by the key PATH/NAME/cfg, and each of its other keys is
 * that key, two slashes and:
 *
 *	e/SELF	the operator that evicted that taker: struct person; on the lease of its life
 *	h/SELF	its permit: struct record
 *	w/SELF	its place in the line: struct record
 *	p/SELF	who it is, for people: struct person
 *	l/LIFE/LEASE
 *		the keeper with that name is alive; on that lease, of which it may leave one and take
 *		another.  A record names the life of its keeper.  Without any l/ a life is suspect,
 *		and so are its takers
 *	s/LIFE	since when the life is suspect: the first to see it writes the mark, and writes it
 *		again in the txn that writes t/; each txn that ends the suspicion deletes it.
 *		Permits and places are taken back by the revision of this mark
 *	t/LIFE	its grace is not over; on a lease of that length, which is granted after s/ was
 *		first written
 *	m/PLACE	a run that has ended, or what an operator has set: see run.h
 *	n/SEAT	how many permits that seat had, and how long they were waited for and held: see tally.h
 *	again	what the starts have used of the limiter's pace: see starts.h
 *	around	whose turn it is, if the limiter is fair: see turns.h
 *	at-rest	when a permit was last given back: there while the limiter has a ramp
 *	batch	the first of a long line: see batch.h
 *	bell	a taker has left, and has not looked since whether others may start
 *	tail	the SELF and the LIFE of the taker that came to the line last: the next one stands
 *		behind it, if anybody waits
 *
 * h/, w/ and p/ are on no lease, so no mistake of a server ends them, and no silence.  m/ and n/ are for
 * people: no transaction compares them, and they stay until the limiter is removed.
 *
 * Limiters nest: the path of one may be path and name of another.  Yet no key of one limiter is
 * ever a key of another, nor lies in a range of another's keys: a path has no two slashes in a row
 * (url_parse() refuses them), and a name has no slash.  So the first two slashes of a key end its
 * limiter's cfg, and the last slash before "/cfg" separates name from path.
 *
 * cfg, again, around and at-rest lie in one range, for one get; and with e/, h/ and l/ for one watch.  A
 * SELF is never used twice, nor is a LIFE.
 */
#ifndef KEYS_H
#define KEYS_H

#include <stdbool.h>
#include <stdint.h>

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
struct key key_limiter(const struct key *base, const char *limiter);

/* The same for a name that is `n' bytes long. */
struct key key_named(const struct key *base, const char *name, size_t n);

/* kind: 'e', 'h', 'l', ...; self: a taker's, or a life's, or as many digits; NULL for the prefix of all keys of that kind. */
struct key key_of(const struct key *limiter, char kind, const char *self);
/* l/ of that lease; and key_of() with 'l' is the prefix of all of that life. */
struct key key_life(const struct key *limiter, const char *life, int64_t lease);

/* Those of which a limiter has one each: key_tail(limiter), its word, and what key_parse() says. */
#define KEY_WORDS(X)               \
	X(again, "again", 'a')     \
	X(around, "around", 'o')   \
	X(at_rest, "at-rest", 'r') \
	X(batch, "batch", 'f')     \
	X(bell, "bell", 'b')       \
	X(tail, "tail", 'z')
#define KEY_FUNCTION(name, word, kind) struct key key_##name(const struct key *limiter);
KEY_WORDS(KEY_FUNCTION)

/* The prefix of the limiter's other keys. */
struct key key_parts(const struct key *limiter);

/* One past all keys with that prefix. */
struct key key_end(const struct key *prefix);

/* The same for any text, of which no more counts than a key has room for. */
struct key key_after(const char *text);

/* From cfg to what comes right after it: again, around and at-rest. */
void key_steering(const struct key *limiter, struct key *from, struct key *end);

/* From cfg to all of l/. */
void key_watched(const struct key *limiter, struct key *from, struct key *end);

/* From cfg to the last of the limiter's keys; keys of other limiters may lie between. */
void key_whole(const struct key *limiter, struct key *from, struct key *end);

/*
 * The kind of a key, and in `self' the taker or life that it belongs to; 'c' for cfg, '?' for a key that no
 * flocklimit writes.  0 for a key that does not belong to that limiter.
 */
char key_parse(const struct key *limiter, const char *key, char self[STORE_SELF]);

bool key_is_self(const char *text);

#endif
