/* SPDX-License-Identifier: ISC */
#include "grpc.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

static struct bytes
bytes_of(const struct buf *b)
{
	return (struct bytes){ b->at, b->len };
}

static struct bytes
text(const char *t)
{
	return (struct bytes){ t, strlen(t) };
}

static enum heard
heard_of(const struct kind_of_call *kind)
{
	switch (kind->how) {
	case CALL_UNARY:
		break;
	case CALL_STREAM:
		return HEARD_TO_THE_END;
	case CALL_WATCH:
		return HEARD_UNTIL_THE_ANSWER;
	}
	return HEARD_ONE;
}

static struct call
call_of(struct fake *fake, const struct request *r)
{
	return (struct call){ .fake = fake, .token = r->token };
}

/* What one object asks for; a call's reading points into it, so it stays where it is. */
static bool
ask(struct call *call, const struct kind_of_call *kind, const json_t *body, struct buf *out)
{
	call->body = body;
	call->reading = (struct reading){ &call->fake->scrap, &call->wrong };
	return kind->serve(call, out);
}

static void
serve_unary(struct fake *fake, struct conn *c, const struct kind_of_call *kind,
	    const struct body *body)
{
	struct call call = call_of(fake, &c->request);
	struct buf answer = { 0 };

	if (body->count == 0)
		http_wrong(&c->out, &c->request, &body->wrong);
	else if (ask(&call, kind, body->values[0], &answer))
		http_json(&c->out, &c->request, bytes_of(&answer));
	else
		http_wrong(&c->out, &c->request, &call.wrong);
	buf_free(&answer);
}

/* What can't be decoded has another status in a stream. */
static void
refuse_stream(struct conn *c, const struct wrong *wrong)
{
	struct wrong other = *wrong;

	other.code = UNKNOWN;
	http_wrong(&c->out, &c->request, &other);
}

static void
serve_stream(struct fake *fake, struct conn *c, const struct kind_of_call *kind,
	     const struct body *body)
{
	struct call call = call_of(fake, &c->request);
	struct buf lines = { 0 }, chunks = { 0 };
	size_t i;

	for (i = 0; i < body->count && call.wrong.code == 0; i++) {
		buf_text(&lines, "{\"result\":");
		if (!ask(&call, kind, body->values[i], &lines))
			break;
		buf_text(&lines, "}\n");
		http_chunk(&chunks, bytes_of(&lines));
		lines.len = 0;
	}
	if (chunks.len == 0 && (body->wrong.code != 0 || call.wrong.code != 0)) {
		refuse_stream(c, body->wrong.code != 0 ? &body->wrong : &call.wrong);
	} else {
		http_stream(&c->out, &c->request, body->count == 0);
		buf_add(&c->out, chunks.at, chunks.len);
		http_end(&c->out);
	}
	buf_free(&lines);
	buf_free(&chunks);
}

/* Each line is a chunk of its own. */
static void
send_lines(struct conn *c, const struct buf *lines)
{
	const char *at = lines->at, *end;

	if (lines->len > 0 && !c->headed)
		http_stream(&c->out, &c->request, false);
	c->headed = c->headed || lines->len > 0;
	while (lines->len > 0 && (end = strchr(at, '\n')) != NULL) {
		struct bytes line = { at, (size_t)(end + 1 - at) };

		http_chunk(&c->out, line);
		at = end + 1;
	}
}

static void
serve_watch(struct fake *fake, struct conn *c, const struct body *body)
{
	struct call call = call_of(fake, &c->request);
	struct buf lines = { 0 };
	size_t i;

	call.reading = (struct reading){ &fake->scrap, &call.wrong };
	for (i = 0; i < body->count; i++) {
		call.body = body->values[i];
		if (!watch_ask(&c->watches, &call, &lines))
			break;
	}
	if (lines.len == 0 && (call.wrong.code != 0 || body->wrong.code != 0)) {
		refuse_stream(c, call.wrong.code != 0 ? &call.wrong : &body->wrong);
	} else {
		c->state = STREAMING;
		send_lines(c, &lines);
	}
	buf_free(&lines);
}

void
serve_watches(struct server *s)
{
	struct buf lines = { 0 };
	size_t i;

	for (i = 0; i < s->count; i++) {
		if (s->conns[i]->grpc != NULL)
			grpc_tell(s->conns[i]->grpc);
		if (s->conns[i]->state != STREAMING)
			continue;
		lines.len = 0;
		watch_tell(&s->conns[i]->watches, &s->fake, &lines);
		send_lines(s->conns[i], &lines);
	}
	buf_free(&lines);
}

/* What is no call. */
static void
serve_page(struct conn *c)
{
	static const char plain[] = "text/plain; charset=utf-8";
	const struct request *r = &c->request;

	if (strcmp(r->path, "/health") == 0)
		http_plain(&c->out, r, 200, plain, true, text("{\"health\":\"true\"}"));
	else if (strcmp(r->path, "/version") == 0)
		http_plain(&c->out, r, 200, "application/json", false,
			   text("{\"etcdserver\":\"3.4.23\",\"etcdcluster\":\"3.4.0\"}"));
	else if (strcmp(r->path, "/v3") == 0)
		http_moved(&c->out, r, "/v3/");
	else if (strncmp(r->path, "/v3/", 4) == 0)
		http_plain(&c->out, r, 404, plain, false, text("Not Found\n"));
	else
		http_plain(&c->out, r, 404, plain, false, text("404 page not found\n"));
}

/* By the operator: a line is the body. */
static void
serve_operator(struct server *s, struct conn *c)
{
	bool fine = c->request.body.len > 0 && control_line(s, c->request.body.at);

	http_plain(&c->out, &c->request, fine ? 200 : 400, "text/plain", false, text(""));
}

static void
serve_etcd(struct server *s, struct conn *c)
{
	const struct kind_of_call *kind = call_find(c->request.path);
	struct body body;

	if (kind == NULL) {
		serve_page(c);
		return;
	}
	if (strcmp(c->request.method, "POST") != 0) {
		http_plain(&c->out, &c->request, 405, "text/plain; charset=utf-8", false,
			   text("Method Not Allowed\n"));
		return;
	}
	body_read(&body, bytes_of(&c->request.body), heard_of(kind));
	switch (kind->how) {
	case CALL_UNARY:
		serve_unary(&s->fake, c, kind, &body);
		break;
	case CALL_STREAM:
		serve_stream(&s->fake, c, kind, &body);
		break;
	case CALL_WATCH:
		serve_watch(&s->fake, c, &body);
		break;
	}
	body_free(&body);
	scrap_free(&s->fake.scrap);
	serve_watches(s);
}

void
serve(struct server *s, struct conn *c)
{
	if (c->operator) {
		serve_operator(s, c);
	} else {
		serve_note(s, "%s", c->request.path);
		serve_etcd(s, c);
	}
	if (c->state == READING && c->request.close)
		c->state = ENDING;
}

void
serve_note(const struct server *s, const char *words, ...)
{
	va_list args;

	if (s->log == NULL)
		return;
	fprintf(s->log, "%" PRId64 " ", s->fake.now);
	va_start(args, words);
	vfprintf(s->log, words, args);
	va_end(args);
	fputc('\n', s->log);
}
