/* SPDX-License-Identifier: ISC */
/*
 * wire.c - see wire.h.
 */
#include "wire.h"

#include <stdlib.h>
#include <string.h>

#define VARINT 10 /* bytes at most */

/* ---- writing ---- */

/* Whether n more bytes may be written; false for want of memory. */
static bool
has_room(struct wire_out *w, size_t n)
{
	size_t room = (w->n + n) * 2;
	uint8_t *at;

	if (w->failed || n <= w->room - w->n)
		return !w->failed;
	at = realloc(w->at, room);
	if (at != NULL) {
		w->at = at;
		w->room = room;
	}
	w->failed = at == NULL;
	return !w->failed;
}

void
wire_free(struct wire_out *w)
{
	if (w->at != NULL)
		explicit_bzero(w->at, w->room);
	free(w->at);
	memset(w, 0, sizeof(*w));
}

/* Puts n bytes before what began there, which moves. */
static void
insert(struct wire_out *w, size_t begun, const void *bytes, size_t n)
{
	size_t size = w->n - begun;

	if (!has_room(w, n))
		return;
	memmove(w->at + begun + n, w->at + begun, size);
	memcpy(w->at + begun, bytes, n);
	w->n += n;
}

void
wire_raw(struct wire_out *w, const void *bytes, size_t n)
{
	if (n > 0)
		insert(w, w->n, bytes, n);
}

static size_t
put_varint(uint8_t to[VARINT], uint64_t value)
{
	size_t n = 0;

	for (; value >= 0x80; value >>= 7)
		to[n++] = (uint8_t)(value | 0x80);
	to[n++] = (uint8_t)value;
	return n;
}

static void
add_varint(struct wire_out *w, uint64_t value)
{
	uint8_t bytes[VARINT];

	wire_raw(w, bytes, put_varint(bytes, value));
}

static void
add_tag(struct wire_out *w, unsigned field, enum wire_type type)
{
	add_varint(w, (uint64_t)field << 3 | type);
}

void
wire_number(struct wire_out *w, unsigned field, int64_t number)
{
	add_tag(w, field, WIRE_NUMBER);
	add_varint(w, (uint64_t)number);
}

void
wire_bytes(struct wire_out *w, unsigned field, const void *bytes, size_t n)
{
	add_tag(w, field, WIRE_BYTES);
	add_varint(w, n);
	wire_raw(w, bytes, n);
}

void
wire_text(struct wire_out *w, unsigned field, const char *text)
{
	if (text != NULL)
		wire_bytes(w, field, text, strlen(text));
}

size_t
wire_begin(struct wire_out *w, unsigned field)
{
	add_tag(w, field, WIRE_BYTES);
	return w->n;
}

void
wire_end(struct wire_out *w, size_t begun)
{
	uint8_t length[VARINT];

	insert(w, begun, length, put_varint(length, w->n - begun));
}

void
wire_frame(struct wire_out *w, size_t begun)
{
	size_t n = w->n - begun;
	const uint8_t frame[WIRE_FRAME] = { 0 /* not compressed */, (uint8_t)(n >> 24),
					    (uint8_t)(n >> 16), (uint8_t)(n >> 8), (uint8_t)n };

	insert(w, begun, frame, sizeof(frame));
}

/* ---- reading ---- */

static bool
get_varint(struct wire_in *in, uint64_t *value)
{
	unsigned shift;

	*value = 0;
	for (shift = 0; shift < 64 && in->at < in->end; shift += 7) {
		uint8_t byte = *in->at++;

		if (shift == 63 && byte > 1)
			return false;
		*value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return true;
	}
	return false;
}

/* The types 3 and 4 begin and end groups, which proto3 does not have. */
static bool
get_value(struct wire_in *in, struct wire_field *f)
{
	uint64_t n;

	if (f->type == WIRE_NUMBER)
		return get_varint(in, &f->value);
	if (f->type == WIRE_EIGHT || f->type == WIRE_FOUR)
		n = f->type == WIRE_EIGHT ? 8 : 4;
	else if (f->type != WIRE_BYTES || !get_varint(in, &n))
		return false;
	if (n > (size_t)(in->end - in->at))
		return false;
	f->bytes = (struct wire_in){ .at = in->at, .end = in->at + n };
	in->at += n;
	return true;
}

bool
wire_next(struct wire_in *in, struct wire_field *field)
{
	uint64_t tag;

	if (in->wrong || in->at == in->end)
		return false;
	in->wrong = !get_varint(in, &tag) || tag >> 3 == 0 || tag > UINT32_MAX;
	if (in->wrong)
		return false;
	*field = (struct wire_field){ .number = (uint32_t)(tag >> 3),
				      .type = (enum wire_type)(tag & 7) };
	in->wrong = !get_value(in, field);
	return !in->wrong;
}
