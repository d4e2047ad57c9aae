/* SPDX-License-Identifier: ISC */
/*
 * token.c - the token that authorises calls and watches: a ready one; or one that etcd gives for a
 * user and password, which costs etcd some 50 ms of work, so the client asks for one only when it
 * needs it, once for all calls and watches that wait.  It does not try a refused password again
 * before the file has another one or, as somebody may correct it in etcd, a while has passed.
 *
 *   NEEDLESS -> WANTED   [token_refused]   etcd does not know us, and we have user and password
 *   WANTED   -> ASKED    [token_ready]     a call or watch wants to be sent
 *   ASKED    -> HELD     [settle]  
 *   ASKED    -> WANTED   [settle]          no answer, or refused: the calls that waited fail
 *   ASKED    -> ASKED    [settle]          refused, and the file has another password
 *   ASKED    -> NEEDLESS [settle]          the server wants none
 *   HELD     -> WANTED   [token_refused]   token_ready() asks for the next one
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client.h"
#include "records/retry.h"
#include "etcd/proto/answer.h"
#include "etcd/proto/request.h"
#include "verdict.h"

#define ASK_MS      5000
#define MOST_ANSWER 65536
#define BAR_NS      (2000 * MS) /* after the first refusal of a password, doubled by each */
#define BAR_MOST    (60000 * MS)

enum state { NEEDLESS, WANTED, ASKED, HELD };

struct token {
	enum state state;
	char *text;              /* if HELD, and not a ready one */
	uint64_t number;         /* of the token in use */
	struct h2_stream stream; /* if ASKED; until: */
	uint64_t due;
	struct records *records;
	token_settled *settled; /* its callees may ask for a token again */
	struct endpoint *at;    /* which endpoint was asked */
	uint64_t turn;
	uint64_t bar; /* not 0: the password was refused; pause about this long, until: */
	uint64_t barred_until;
	char why[RECORDS_TEXT];
};

struct token *
token_new(const struct secret *secret, token_settled *settled)
{
	struct token *t = calloc(1, sizeof(*t));

	if (t == NULL)
		return NULL;
	t->settled = settled;
	t->state = secret->token != NULL                              ? HELD
		   : secret->user != NULL && secret->password != NULL ? WANTED
								      : NEEDLESS;
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
	struct h2_stream *s = &t->stream;

	if (s->out.at != NULL)
		explicit_bzero(s->out.at, s->out.room);
	if (s->in.at != NULL)
		explicit_bzero(s->in.at, s->in.room);
	h2_drop(s);
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
	if (asprintf(&t->text, "%s", text) == -1)
		t->text = NULL;
	t->state = t->text != NULL ? HELD : WANTED;
	t->number++;
}

static bool ask(struct records *r);

/* All takers' passwords are refused at the same moment: each retries at a time of its own. */
static void
bar(struct token *t)
{
	t->bar = t->bar == 0 ? BAR_NS : t->bar * 2 < BAR_MOST ? t->bar * 2 : BAR_MOST;
	t->barred_until = flki_boottime_ns() + retry_spread(t->bar);
}

/* True: the client asks again with the password that the file has by now. */
static bool
asked_anew(struct records *r, struct verdict *v)
{
	struct token *t = r->token;

	if (secret_password_changed(&r->secret, v->words, sizeof(v->words))) {
		drop(t);
		if (ask(r)) {
			t->state = ASKED;
			return true;
		}
	}
	bar(t);
	client_text(t->why, t->at, v->words);
	token_hope(r, v);
	return false;
}

/* What became of the request: v's license and result, and the token if there is one. */
static void
settle(struct records *r, struct verdict *v, const char *text)
{
	struct token *t = r->token;
	char words[RECORDS_TEXT];

	t->state = WANTED;
	if (v->license == BAD_PASSWORD && asked_anew(r, v))
		return;
	if (v->license == NO_AUTH) {
		t->state = NEEDLESS;
		t->number++;
		v->result = RECORDS_OK;
	} else if (v->result == RECORDS_OK && text != NULL) {
		hold(t, text);
		t->bar = 0;
	}
	client_text(words, t->at, v->words);
	drop(t);
	if (v->result == RECORDS_AWAY && v->license != BAD_PASSWORD)
		client_turn(r, t->turn);
	t->settled(r, v->result, words);
}

static void
answered(struct h2_stream *s)
{
	struct token *t = s->owner;
	struct records *r = t->records;
	struct verdict v;
	struct answer a = { .token = NULL };
	uint8_t *bytes = NULL;
	size_t size;

	verdict_of_end(&v, r, t->at, s, NULL);
	if (v.result == RECORDS_OK) {
		bytes = h2_take(s, &size);
		if (bytes == NULL || !answer_token(&a, bytes, size) || a.token == NULL)
			verdict_of_stranger(&v, r, NONSENSE);
	}
	settle(r, &v, a.token);
	if (bytes != NULL)
		explicit_bzero(bytes, size);
	free(bytes);
}

/* False for want of memory. */
static bool
ask(struct records *r)
{
	struct token *t = r->token;

	t->records = r;
	t->at = client_endpoint(r);
	t->turn = r->turn;
	t->due = flki_boottime_ns() + ASK_MS * MS;
	t->stream = (struct h2_stream){ .path = "/etcdserverpb.Auth/Authenticate",
					.most = MOST_ANSWER,
					.ended = answered,
					.owner = t };
	request_token(&t->stream.out, r->secret.user, r->secret.password);
	return client_start(r, &t->stream);
}

uint64_t
token_due(const struct records *r)
{
	return r->token->state == ASKED ? r->token->due : UINT64_MAX;
}

void
token_step(struct records *r)
{
	struct verdict v;

	if (token_due(r) > flki_boottime_ns())
		return;
	verdict_of_trouble(&v, r, r->token->at, (struct trouble){ AWAY, SILENT });
	settle(r, &v, NULL);
}

bool
token_barred(struct records *r, const char **why)
{
	struct token *t = r->token;

	if (t->state != WANTED || t->bar == 0 || flki_boottime_ns() >= t->barred_until)
		return false;
	if (secret_password_changed(&r->secret, t->why, sizeof(t->why))) {
		t->barred_until = 0;
		return false;
	}
	*why = t->why;
	return true;
}

void
token_hope(const struct records *r, struct verdict *v)
{
	if (v->license != LICENSED && v->result == RECORDS_WRONG && r->sound &&
	    secret_may_change(&r->secret))
		v->result = RECORDS_AWAY;
}

bool
token_ready(struct records *r)
{
	struct token *t = r->token;

	if (t->state == WANTED) {
		if (ask(r))
			t->state = ASKED;
		else
			drop(t);
	}
	return t->state == NEEDLESS || t->state == HELD;
}

const char *
token_now(const struct records *r)
{
	if (r->token->state != HELD)
		return NULL;
	return r->token->text != NULL ? r->token->text : r->secret.token;
}

uint64_t
token_number(const struct records *r)
{
	return r->token->number;
}

bool
token_refused(struct records *r, uint64_t number)
{
	struct token *t = r->token;
	char why[RECORDS_TEXT];

	if (number != t->number || t->state == ASKED || t->state == WANTED)
		return true;
	if (t->text == NULL && secret_token_changed(&r->secret, why, sizeof(why))) {
		t->number++;
		t->state = HELD;
		return true;
	}
	if (r->secret.user == NULL || r->secret.password == NULL)
		return false;
	forget(t);
	t->state = WANTED;
	return true;
}
