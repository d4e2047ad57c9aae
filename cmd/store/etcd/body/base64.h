/* SPDX-License-Identifier: ISC */
/*
 * base64.h - keys and values as they stand in the gateway's JSON.
 */
#ifndef BASE64_H
#define BASE64_H

#include <stdbool.h>
#include <stddef.h>

/* Room for the text of so many bytes, with the NUL. */
#define BASE64_ROOM(n) (((n) + 2) / 3 * 4 + 1)

void base64_encode(char *text, const char *bytes, size_t size);

/*
 * Strict: no white space, padded, nothing left over.  bytes: room for strlen(text) / 4 * 3 + 1; they
 * end with a NUL beyond their size.
 */
bool base64_decode(char *bytes, size_t *size, const char *text);

#endif
