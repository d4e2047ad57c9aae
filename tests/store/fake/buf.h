/* SPDX-License-Identifier: ISC */
/*
 * buf.h - bytes that grow.  Who has no memory ends: these are tests.
 */
#ifndef BUF_H
#define BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* at[len] is always a null byte once something was added, so that text can be read as such. */
struct buf {
	char *at;
	size_t len, room;
};

/* Bytes that somebody else owns. */
struct bytes {
	const char *at;
	size_t len;
};

void buf_add(struct buf *b, const void *from, size_t len);
void buf_text(struct buf *b, const char *text);
void buf_printf(struct buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Forgets the first n bytes. */
void buf_eat(struct buf *b, size_t n);
void buf_free(struct buf *b);

/* Never return NULL. */
void *must_grow(void *old, size_t count, size_t size);
void *must_make(size_t size);

#endif
