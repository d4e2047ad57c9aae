/* SPDX-License-Identifier: ISC */
/*
 * buf.h - bytes that grow, and base64.  Who has no memory ends: these are tests.
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
void buf_base64(struct buf *b, struct bytes from);

/* Forgets the first n bytes. */
void buf_eat(struct buf *b, size_t n);
void buf_free(struct buf *b);

/* Never return NULL. */
void *must_grow(void *old, size_t count, size_t size);
void *must_make(size_t size);
char *must_copy(const char *from, size_t len);

/* As Go's base64.StdEncoding has it: padded, no other alphabet.  Returns how many bytes it wrote to
 * `to', which has room for 3/4 of len; or -1 - the offset of the quantum that is wrong. */
long base64_decode(char *to, const char *from, size_t len);

/* As memcmp, where a shorter one that is the other's beginning comes first. */
int bytes_compare(struct bytes a, struct bytes b);

#endif
