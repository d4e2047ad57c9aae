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

char *
must_copy(const char *from, size_t len)
{
	char *p = must_grow(NULL, len + 1, 1);

	if (len > 0)
		memcpy(p, from, len);
	p[len] = '\0';
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

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void
buf_base64(struct buf *b, struct bytes from)
{
	char *to = make_room(b, (from.len + 2) / 3 * 4);
	size_t i;
	int j;

	for (i = 0; i < from.len; i += 3) {
		uint32_t n = 0;

		for (j = 0; j < 3; j++)
			n = n << 8 |
			    (i + (size_t)j < from.len ? (unsigned char)from.at[i + (size_t)j] : 0);
		for (j = 0; j < 4; j++)
			*to++ = i + (size_t)j > from.len ? '=' : digits[n >> (18 - 6 * j) & 63];
	}
	*to = '\0';
	b->len = (size_t)(to - b->at);
}

/* The value of four digits, and in *bytes how many bytes it has; false: no such thing. */
static bool
quantum(const char *from, uint32_t *value, int *bytes)
{
	int i;

	*value = 0;
	*bytes = 3;
	for (i = 0; i < 4; i++) {
		const char *d = from[i] != '\0' ? strchr(digits, from[i]) : NULL;

		if (d == NULL && from[i] == '=' && i >= 2 && (i == 3 || from[3] == '=')) {
			*bytes = i - 1;
			*value <<= 6 * (4 - i);
			return true;
		}
		if (d == NULL)
			return false;
		*value = *value << 6 | (uint32_t)(d - digits);
	}
	return true;
}

long
base64_decode(char *to, const char *from, size_t len)
{
	const char *start = to;
	uint32_t value;
	size_t i;
	int j, n;

	for (i = 0; i < len; i += 4) {
		if (len - i < 4 || !quantum(from + i, &value, &n) || (n < 3 && i + 4 < len))
			return -1 - (long)i;
		for (j = 0; j < n; j++)
			*to++ = (char)(value >> (16 - 8 * j) & 255);
	}
	return to - start;
}

int
bytes_compare(struct bytes a, struct bytes b)
{
	size_t n = a.len < b.len ? a.len : b.len;
	int c = n > 0 ? memcmp(a.at, b.at, n) : 0;

	return c != 0 ? c : (a.len > b.len) - (a.len < b.len);
}
