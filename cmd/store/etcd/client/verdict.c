/* SPDX-License-Identifier: ISC */
#include "client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOREIGN "it is not etcd 3.4 or newer"

#define UNIMPLEMENTED 12 /* as gRPC's status */

/* For each of the server's sentences (the same from 3.4 on), a piece that no other sentence has. */
static const struct {
	const char *piece;
	enum records_result result;
	enum unlicensed license;
	const char *words; /* NULL: the server's */
} sentences[] = {
	{ "requested lease not found", RECORDS_NOLEASE, LICENSED, NULL },
	{ "lease already exists", RECORDS_EXISTS, LICENSED, NULL },
	{ "invalid auth token", RECORDS_WRONG, BAD_TOKEN,
	  "the token is not valid, or not valid any more: give a new one, or a user and "
	  "password" },
	{ "auth store is old", RECORDS_AWAY, BAD_TOKEN, "rights were changed meanwhile" },
	{ "user name is empty", RECORDS_WRONG, BAD_TOKEN,
	  "it requires a user: give user= and password-file=, or token-file=, or "
	  "$FLOCKLIMIT_STORE_USER and $FLOCKLIMIT_STORE_PASSWORD" },
	{ "invalid user ID or password", RECORDS_WRONG, BAD_PASSWORD,
	  "user or password is wrong: look at user= and password-file=, or at "
	  "$FLOCKLIMIT_STORE_USER and $FLOCKLIMIT_STORE_PASSWORD" },
	{ "authentication is not enabled", RECORDS_WRONG, NO_AUTH, NULL },
	{ "database space exceeded", RECORDS_AWAY, LICENSED,
	  "its disk quota is used up: etcdctl alarm list" },
	/* From a server that lost the others, or is about to. */
	{ "no leader", RECORDS_AWAY, LICENSED, NULL },
	{ "leader changed", RECORDS_AWAY, LICENSED, NULL },
	{ "request timed out", RECORDS_AWAY, LICENSED, NULL },
	{ "too many requests", RECORDS_AWAY, LICENSED, NULL },
	/* From etcd 3.2, of a transaction within another: see request.c. */
	{ "etcdserver: key not found", RECORDS_WRONG, LICENSED, FOREIGN },
	/* From libraries of gRPC, which have one status for this and for want of resources. */
	{ "larger than max", RECORDS_WRONG, LICENSED, NULL },
};

