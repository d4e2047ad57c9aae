/* SPDX-License-Identifier: ISC */
/*
 * call.c - calls: each is sent, answered or given up, and finished; once.
 *
 *   WAITING -> SENT      [transmit]  there is a token, or none is needed
 *   SENT    -> WAITING   [answered]  its token was refused, for the first time
 *   any     -> finished  [finish]    the caller has its reply; the call is freed
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client.h"
#include "verdict.h"

#define MOST_ANSWER (UINT64_C(64) << 20)

struct etcd_call {
	LIST_ENTRY(etcd_call) link;
	struct etcd *etcd;
	char *path;
	char *body; /* while it is WAITING; then the post has it */
	size_t size;
	struct post post;
	bool sent;
	bool again;   /* its token was refused once */
	bool called;  /* calls_resume() has yet to look at it */
	uint64_t due; /* when to give it up */
	uint64_t sent_ns;
	uint64_t turn;       /* the client's turn when it was sent */
	uint64_t token;      /* the number of the token that it was sent with */
	struct endpoint *at; /* where it was sent to */
	etcd_done *done;
	void *context;
};

/* Frees what the call still has; the body goes with the post, or stays for the next post. */
static void
unsend(struct etcd_call *c, bool keep_body)
{
	if (c->sent && keep_body) {
		c->body = c->post.body;
		c->post.body = NULL;
	}
	free(c->post.url);
	http_drop(&c->post);
	c->sent = false;
}

void
etcd_cancel(struct etcd_call *c)
{
	LIST_REMOVE(c, link);
	unsend(c, false);
	free(c->path);
	free(c->body);
	free(c);
}

static void
finish(struct etcd_call *c, const struct etcd_reply *reply)
{
	LIST_REMOVE(c, link);
	c->done(c->context, reply);
	unsend(c, false);
	free(c->path);
	free(c->body);
	free(c);
}

static void
fail(struct etcd_call *c, enum etcd_result result, const char *text)
{
	struct etcd_reply reply = { .result = result, .sent_ns = c->sent_ns, .text = text };

	finish(c, &reply);
}

static bool transmit(struct etcd_call *c);

/* Whether it waits for another token; then the caller leaves it alone. */
static bool
goes_on(struct etcd_call *c, const struct verdict *v)
{
	const char *why;

	if (v->license != BAD_TOKEN || c->again || !token_refused(c->etcd, c->token))
		return false;
	c->again = true;
	unsend(c, true);
	if (token_barred(c->etcd, &why))
		c->due = 0; /* calls_step() ends it */
	else if (token_ready(c->etcd) && !transmit(c))
		fail(c, ETCD_AWAY, "no memory is left");
	return true;
}

static void
answered(struct post *p, enum http_trouble trouble, const char *why)
{
	struct etcd_call *c = p->owner;
	struct asked asked = { p->body };
	struct etcd_reply reply = { .sent_ns = c->sent_ns };
	struct verdict v = { ETCD_AWAY, LICENSED, "" };
	char text[CLIENT_TEXT];
	json_t *body = NULL;

	if (trouble == HTTP_FINE) {
		const json_t *result;

		body = json_loadb(p->answer != NULL ? p->answer : "", p->length, 0, NULL);
		result = json_object_get(body, "result");
		reply.body = json_is_object(result) ? result : body;
		verdict_of(&v, c->etcd, p->status, reply.body, &asked);
	} else {
		verdict_of_trouble(&v, c->etcd, c->at, trouble, why);
	}
	if (goes_on(c, &v)) {
		json_decref(body);
		return;
	}
	token_hope(c->etcd, &v);
	reply.result = v.result;
	if (v.result == ETCD_OK) {
		reply.revision = etcd_integer(json_object_get(reply.body, "header"), "revision");
	} else {
		reply.body = NULL;
		client_text(text, c->at, v.words);
		reply.text = text;
	}
	if (v.result == ETCD_AWAY)
		client_turn(c->etcd, c->turn);
	else
		client_well(c->etcd);
	finish(c, &reply);
	json_decref(body);
}

