/* SPDX-License-Identifier: ISC */
/*
 * txn.h - a transaction while it is put together: what must hold, what is done then, and what is done
 * otherwise.
 *
 * What is added belongs to the part that was begun last: first to `then'.  All is copied, so its user
 * checks nothing: a transaction that lacked memory once remembers that, and is not sent.
 */
#ifndef TXN_H
#define TXN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum txn_part { TXN_IF, TXN_THEN, TXN_OTHERWISE, TXN_PARTS };

enum txn_kind {
	/* TXN_IF: all that come before DO_GET */
	IF_ABSENT,  /* there is no such key, and none in the range */
	IF_CREATED, /* it was created at that revision */
	IF_CHANGED, /* it was changed last at that revision; 0: as IF_ABSENT */
	IF_NO_NEWS, /* no key in the range was changed after that revision */
	/* the others */
	DO_GET,
	DO_PUT,
	DO_DELETE
};

struct txn_item {
	enum txn_part part;
	enum txn_kind kind;
	char *key, *end;  /* end: NULL for one key */
	int64_t revision; /* TXN_IF */
	char *value;      /* DO_PUT */
	size_t size;
	int64_t lease; /* DO_PUT; 0: none */

	/* DO_GET */
	bool keys_only;
	bool oldest_first;     /* by the revisions at which they were created; else by their keys */
	uint32_t limit;        /* 0: all */
	int64_t newest_before; /* only the one that was created last before that revision; 0: all */
};

struct txn {
	struct txn_item *item; /* in the order in which they were added */
	size_t n, room;
	enum txn_part part; /* TXN_THEN or TXN_OTHERWISE */
	bool failed;        /* no memory */
};

struct txn *txn_new(void); /* NULL for want of memory: all below take that, too */
void txn_free(struct txn *x);

void txn_if_absent(struct txn *x, const char *key, const char *end);
void txn_if_created(struct txn *x, const char *key, int64_t revision);
void txn_if_changed(struct txn *x, const char *key, int64_t revision);
void txn_if_no_news(struct txn *x, const char *key, const char *end, int64_t revision);

void txn_otherwise(struct txn *x); /* what is added from here on is done if not all held */

/* A get returns itself, for more to be said about it; it is never NULL. */
struct txn_item *txn_get(struct txn *x, const char *key, const char *end);
void txn_put(struct txn *x, const char *key, const char *value, size_t size, int64_t lease);
void txn_delete(struct txn *x, const char *key, const char *end);

#endif
