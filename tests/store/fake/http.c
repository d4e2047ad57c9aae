/* SPDX-License-Identifier: ISC */
#include "http.h"

#include <stdlib.h>
#include <string.h>

int
http_read(struct buf *in, struct buf *body)
{
	static const char length[] = "\r\nContent-Length:";
	const char *end = in->len > 0 ? memmem(in->at, in->len, "\r\n\r\n", 4) : NULL, *at;
	size_t n, head;

	if (end == NULL)
		return in->len > 65536 ? -1 : 0;
	head = (size_t)(end - in->at) + 4;
	at = memmem(in->at, head, length, sizeof(length) - 1);
	n = at == NULL ? 0 : strtoul(at + sizeof(length) - 1, NULL, 10);
	if (in->len - head < n)
		return 0;
	buf_free(body);
	buf_add(body, in->at + head, n);
	buf_eat(in, head + n);
	return 1;
}

void
http_answer(struct buf *out, bool fine, struct bytes body)
{
	buf_printf(out, "HTTP/1.1 %s\r\nContent-Length: %zu\r\n\r\n",
		   fine ? "200 OK" : "400 Bad Request", body.len);
	buf_add(out, body.at, body.len);
}