/* False for want of memory. */
static bool
transmit(struct etcd_call *c)
{
	uint64_t now = flki_boottime_ns(), left = c->due > now ? (c->due - now) / MS : 0;
	struct post *p = &c->post;

	memset(p, 0, sizeof(*p));
	if (!client_aim(c->etcd, p, c->path))
		return false;
	p->token = token_now(c->etcd);
	p->body = c->body;
	p->size = c->size;
	c->body = NULL;
	p->timeout_ms = left == 0 ? 1 : (unsigned)left;
	if (p->connect_ms > p->timeout_ms)
		p->connect_ms = p->timeout_ms;
	p->most = MOST_ANSWER;
	p->ended = answered;
	p->owner = c;
	c->sent = true;
	c->sent_ns = now;
	c->turn = c->etcd->turn;
	c->token = token_number(c->etcd);
	c->at = client_endpoint(c->etcd);
	return http_post(c->etcd->http, p);
}

struct etcd_call *
etcd_call(struct etcd *e, const char *path, json_t *body, unsigned timeout_ms, etcd_done *done,
	  void *context)
{
	struct etcd_call *c = calloc(1, sizeof(*c));
	const char *why;

	if (c == NULL) {
		json_decref(body);
		return NULL;
	}
	c->etcd = e;
	c->done = done;
	c->context = context;
	c->sent_ns = flki_boottime_ns();
	c->due = c->sent_ns + timeout_ms * MS;
	c->path = strdup(path);
	c->body = body == NULL ? NULL : json_dumps(body, JSON_COMPACT);
	json_decref(body);
	LIST_INSERT_HEAD(&e->calls, c, link);
	if (c->path == NULL || c->body == NULL) {
		etcd_cancel(c);
		return NULL;
	}
	c->size = strlen(c->body);
	if (!client_reaches(e) || token_barred(e, &why))
		c->due = 0; /* calls_step() ends it */
	else if (token_ready(e) && !transmit(c)) {
		etcd_cancel(c);
		return NULL;
	}
	return c;
}

/* ---- calls that wait for a token ----------------------------------------------------------- */

static struct etcd_call *
first_called(const struct etcd *e)
{
	struct etcd_call *c;

	LIST_FOREACH(c, &e->calls, link)
		if (c->called)
			return c;
	return NULL;
}

/* The end of one call may begin or cancel others: so look for the waiting calls one at a time. */
void
calls_resume(struct etcd *e, enum etcd_result result, const char *text)
{
	struct etcd_call *c;

	LIST_FOREACH(c, &e->calls, link)
		c->called = !c->sent;
	while ((c = first_called(e)) != NULL) {
		c->called = false;
		if (result != ETCD_OK)
			fail(c, result, text);
		else if (token_ready(e) && !transmit(c))
			fail(c, ETCD_AWAY, "no memory is left");
	}
}

uint64_t
calls_due(const struct etcd *e)
{
	uint64_t due = UINT64_MAX;
	const struct etcd_call *c;

	LIST_FOREACH(c, &e->calls, link)
		if (!c->sent && c->due < due)
			due = c->due;
	return due;
}

/* libcurl has the timeouts of the calls that were sent. */
void
calls_step(struct etcd *e)
{
	uint64_t now = flki_boottime_ns();
	struct etcd_call *c;

	LIST_FOREACH(c, &e->calls, link)
		c->called = !c->sent && c->due <= now;
	while ((c = first_called(e)) != NULL) {
		char text[CLIENT_TEXT];
		const char *why;

		if (!token_barred(e, &why)) {
			client_text(text, client_endpoint(e),
				    c->due == 0 ? "no address is known for that name"
						: "no token in time");
			why = text;
		}
		fail(c, ETCD_AWAY, why);
	}
}
