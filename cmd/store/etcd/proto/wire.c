/* SPDX-License-Identifier: ISC */
/*
 * wire.c - see wire.h.
 */
#include "wire.h"

#include <stdlib.h>
#include <string.h>

#define VARINT 10 /* bytes at most */

/* ---- writing ---- */

/* Where n more bytes may be written; NULL for want of memory. */
static uint8_t *
more(struct wire_out *w, size_t n)
{
	if (w->failed)
		return NULL;
	if (n > w->room - w->n) {
		size_t room = (w->n + n) * 2;
		uint8_t *at = realloc(w->at, room);

		if (at == NULL) {
			w->failed = true;
			return NULL;
		}
		w->at = at;
		w->room = room;
	}
	return w->at + w->n;
}

void
wire_free(struct wire_out *w)
{
	if (w->at != NULL)
		explicit_bzero(w->at, w->room);
	free(w->at);
	memset(w, 0, sizeof(*w));
}

static void
add_varint(struct wire_out *w, uint64_t value)
{
	uint8_t *to = more(w, VARINT);

	if (to == NULL)
		return;
	for (; value >= 0x80; value >>= 7, w->n++)
		*to++ = (uint8_t)(value | 0x80);
	*to = (uint8_t)value;
	w->n++;
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
wire_raw(struct wire_out *w, const void *bytes, size_t n)
{
	uint8_t *to = n > 0 ? more(w, n) : NULL;

	if (to == NULL)
		return;
	memcpy(to, bytes, n);
	w->n += n;
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

/* The length stands before the message, and takes as many bytes as it needs: we move the message. */
void
wire_end(struct wire_out *w, size_t begun)
{
	size_t end = w->n, n;
	uint8_t length[VARINT];

	add_varint(w, end - begun);
	n = w->n - end;
	if (w->failed)
		return;
	memcpy(length, w->at + end, n);
	memmove(w->at + begun + n, w->at + begun, end - begun);
	memcpy(w->at + begun, length, n);
}

size_t
wire_frame(struct wire_out *w)
{
	size_t begun = w->n;

	if (more(w, WIRE_FRAME) != NULL)
		w->n += WIRE_FRAME;
	return begun;
}

void
wire_frame_end(struct wire_out *w, size_t begun)
{
	size_t size = w->n - begun - WIRE_FRAME;
	uint8_t *to;

	if (w->failed)
		return;
	to = w->at + begun;
	to[0] = 0; /* not compressed */
	to[1] = (uint8_t)(size >> 24);
	to[2] = (uint8_t)(size >> 16);
	to[3] = (uint8_t)(size >> 8);
	to[4] = (uint8_t)size;
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