/* What a server sends may end up on a terminal. */
static void
tame(char *text)
{
	for (; *text != '\0'; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			*text = '?';
}

static void
denied(struct verdict *v, const struct records *r, const char *key)
{
	const char *user = r->secret.token == NULL ? r->secret.user : NULL;
	const char *whose = user != NULL ? "user "
			    : r->secret.token != NULL || r->secret.cert == NULL
				? "the token's user"
				: "the user of cert=";

	v->result = RECORDS_DENIED;
	snprintf(v->words, sizeof(v->words),
		 "%s%.40s has no rights on %.80s: give its role readwrite on all keys that begin "
		 "with %.60s (etcdctl role grant-permission ROLE readwrite --prefix %.60s)",
		 whose, user != NULL ? user : "", key != NULL ? key : r->prefix, r->prefix,
		 r->prefix);
	tame(v->words);
}

static void
say(struct verdict *v, enum records_result result, const char *words, const char *detail)
{
	v->result = result;
	snprintf(v->words, sizeof(v->words), "%s%s%.200s", words, *detail != '\0' ? ": " : "",
		 detail);
	tame(v->words);
}

/* Whether it may be better soon. */
static bool
is_passing(int status)
{
	/* gRPC's: cancelled, unknown, deadline, resources exhausted, internal, unavailable, data loss */
	static const int passing[] = { 1, 2, 4, 8, 13, 14, 15 };
	size_t i;

	for (i = 0; i < sizeof(passing) / sizeof(passing[0]); i++)
		if (passing[i] == status)
			return true;
	return false;
}

void
verdict_of_message(struct verdict *v, const struct records *r, bool passing, const char *message,
		   const char *key)
{
	size_t i;

	v->license = LICENSED;
	if (strstr(message, "permission denied") != NULL) {
		denied(v, r, key);
		return;
	}
	for (i = 0; i < sizeof(sentences) / sizeof(sentences[0]); i++) {
		if (strstr(message, sentences[i].piece) == NULL)
			continue;
		v->license = sentences[i].license;
		if (sentences[i].words != NULL)
			say(v, sentences[i].result, sentences[i].words, "");
		else
			say(v, sentences[i].result, "it says", message);
		return;
	}
	say(v, passing ? RECORDS_AWAY : RECORDS_WRONG, passing ? "it says" : "it refuses", message);
}

/* An answer that is not etcd's: perhaps from a proxy in front of it, while etcd is away; or for good. */
void
verdict_of_stranger(struct verdict *v, const struct records *r, const char *did)
{
	char words[120];

	snprintf(words, sizeof(words), FOREIGN " (%.80s)", did);
	v->license = LICENSED;
	if (r->sound)
		say(v, RECORDS_AWAY, "its answer is not that of etcd", did);
	else
		say(v, RECORDS_WRONG, words, "");
}

/* HTTP's status says all there is, as there is none of gRPC. */
static void
foreign(struct verdict *v, const struct records *r, int status)
{
	char answer[40];

	snprintf(answer, sizeof(answer), "HTTP status %d", status);
	verdict_of_stranger(v, r, answer);
	if (status >= 500 || status == 429 || status == 408)
		say(v, RECORDS_AWAY, "its answer is not that of etcd", answer);
	if (status == 401) {
		v->license = BAD_TOKEN;
		say(v, RECORDS_WRONG, "it does not let us in (HTTP status 401)", "");
	}
}

/* Of a character that HTTP's headers can't have, gRPC writes a percent sign and two digits. */
static void
decode(char *text)
{
	char *to = text;

	for (; *text != '\0'; text++) {
		unsigned byte;

		if (*text == '%' && sscanf(text + 1, "%2x", &byte) == 1 && text[2] != '\0') {
			*to++ = byte != 0 ? (char)byte : '?';
			text += 2;
		} else {
			*to++ = *text;
		}
	}
	*to = '\0';
}

void
verdict_of_end(struct verdict *v, struct records *r, struct exchange *x, const char *key)
{
	struct h2_stream *s = &x->stream;

	memset(v, 0, sizeof(*v));
	if (s->trouble.kind != FINE) {
		verdict_of_trouble(v, r, x->at, s->trouble);
	} else if (s->status == -1) {
		foreign(v, r, s->http);
	} else if (s->status == UNIMPLEMENTED) {
		verdict_of_stranger(v, r, "it does not know that call");
	} else if (s->status != 0) {
		decode(s->message);
		verdict_of_message(v, r, is_passing(s->status), s->message, key);
	}
}

void
verdict_of_answer(struct verdict *v, struct records *r, struct exchange *x, const char *key,
		  enum answer_kind kind, struct answer *a)
{
	uint8_t *bytes;
	size_t size;

	verdict_of_end(v, r, x, key);
	if (v->result != RECORDS_OK)
		return;
	bytes = h2_take(&x->stream, &size);
	if (bytes == NULL || !answer_read(a, kind, bytes, size))
		verdict_of_stranger(v, r, NONSENSE);
}

/* ---- no answer ---- */

/* What may be behind a connection that broke before the server ever answered. */
static const char *
hint_of(const struct records *r)
{
	if (!r->tls)
		return " (does it want TLS? then: etcd+https://)";
	if (r->secret.cert != NULL)
		return " (does it trust the certificate of cert=? does it speak TLS? if not: "
		       "etcd://)";
	return " (does it want a client's certificate? then: cert= and key=; does it speak TLS? "
	       "if not: etcd://)";
}

/*
 * Does it speak the other protocol: TLS where the URL says etcd://, or plain HTTP/2 where it says
 * etcd+https://?
 *
 * etcd closes such a connection without a word, and so does a server that is about to end.  The two
 * differ in one thing: the wrong protocol's endpoint answers in the other protocol.  So if a
 * connection broke and no server has answered this client yet, the client connects to the same endpoint
 * by the other protocol, and has the answer at the next failure.  Only an answer is evidence.  The
 * client sends no request there, and no secret.
 */
static bool
speaks_other(struct records *r, struct endpoint *at)
{
	struct h2_where where = { at->name, at->host, at->port, at->addresses, !r->tls };

	if (at->probe != NULL && h2_answered(at->probe))
		return true;
	if (at->probe != NULL && h2_usable(at->probe)) /* it is under way */
		return false;
	if (at->probe != NULL)
		h2_leave(at->probe);
	at->probe = h2_connect(r->h2, &where);
	return false;
}

void
verdict_of_trouble(struct verdict *v, struct records *r, struct endpoint *at,
		   struct trouble trouble)
{
	const char *hint = "";

	if (trouble.kind == BROKEN && !r->sound) {
		if (speaks_other(r, at))
			trouble = (struct trouble){ WRONG, r->tls ? NO_TLS : TLS_ONLY };
		else
			hint = hint_of(r);
	}
	v->result = trouble.kind == WRONG && !r->sound ? RECORDS_WRONG : RECORDS_AWAY;
	v->license = LICENSED;
	snprintf(v->words, sizeof(v->words), "%s%s", trouble.words, hint);
}
