/* SPDX-License-Identifier: ISC */
#include "http.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

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
	char value[64], version[16];
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
	if (sscanf(in->at, "%15s %255s HTTP/%15s", r->method, r->path, version) != 3)
		return -1;
	r->close = strcmp(version, "1.0") == 0;
	if (header(in->at, "Connection", value, sizeof(value)))
		r->close = strcasecmp(value, "close") == 0;
	header(in->at, "Authorization", r->token, sizeof(r->token));
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

static void
status_line(struct buf *out, int status)
{
	buf_printf(out,
		   "HTTP/1.1 %d %s\r\n"
		   "Access-Control-Allow-Headers: accept, content-type, authorization\r\n"
		   "Access-Control-Allow-Methods: POST, GET, OPTIONS, PUT, DELETE\r\n"
		   "Access-Control-Allow-Origin: *\r\n",
		   status, status_name(status));
}

static void
date(struct buf *out)
{
	char text[64];
	time_t now = time(NULL);
	struct tm tm;

	strftime(text, sizeof(text), "%a, %d %b %Y %H:%M:%S GMT", gmtime_r(&now, &tm));
	buf_printf(out, "Date: %s\r\n", text);
}

static void
will_close(struct buf *out, const struct request *r)
{
	if (r->close)
		buf_text(out, "Connection: close\r\n");
}

static void
date_and_body(struct buf *out, const struct request *r, const char *sniffed, struct bytes body)
{
	date(out);
	buf_printf(out, "Content-Length: %zu\r\n", body.len);
	if (sniffed != NULL)
		buf_printf(out, "Content-Type: %s\r\n", sniffed);
	will_close(out, r);
	buf_text(out, "\r\n");
	buf_add(out, body.at, body.len);
}

void
http_json(struct buf *out, const struct request *r, struct bytes body)
{
	status_line(out, 200);
	buf_text(out, "Content-Type: application/json\r\n"
		      "Grpc-Metadata-Content-Type: application/grpc\r\n");
	date_and_body(out, r, NULL, body);
}

void
http_plain(struct buf *out, const struct request *r, int status, const char *type, bool sniffed,
	   struct bytes body)
{
	status_line(out, status);
	if (!sniffed)
		buf_printf(out, "Content-Type: %s\r\n", type);
	if (status != 200 && strncmp(type, "text/plain", 10) == 0)
		buf_text(out, "X-Content-Type-Options: nosniff\r\n");
	date_and_body(out, r, sniffed ? type : NULL, body);
}

void
http_moved(struct buf *out, const struct request *r, const char *where)
{
	struct buf body = { 0 };

	status_line(out, 301);
	if (strcmp(r->method, "GET") == 0) {
		buf_printf(&body, "<a href=\"%s\">Moved Permanently</a>.\n\n", where);
		buf_text(out, "Content-Type: text/html; charset=utf-8\r\n");
	}
	buf_printf(out, "Location: %s\r\n", where);
	date_and_body(out, r, NULL, (struct bytes){ body.at, body.len });
	buf_free(&body);
}

void
http_wrong(struct buf *out, const struct request *r, const struct wrong *wrong)
{
	struct buf body = { 0 };

	write_wrong(&body, wrong);
	status_line(out, status_of(wrong->code));
	buf_text(out, "Content-Type: application/json\r\n");
	if (wrong->undecoded) {
		date_and_body(out, r, NULL, (struct bytes){ body.at, body.len });
	} else {
		buf_text(out, "Trailer: Grpc-Trailer-Content-Type\r\n");
		date(out);
		will_close(out, r);
		buf_text(out, "Transfer-Encoding: chunked\r\n\r\n");
		http_chunk(out, (struct bytes){ body.at, body.len });
		buf_text(out, "0\r\nGrpc-Trailer-Content-Type: application/grpc\r\n\r\n");
	}
	buf_free(&body);
}

void
http_stream(struct buf *out, const struct request *r, bool empty)
{
	status_line(out, 200);
	buf_text(out, "Content-Type: application/json\r\n");
	if (!empty)
		buf_text(out, "Grpc-Metadata-Content-Type: application/grpc\r\n");
	date(out);
	will_close(out, r);
	buf_text(out, "Transfer-Encoding: chunked\r\n\r\n");
}

void
http_chunk(struct buf *out, struct bytes chunk)
{
	buf_printf(out, "%zx\r\n", chunk.len);
	buf_add(out, chunk.at, chunk.len);
	buf_text(out, "\r\n");
}

void
http_end(struct buf *out)
{
	buf_text(out, "0\r\n\r\n");
}
