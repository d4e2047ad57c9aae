/* SPDX-License-Identifier: ISC */
/*
 * token.c - the token that authorises calls and watches: a ready one; or one that etcd gives for a
 * user and password, which costs etcd some 50 ms of work, so the client asks for one only when it
 * needs it, once for all calls and watches that wait.  It does not try a refused password again
 * before the file has another one or, as somebody may correct it in etcd, a while has passed.
 *
 *   NEEDLESS -> WANTED   [token_refused]   etcd does not know us, and we have user and password
 *   WANTED   -> ASKED    [token_ready]     a call or watch wants to be sent
 *   ASKED    -> HELD     [answered]
 *   ASKED    -> WANTED   [answered]        no answer, or refused: the calls that waited fail
 *   ASKED    -> ASKED    [answered]        refused, and the file has another password
 *   ASKED    -> NEEDLESS [answered]        the server wants none
 *   HELD     -> WANTED   [token_refused]   token_ready() asks for the next one
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client.h"
#include "records/retry.h"
#include "verdict.h"

#define ASK_MS   5000
#define BAR_NS   (2000 * MS) /* after the first refusal of a password, doubled by each */
#define BAR_MOST (60000 * MS)

enum state { NEEDLESS, WANTED, ASKED, HELD };

struct token {
	enum state state;
	bool begun;       /* token_ready() has derived the state from the secrets */
	char *text;       /* if HELD, and not a ready one */
	uint64_t number;  /* of the token in use */
	struct post post; /* if ASKED */
	struct etcd *etcd;
	token_settled *settled; /* its callees may ask for a token again */
	struct endpoint *at;    /* which endpoint was asked */
	uint64_t turn;
	uint64_t bar; /* not 0: the password was refused; pause about this long, until: */
	uint64_t barred_until;
	char why[CLIENT_TEXT];
};

struct token *
token_new(token_settled *settled)
{
	struct token *t = calloc(1, sizeof(*t));

	if (t != NULL)
		t->settled = settled;
	return t;
}

static void
forget(struct token *t)
{
	if (t->text != NULL)
		explicit_bzero(t->text, strlen(t->text));
	free(t->text);
	t->text = NULL;
}

static void
drop(struct token *t)
{
	if (t->post.body != NULL)
		explicit_bzero(t->post.body, t->post.size);
	if (t->post.answer != NULL)
		explicit_bzero(t->post.answer, t->post.length);
	free(t->post.url);
	http_drop(&t->post);
}

void
token_free(struct token *t)
{
	if (t == NULL)
		return;
	drop(t);
	forget(t);
	free(t);
}

static void
hold(struct token *t, const char *text)
{
	forget(t);
	t->text = strdup(text);
	t->state = t->text != NULL ? HELD : WANTED;
	t->number++;
}

static bool ask(struct etcd *e);

/* All takers' passwords are refused at the same moment: each retries at a time of its own. */
static void
bar(struct token *t)
{
	t->bar = t->bar == 0 ? BAR_NS : t->bar * 2 < BAR_MOST ? t->bar * 2 : BAR_MOST;
	t->barred_until = flki_boottime_ns() + retry_spread(t->bar);
}

/* True: the client asks again with the password that the file has by now. */
static bool
asked_anew(struct etcd *e, struct verdict *v)
{
	struct token *t = e->token;

	if (secret_password_changed(&e->secret, v->words, sizeof(v->words))) {
		drop(t);
		if (ask(e)) {
			t->state = ASKED;
			return true;
		}
	}
	bar(t);
	client_text(t->why, t->at, v->words);
	token_hope(e, v);
	return false;
}

