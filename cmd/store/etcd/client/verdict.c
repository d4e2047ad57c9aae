/* SPDX-License-Identifier: ISC */
#include "verdict.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "etcd/body/base64.h"
#include "etcd/http/trouble.h"

/* For each of the server's sentences (the same from 3.4 on), a piece that no other sentence has. */
static const struct {
	const char *piece;
	enum etcd_result result;
	enum unlicensed license;
	const char *words; /* NULL: the server's */
} sentences[] = {
	{ "requested lease not found", ETCD_NOLEASE, LICENSED, NULL },
	{ "lease already exists", ETCD_EXISTS, LICENSED, NULL },
	{ "invalid auth token", ETCD_WRONG, BAD_TOKEN,
	  "the token is not valid, or not valid any more: give a new one, or a user and "
	  "password" },
	{ "auth store is old", ETCD_AWAY, BAD_TOKEN, "rights were changed meanwhile" },
	{ "user name is empty", ETCD_WRONG, BAD_TOKEN,
	  "it requires a user: give user= and password-file=, or token-file=, or "
	  "$FLOCKLIMIT_STORE_USER and $FLOCKLIMIT_STORE_PASSWORD" },
	{ "invalid user ID or password", ETCD_WRONG, BAD_PASSWORD,
	  "user or password is wrong: look at user= and password-file=, or at "
	  "$FLOCKLIMIT_STORE_USER and $FLOCKLIMIT_STORE_PASSWORD" },
	{ "authentication is not enabled", ETCD_WRONG, NO_AUTH, NULL },
	{ "database space exceeded", ETCD_AWAY, LICENSED,
	  "its disk quota is used up: etcdctl alarm list" },
	{ "HTTP request to an HTTPS server", ETCD_WRONG, LICENSED, TLS_ONLY },
	/* From a server that lost the others, or is about to. */
	{ "no leader", ETCD_AWAY, LICENSED, NULL },
	{ "leader changed", ETCD_AWAY, LICENSED, NULL },
	{ "request timed out", ETCD_AWAY, LICENSED, NULL },
	{ "too many requests", ETCD_AWAY, LICENSED, NULL },
};

#define FOREIGN "it is not etcd 3.4 or newer"

/* The first key of the request, decoded; NULL if there is none.  We made the request. */
static char *
first_key(const struct asked *asked)
{
	static const char name[] = "\"key\":\"";
	const char *at = asked == NULL || asked->body == NULL ? NULL : strstr(asked->body, name);
	char *text, *key = NULL;
	size_t size;

	if (at == NULL)
		return NULL;
	at += sizeof(name) - 1;
	text = strndup(at, strcspn(at, "\""));
	if (text != NULL)
		key = malloc(strlen(text) + 1);
	if (key != NULL && !base64_decode(key, &size, text)) {
		free(key);
		key = NULL;
	}
	free(text);
	return key;
}

/* What a server sends may end up on a terminal. */
static void
tame(char *text)
{
	for (; *text != '\0'; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			*text = '?';
}

static void
denied(struct verdict *v, const struct etcd *e, const struct asked *asked)
{
	char *key = first_key(asked);
	const char *user = e->secret.token == NULL ? e->secret.user : NULL;

	v->result = ETCD_DENIED;
	snprintf(v->words, sizeof(v->words),
		 "%s%.40s has no rights on %.80s: give its role readwrite on all keys that begin "
		 "with %.60s (etcdctl role grant-permission ROLE readwrite --prefix %.60s)",
		 user != NULL ? "user " : "the token's user", user != NULL ? user : "",
		 key != NULL ? key : e->prefix, e->prefix, e->prefix);
	tame(v->words);
	free(key);
}

static void
say(struct verdict *v, enum etcd_result result, const char *words, const char *detail)
{
	v->result = result;
	snprintf(v->words, sizeof(v->words), "%s%s%.200s", words, *detail != '\0' ? ": " : "",
		 detail);
	tame(v->words);
}

void
verdict_of_message(struct verdict *v, const struct etcd *e, long status, const char *message,
		   const struct asked *asked)
{
	size_t i;

	v->license = LICENSED;
	if (strstr(message, "permission denied") != NULL) {
		denied(v, e, asked);
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
	if (status >= 500 || status == 429 || status == 408 || status == 200)
		say(v, ETCD_AWAY, "it says", message);
	else
		say(v, ETCD_WRONG, "it refuses", message);
}

const char *
verdict_message(const json_t *body)
{
	const json_t *error = json_object_get(body, "error");
	const char *message = json_string_value(json_object_get(body, "message"));

	if (message == NULL)
		message = json_string_value(error);
	if (message == NULL)
		message = json_string_value(json_object_get(error, "message"));
	return message;
}

/* An answer that is not etcd's: perhaps from a proxy in front of it, while etcd is away; or for good. */
static void
foreign(struct verdict *v, const struct etcd *e, long status)
{
	bool tls = endpoint_has_tls(&e->endpoint[0]);
	char answer[80], words[120];

	snprintf(answer, sizeof(answer), "HTTP status %ld%s", status,
		 status == 400 && !tls ? "; does it want TLS? then: etcd+https://" : "");
	snprintf(words, sizeof(words), FOREIGN " (%s)", answer);
	if (status >= 500 || status == 429 || status == 408 || e->sound)
		say(v, ETCD_AWAY, "its answer is not that of etcd", answer);
	else
		say(v, ETCD_WRONG, words, "");
	if (status == 401) {
		v->license = BAD_TOKEN;
		say(v, ETCD_WRONG, "it does not let us in (HTTP status 401)", "");
	}
}

void
verdict_of(struct verdict *v, struct etcd *e, long status, const json_t *body,
	   const struct asked *asked)
{
	const char *message = verdict_message(body);

	memset(v, 0, sizeof(*v));
	if (status == 200 && json_is_object(json_object_get(body, "header"))) {
		e->sound = true;
		return;
	}
	if (message == NULL || strcmp(message, "Not Found") == 0) {
		foreign(v, e, status);
		return;
	}
	verdict_of_message(v, e, status, message, asked);
}

/* ---- no answer ---- */

/*
 * What may be behind a connection that broke before the server ever answered.  Under TLS 1.3 the
 * server reads the client's certificate only after the client may write.  If it refuses the
 * certificate, it sends an alert and resets the connection, and libcurl's write may fail by the
 * reset before libcurl has read the alert.
 */
static const char *
hint_of(const struct etcd *e)
{
	if (!endpoint_has_tls(&e->endpoint[0]))
		return " (does it want TLS? then: etcd+https://)";
	if (e->secret.cert != NULL)
		return " (does it trust the certificate of cert=? does it speak TLS? if not: "
		       "etcd://)";
	return " (does it want a client's certificate? then: cert= and key=; does it speak TLS? "
	       "if not: etcd://)";
}

void
verdict_of_trouble(struct verdict *v, struct etcd *e, struct endpoint *at,
		   enum http_trouble trouble, const char *why)
{
	const char *hint = "";

	if (trouble == HTTP_BROKEN && !e->sound) {
		if (at->other) {
			trouble = HTTP_WRONG;
			why = endpoint_has_tls(at) ? NO_TLS : TLS_ONLY;
		} else {
			hint = hint_of(e);
			probe_begin(e, at);
		}
	}
	v->result = trouble == HTTP_WRONG && !e->sound ? ETCD_WRONG : ETCD_AWAY;
	v->license = LICENSED;
	snprintf(v->words, sizeof(v->words), "%s%s", why, hint);
}
