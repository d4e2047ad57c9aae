/* SPDX-License-Identifier: ISC */
/*
 * etcd.h - a client of etcd's JSON gateway (v3), over libcurl: calls that are answered once, and
 * watches.  One thread; see engine.h for how it is driven.  It knows nothing of limiters.  Its user
 * ignores SIGPIPE: some versions of libcurl raise it over TLS.
 *
 * A call is tried once, at one endpoint.  After a failure the next call goes to the next endpoint,
 * and every watch begins again there by itself.  The URL's first endpoint comes first.
 *
 * A call that was sent and got no answer may have been done: the caller must find out.  But a
 * call that was refused for want of a valid token was not done, so the client repeats it when it
 * has a new token.
 */
#ifndef ETCD_H
#define ETCD_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "records/url.h"

struct etcd;
struct etcd_call;
struct etcd_watch;

enum etcd_result {
	ETCD_OK,
	ETCD_AWAY,    /* no answer, or none that helps: refused, timed out, 5xx, no leader, ... */
	ETCD_NOLEASE, /* 404: lease not found */
	ETCD_EXISTS,  /* 412: that lease id is in use */
	ETCD_DENIED,  /* no rights: text says on which key, if known */
	ETCD_WRONG    /* waiting does not help: certificate, user, password, version, ... */
};

struct etcd_reply {
	enum etcd_result result;
	const json_t *body; /* if ETCD_OK; never NULL then; of a stream's answer
			       (lease/keepalive), what is in its "result" */
	int64_t revision;   /* of the header; 0 if none */
	uint64_t sent_ns;   /* CLOCK_BOOTTIME: before the call was sent, for the last time */
	const char *text; /* a sentence, if not ETCD_OK: "etcd.example:2379: connection refused" */
};

typedef void etcd_done(void *context, const struct etcd_reply *reply);

/*
 * 0, or a negative code and why: of the URL, of a file it names.  Resolves names of hosts, which
 * may block for two seconds; resolves them again, without blocking, when all endpoints have failed,
 * pausing for at most pause_ms between two of these look-ups.
 */
int etcd_new(struct etcd **etcd, const struct url *url, unsigned pause_ms, char *why, size_t size);

/*
 * Frees its calls and watches, too, and calls none of their functions; never call it from within
 * etcd_step().
 */
void etcd_free(struct etcd *e);

int etcd_fd(const struct etcd *e);
uint64_t etcd_due(const struct etcd *e);
void etcd_step(struct etcd *e);

/*
 * POSTs to a path such as "/v3/kv/txn"; takes the body over.  etcd_step() calls done() once, unless
 * the call is cancelled.  timeout_ms: for the whole call.  NULL only for want of memory.
 */
struct etcd_call *etcd_call(struct etcd *e, const char *path, json_t *body, unsigned timeout_ms,
			    etcd_done *done, void *context);
void etcd_cancel(struct etcd_call *call); /* not after done() began: then it ends by itself */

/* ---- watches ------------------------------------------------------------------------------- */

struct etcd_range {
	const char *key, *end; /* end: NULL for one key */
	bool no_put, no_delete;
};

struct etcd_change {
	bool deleted;
	const char *key;
	size_t key_size;
	const char *value; /* if put; ends with a NUL beyond its size */
	size_t value_size;
	int64_t create_revision, mod_revision, lease;
};

enum etcd_watch_kind {
	ETCD_BEGUN, /* nothing is missed from its revision on; after an interruption, too */
	ETCD_CHANGE,
	ETCD_COMPACTED, /* etcd has forgotten what happened since: look, and watch again; it has ended */
	ETCD_FAILED /* it has ended: text says why (no rights, ...) */
};

struct etcd_news {
	enum etcd_watch_kind kind;
	const struct etcd_change *change;
	const char *text;
	int64_t revision; /* ETCD_BEGUN of a watch from 0: where all its ranges begin; else 0 */
};

typedef void etcd_hears(void *context, const struct etcd_news *news);

#define ETCD_RANGES 8

/*
 * Reports all changes of up to 8 ranges from that revision on (0: from now on), each once.  They
 * come in the order of their revisions within a range; of two ranges, one may be behind the other
 * while it catches up.  Ranges do not overlap.  The watch moves to another endpoint by itself, and
 * continues there where each of its ranges was.  After ETCD_COMPACTED and ETCD_FAILED the caller
 * must still call etcd_unwatch(), from within hears() or at any other time.  NULL only for want of
 * memory.
 */
struct etcd_watch *etcd_watch(struct etcd *e, const struct etcd_range *range, size_t ranges,
			      int64_t from_revision, etcd_hears *hears, void *context);
void etcd_unwatch(struct etcd_watch *w);

/* ---- pieces of bodies and replies; only their insides are in base64 ---- */

json_t *etcd_string(const char *bytes, size_t size);          /* in base64 */
json_t *etcd_number(int64_t n);                               /* int64 are strings in that JSON */
int64_t etcd_integer(const json_t *object, const char *name); /* 0 if absent */

/* One key and value; etcd_kvs_free() frees all of a range's reply. */
struct etcd_kv {
	char *key, *value; /* both end with a NUL beyond their sizes */
	size_t key_size, value_size;
	int64_t create_revision, mod_revision, lease;
};

/* False: it makes no sense, and there is nothing to free. */
bool etcd_kv_read(struct etcd_kv *kv, const json_t *object);

/*
 * The kvs of a range response (of a reply, or inside a txn's): how many, or -1 if they make no
 * sense (as of NULL), or for want of memory.
 */
long etcd_kvs(const json_t *range_response, struct etcd_kv **kvs);
void etcd_kvs_free(struct etcd_kv *kvs, long n);

/* Operations and compares for a txn's body. */
json_t *etcd_get(const char *key, const char *end, bool keys_only, int64_t limit);
json_t *etcd_put(const char *key, const char *value, int64_t lease);
json_t *etcd_delete(const char *key, const char *end);
json_t *etcd_if_absent(const char *key, const char *end);   /* CREATE = 0 */
json_t *etcd_if_created(const char *key, int64_t revision); /* CREATE = revision */
json_t *etcd_if_mod(const char *key, int64_t revision);     /* MOD = revision */
json_t *etcd_if_no_news(const char *key, const char *end,
			int64_t revision); /* MOD < revision + 1 */

/* The whole body; takes its arrays over, any of which may be NULL. */
json_t *etcd_txn(json_t *compares, json_t *then, json_t *otherwise);

/* Whether the txn's compares held; and the n-th response of what was done (a range's), or NULL. */
bool etcd_succeeded(const json_t *txn_body);
const json_t *etcd_response_range(const json_t *txn_body, size_t n);

#endif