static void
answered(struct post *p, enum http_trouble trouble, const char *why)
{
	struct token *t = p->owner;
	struct etcd *e = t->etcd;
	json_t *body = NULL;
	const char *text = NULL;
	char words[CLIENT_TEXT] = "";
	struct verdict v = { ETCD_AWAY, LICENSED, "" };

	t->state = WANTED;
	if (trouble != HTTP_FINE) {
		verdict_of_trouble(&v, e, t->at, trouble, why);
	} else {
		body = json_loadb(p->answer != NULL ? p->answer : "", p->length, 0, NULL);
		verdict_of(&v, e, p->status, body, NULL);
		text = json_string_value(json_object_get(body, "token"));
	}
	if (v.license == BAD_PASSWORD && asked_anew(e, &v)) {
		json_decref(body);
		return;
	}
	if (v.license == NO_AUTH) {
		t->state = NEEDLESS;
		t->number++;
		v.result = ETCD_OK;
	} else if (v.result == ETCD_OK && text == NULL) {
		v.result = ETCD_AWAY;
		snprintf(v.words, sizeof(v.words), "its answer makes no sense: it has no token");
	} else if (v.result == ETCD_OK) {
		hold(t, text);
		t->bar = 0;
	}
	client_text(words, t->at, v.words);
	json_decref(body);
	drop(t);
	if (v.result == ETCD_AWAY && v.license != BAD_PASSWORD)
		client_turn(e, t->turn);
	t->settled(e, v.result, words);
}

/* False for want of memory. */
static bool
ask(struct etcd *e)
{
	struct token *t = e->token;
	json_t *body =
	    json_pack("{s:s,s:s}", "name", e->secret.user, "password", e->secret.password);

	memset(&t->post, 0, sizeof(t->post));
	t->etcd = e;
	t->at = client_endpoint(e);
	t->turn = e->turn;
	t->post.body = body == NULL ? NULL : json_dumps(body, JSON_COMPACT);
	json_decref(body);
	if (t->post.body == NULL || !client_aim(e, &t->post, "/v3/auth/authenticate"))
		return false;
	t->post.size = strlen(t->post.body);
	t->post.timeout_ms = ASK_MS;
	t->post.most = 65536;
	t->post.ended = answered;
	t->post.owner = t;
	return http_post(e->http, &t->post);
}

bool
token_barred(struct etcd *e, const char **why)
{
	struct token *t = e->token;

	if (t->state != WANTED || t->bar == 0 || flki_boottime_ns() >= t->barred_until)
		return false;
	if (secret_password_changed(&e->secret, t->why, sizeof(t->why))) {
		t->barred_until = 0;
		return false;
	}
	*why = t->why;
	return true;
}

void
token_hope(const struct etcd *e, struct verdict *v)
{
	if (v->license != LICENSED && v->result == ETCD_WRONG && e->sound &&
	    secret_may_change(&e->secret))
		v->result = ETCD_AWAY;
}

bool
token_ready(struct etcd *e)
{
	struct token *t = e->token;

	if (!t->begun) {
		t->begun = true;
		if (e->secret.token != NULL)
			t->state = HELD;
		else if (e->secret.user != NULL && e->secret.password != NULL)
			t->state = WANTED;
	}
	if (t->state == WANTED) {
		if (ask(e))
			t->state = ASKED;
		else
			drop(t);
	}
	return t->state == NEEDLESS || t->state == HELD;
}

const char *
token_now(const struct etcd *e)
{
	if (e->token->state != HELD)
		return NULL;
	return e->token->text != NULL ? e->token->text : e->secret.token;
}

uint64_t
token_number(const struct etcd *e)
{
	return e->token->number;
}

bool
token_refused(struct etcd *e, uint64_t number)
{
	struct token *t = e->token;
	char why[CLIENT_TEXT];

	if (number != t->number || t->state == ASKED || t->state == WANTED)
		return true;
	if (t->text == NULL && secret_token_changed(&e->secret, why, sizeof(why))) {
		t->number++;
		t->state = HELD;
		return true;
	}
	if (e->secret.user == NULL || e->secret.password == NULL)
		return false;
	forget(t);
	t->state = WANTED;
	return true;
}
