/* SPDX-License-Identifier: ISC */
#include "http.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- what is asked ---- */

/* The value of a header, copied to `to'; false: there is none. */
static bool
header(const char *head, const char *name, char *to, size_t room)
{
	size_t n = strlen(name), len;
	const char *line;

	for (line = strstr(head, "\r\n"); line != NULL; line = strstr(line + 2, "\r\n")) {
		if (strncasecmp(line + 2, name, n) != 0 || line[2 + n] != ':')
			continue;
		line += 3 + n;
		line += strspn(line, " \t");
		len = strcspn(line, "\r");
		snprintf(to, room, "%.*s", (int)len, line);
		return true;
	}
	return false;
}

/* Takes a body that comes in chunks; at what is behind it, when it is whole: else NULL. */
static const char *
read_chunks(const char *at, const char *end, struct buf *body)
{
	while (at < end && memmem(at, (size_t)(end - at), "\r\n", 2) != NULL) {
		char *rest;
		size_t n = strtoul(at, &rest, 16);

		at = (const char *)memmem(rest, (size_t)(end - rest), "\r\n", 2) + 2;
		if ((size_t)(end - at) < n + 2)
			return NULL;
		buf_add(body, at, n);
		at += n + 2;
		if (n == 0)
			return at;
	}
	return NULL;
}

static bool
take_body(struct buf *in, size_t head, bool chunked, size_t length, struct request *r)
{
	const char *rest;

	if (chunked) {
		rest = read_chunks(in->at + head, in->at + in->len, &r->body);
		if (rest == NULL)
			return false;
		buf_eat(in, (size_t)(rest - in->at));
		return true;
	}
	if (in->len - head < length)
		return false;
	buf_add(&r->body, in->at + head, length);
	buf_eat(in, head + length);
	return true;
}

int
http_read(struct buf *in, struct request *r, struct buf *out)
{
	char value[64];
	bool chunked, expected = r->expected;
	size_t length = 0, head;
	char *end;

	end = in->len > 0 ? memmem(in->at, in->len, "\r\n\r\n", 4) : NULL;
	if (end == NULL)
		return in->len > 65536 ? -1 : 0;
	head = (size_t)(end - in->at) + 4;
	buf_free(&r->body);
	*r = (struct request){ .expected = expected };
	end[2] = '\0'; /* the head is text for a while */
	if (sscanf(in->at, "%15s %255s HTTP/", r->method, r->path) != 2)
		return -1;
	chunked = header(in->at, "Transfer-Encoding", value, sizeof(value)) &&
		  strcasecmp(value, "chunked") == 0;
	if (header(in->at, "Content-Length", value, sizeof(value)))
		length = strtoul(value, NULL, 10);
	if (header(in->at, "Expect", value, sizeof(value)) && !expected) {
		buf_text(out, "HTTP/1.1 100 Continue\r\n\r\n");
		r->expected = true;
	}
	end[2] = '\r';
	if (!take_body(in, head, chunked, length, r))
		return 0;
	r->expected = false;
	return 1;
}

/* ---- what is answered ---- */

void
http_answer(struct buf *out, bool fine, struct bytes body)
{
	buf_printf(out, "HTTP/1.1 %s\r\nContent-Length: %zu\r\n\r\n",
		   fine ? "200 OK" : "400 Bad Request", body.len);
	buf_add(out, body.at, body.len);
}
