/* SPDX-License-Identifier: ISC */
#include "buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *
must_grow(void *old, size_t count, size_t size)
{
	void *p = reallocarray(old, count, size);

	if (p == NULL)
		abort();
	return p;
}

void *
must_make(size_t size)
{
	void *p = calloc(1, size);

	if (p == NULL)
		abort();
	return p;
}

/* Room for n more bytes and the null byte behind them. */
static char *
make_room(struct buf *b, size_t n)
{
	if (b->at == NULL || b->len + n + 1 > b->room) {
		b->room = 2 * b->room + n + 64;
		b->at = must_grow(b->at, b->room, 1);
	}
	return b->at + b->len;
}

void
buf_add(struct buf *b, const void *from, size_t len)
{
	char *to = make_room(b, len);

	if (len > 0)
		memcpy(to, from, len);
	b->len += len;
	b->at[b->len] = '\0';
}

void
buf_text(struct buf *b, const char *text)
{
	buf_add(b, text, strlen(text));
}

void
buf_printf(struct buf *b, const char *format, ...)
{
	va_list args, again;
	char *to;
	int n;

	va_start(args, format);
	va_copy(again, args);
	n = vsnprintf(NULL, 0, format, args);
	va_end(args);
	if (n < 0)
		abort();
	to = make_room(b, (size_t)n);
	vsnprintf(to, (size_t)n + 1, format, again);
	va_end(again);
	b->len += (size_t)n;
}

void
buf_eat(struct buf *b, size_t n)
{
	if (n == 0)
		return;
	b->len -= n;
	memmove(b->at, b->at + n, b->len);
	b->at[b->len] = '\0';
}

void
buf_free(struct buf *b)
{
	free(b->at);
	*b = (struct buf){ 0 };
}
