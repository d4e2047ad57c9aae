/* SPDX-License-Identifier: ISC */
/*
 * wire.h - protobuf's wire format: fields are written and read one at a time.  No I/O.
 */
#ifndef WIRE_H
#define WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WIRE_FRAME 5 /* what gRPC sends before a message: a flag, and the length in four bytes */

/* ---- writing ---- */

/* Zero it before its first use, and free its bytes after the last: wire_free() wipes them, too. */
struct wire_out {
	uint8_t *at;
	size_t n, room;
	bool failed; /* there was no memory: what is here must not be sent */
};

void wire_free(struct wire_out *w);

void wire_raw(struct wire_out *w, const void *bytes, size_t n); /* as they are */
void wire_bytes(struct wire_out *w, unsigned field, const void *bytes, size_t n);
void wire_text(struct wire_out *w, unsigned field, const char *text); /* NULL: none */
void wire_number(struct wire_out *w, unsigned field, int64_t number);

/* A message within the message; wire_end() takes what wire_begin() returned. */
size_t wire_begin(struct wire_out *w, unsigned field);
void wire_end(struct wire_out *w, size_t begun);

/* Ends a whole message, which began when w->n was that: gRPC's frame precedes it. */
void wire_frame(struct wire_out *w, size_t begun);

/* ---- reading ---- */

struct wire_in {
	uint8_t *at, *end;
	bool wrong; /* what was read is no message */
};

enum wire_type { WIRE_NUMBER = 0, WIRE_EIGHT = 1, WIRE_BYTES = 2, WIRE_FOUR = 5 };

struct wire_field {
	uint32_t number;
	enum wire_type type;
	uint64_t value;       /* WIRE_NUMBER */
	struct wire_in bytes; /* WIRE_BYTES: also a message to be read */
};

/* The next field; false at the end, or when `wrong' becomes true. */
bool wire_next(struct wire_in *in, struct wire_field *field);

#endif
