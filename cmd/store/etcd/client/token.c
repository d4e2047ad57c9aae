/* SPDX-License-Identifier: ISC */
/*
 * token.c - the token that authorises calls and watches: a ready one; or one that etcd gives for a
 * user and password, which costs etcd some 50 ms of work, so the client asks for one only when it
 * needs it, once for all calls and watches that wait.  It does not try a refused password again
 * before the file has another one or, as somebody may correct it in etcd, a while has passed.
 *
 *   NEEDLESS -> WANTED   [token_refused]   etcd does not know us, and we have user and password
 *   WANTED   -> ASKED    [client_ready]    a call or watch wants to be sent
 *   ASKED    -> HELD     [settle]
 *   ASKED    -> WANTED   [settle]          no answer, or refused: the calls that waited fail
 *   ASKED    -> ASKED    [settle]          refused, and the file has another password
 *   ASKED    -> NEEDLESS [settle]          the server wants none
 *   HELD     -> WANTED   [token_refused]   client_ready() asks for the next one
 */
#include <string.h>

#include "client.h"
#include "records/retry.h"
#include "etcd/proto/messages.h"

#define ASK_MS      5000
#define MOST_ANSWER 65536
#define BAR_NS      (2000 * MS) /* after the first refusal of a password, doubled by each */
#define BAR_MOST    (60000 * MS)

void
token_begin(struct records *r)
{
	const struct secret *s = &r->secret;

	r->token.state = s->token != NULL                         ? HELD
			 : s->user != NULL && s->password != NULL ? WANTED
								  : NEEDLESS;
}

void
token_end(struct records *r)
{
	h2_drop(&r->token.x.stream);
	secret_forget(&r->token.text);
}

static void ask(struct records *r);

/* All takers' passwords are refused at the same moment: each retries at a time of its own. */
static void
bar(struct token *t)
{
	t->bar = t->bar == 0 ? BAR_NS : t->bar * 2 < BAR_MOST ? t->bar * 2 : BAR_MOST;
	t->barred_until = flki_boottime_ns() + retry_spread(t->bar);
}

/* What became of the try: its verdict; and t->text, if there is a token. */
static void
settle(struct records *r, struct verdict *v)
{
	struct token *t = &r->token;

	h2_drop(&t->x.stream);
	t->state = WANTED;
	if (v->license == BAD_PASSWORD) {
		if (secret_password_changed(&r->secret, v->words, sizeof(v->words))) {
			ask(r);
			return;
		}
		bar(t);
		token_hope(r, v);
	} else if (v->license == NO_AUTH) {
		t->state = NEEDLESS;
		t->number++;
		v->result = RECORDS_OK;
	} else if (v->result == RECORDS_AWAY) {
		client_turn(r, t->x.turn);
	} else if (t->text != NULL) {
		t->state = HELD;
		t->number++;
		t->bar = 0;
	}
	t->failed = t->state == WANTED;
	t->verdict = *v;
	client_text(t->verdict.words, t->x.at, v->words);
}

static void
answered(struct h2_stream *s)
{
	struct records *r = s->owner;
	struct answer a = { .token = NULL };
	struct verdict v;

	verdict_of_answer(&v, r, &r->token.x, NULL, ANSWER_TOKEN, &a);
	if (v.result == RECORDS_OK && a.token == NULL)
		verdict_of_stranger(&v, r, NONSENSE);
	if (v.result == RECORDS_OK)
		r->token.text = strdup(a.token);
	settle(r, &v);
}

static void
ask(struct records *r)
{
	struct token *t = &r->token;

	t->x.stream = (struct h2_stream){ .path = "/etcdserverpb.Auth/Authenticate",
					  .most = MOST_ANSWER,
					  .heard = answered,
					  .owner = r };
	request_token(&t->x.stream.out, r->secret.user, r->secret.password);
	client_start(r, &t->x);
	t->state = ASKED;
	t->due = flki_boottime_ns() + ASK_MS * MS;
}

uint64_t
token_due(const struct records *r)
{
	return r->token.state == ASKED ? r->token.due : UINT64_MAX;
}

void
token_step(struct records *r)
{
	struct verdict v;

	if (token_due(r) > flki_boottime_ns())
		return;
	verdict_of_trouble(&v, r, r->token.x.at, (struct trouble){ AWAY, SILENT });
	settle(r, &v);
}

/* Whether the password was refused, and is still the same. */
static bool
is_barred(struct records *r)
{
	struct token *t = &r->token;

	if (t->bar == 0 || flki_boottime_ns() >= t->barred_until)
		return false;
	if (!secret_password_changed(&r->secret, t->verdict.words, sizeof(t->verdict.words)))
		return true;
	t->barred_until = 0;
	return false;
}

bool
client_ready(struct records *r, struct verdict *v)
{
	struct token *t = &r->token;

	*v = (struct verdict){ .result = RECORDS_OK };
	if (!client_reaches(r)) {
		v->result = RECORDS_AWAY;
		client_text(v->words, client_endpoint(r), "no address is known for that name");
	} else if (t->state == NEEDLESS || t->state == HELD) {
		return true;
	} else if (t->failed) {
		*v = t->verdict;
	} else if (t->state == WANTED && is_barred(r)) {
		*v = t->verdict;
		v->result = RECORDS_AWAY;
	} else if (t->state == WANTED) {
		ask(r);
	}
	return false;
}

void
token_hope(const struct records *r, struct verdict *v)
{
	if (v->license != LICENSED && v->result == RECORDS_WRONG && r->sound &&
	    secret_may_change(&r->secret))
		v->result = RECORDS_AWAY;
}

const char *
token_now(const struct records *r)
{
	if (r->token.state != HELD)
		return NULL;
	return r->token.text != NULL ? r->token.text : r->secret.token;
}

bool
token_refused(struct records *r, uint64_t number)
{
	struct token *t = &r->token;
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
	secret_forget(&t->text);
	t->state = WANTED;
	return true;
}
