/* SPDX-License-Identifier: ISC */
/*
 * answer.c - what etcd answers: see messages.h.  The numbers of the fields are those of etcd's rpc.proto
 * and kv.proto.
 */
#include "messages.h"

#include <stdlib.h>
#include <string.h>

/* An array that grows: where the next item is to be; NULL for want of memory. */
static void *
one_more(void **array, size_t n, size_t size)
{
	/* The room is a power of 2, and full whenever n is one. */
	if ((n & (n - 1)) == 0) {
		void *more = reallocarray(*array, n == 0 ? 1 : n * 2, size);

		if (more == NULL)
			return NULL;
		*array = more;
	}
	memset((char *)*array + n * size, 0, size);
	return (char *)*array + n * size;
}

/* ---- fields -------------------------------------------------------------------------------- */

/* A field of a message, and where it goes in the struct that the message is read into. */
struct field {
	uint32_t number; /* 0: no more fields */
	enum { A_NUMBER, A_FLAG, A_TEXT, A_PART } kind;
	size_t to, size;                            /* offsets; size: of a text's size, or 0 */
	bool (*part)(struct wire_in *in, void *to); /* reads the message that the field is; or: */
	const struct field *fields;                 /* what is in it, for the same struct */
};

/* clang-format off */
#define NUMBER(n, type, member) { .number = (n), .kind = A_NUMBER, .to = offsetof(type, member) }
#define FLAG(n, type, member)   { .number = (n), .kind = A_FLAG, .to = offsetof(type, member) }
#define TEXT(n, type, member)   { .number = (n), .kind = A_TEXT, .to = offsetof(type, member) }
#define BYTES(n, type, member)  { .number = (n), .kind = A_TEXT, .to = offsetof(type, member), \
				  .size = offsetof(type, member##_size) }
#define PART(n, type, member, read) \
	{ .number = (n), .kind = A_PART, .to = offsetof(type, member), .part = (read) }
#define HEADER                  PART(1, struct answer, revision, read_header)
#define PARTS(n, read)          { .number = (n), .kind = A_PART, .part = (read) } /* each in the same */
#define FIELDS(n, table)        { .number = (n), .kind = A_PART, .fields = (table) }
#define NO_MORE                 { .number = 0 }
/* clang-format on */

static bool read_fields(struct wire_in *in, const struct field *table, void *to);

/* A text ends with a NUL: it moves to where its length, which we have read, ended. */
static void
take_text(const struct field *of, const struct wire_in *bytes, char *from)
{
	size_t size = (size_t)(bytes->end - bytes->at);
	char *text = memmove(bytes->at - 1, bytes->at, size);

	text[size] = '\0';
	*(char **)(void *)(from + of->to) = text;
	if (of->size != 0)
		*(size_t *)(void *)(from + of->size) = size;
}

static bool
take(const struct field *of, const struct wire_field *f, char *from)
{
	bool number = of->kind == A_NUMBER || of->kind == A_FLAG;
	void *to = from + of->to;
	struct wire_in part = f->bytes;

	if (f->type != (number ? WIRE_NUMBER : WIRE_BYTES))
		return false;
	if (of->kind == A_PART)
		return of->part != NULL ? of->part(&part, to) : read_fields(&part, of->fields, to);
	if (of->kind == A_NUMBER)
		*(int64_t *)to = (int64_t)f->value;
	else if (of->kind == A_FLAG)
		*(bool *)to = f->value != 0;
	else
		take_text(of, &part, from);
	return true;
}

/* Fields that are not in the table mean nothing to us. */
static bool
read_fields(struct wire_in *in, const struct field *table, void *to)
{
	const struct field *of;
	struct wire_field f;

	while (wire_next(in, &f)) {
		for (of = table; of->number != 0 && of->number != f.number; of++)
			;
		if (of->number != 0 && !take(of, &f, to))
			return false;
	}
	return !in->wrong;
}

/* ---- parts that many messages have --------------------------------------------------------- */

/* There is one after each. */
static bool
is_revision(int64_t n)
{
	return n >= 0 && n < INT64_MAX;
}

static bool
read_header(struct wire_in *in, void *to)
{
	static const struct field table[] = { { .number = 3, .kind = A_NUMBER }, NO_MORE };
	int64_t *revision = to;

	*revision = 0;
	return read_fields(in, table, to) && is_revision(*revision);
}

#define NO_HEADER -1 /* as a revision */

static bool
read_kv(struct wire_in *in, void *to)
{
	/* clang-format off */
	static const struct field table[] = {
		BYTES(1, struct record_kv, key),
		NUMBER(2, struct record_kv, created),
		NUMBER(3, struct record_kv, changed),
		BYTES(5, struct record_kv, value),
		NUMBER(6, struct record_kv, lease),
		NO_MORE,
	};
	/* clang-format on */
	struct record_kv *kv = to;

	if (!read_fields(in, table, kv) || kv->key_size == 0 || kv->changed <= 0 ||
	    !is_revision(kv->changed))
		return false;
	if (kv->value == NULL)
		kv->value = kv->key + kv->key_size;
	return true;
}

/* ---- calls --------------------------------------------------------------------------------- */

/* While records are read, found->kv is not set: they may move. */
static bool
read_record(struct wire_in *in, void *to)
{
	struct answer *a = to;
	struct record_kv *kv = one_more((void **)&a->kv, a->kvs, sizeof(*kv));

	if (kv == NULL || !read_kv(in, kv) || kv->created <= 0 || kv->created > kv->changed)
		return false;
	a->kvs++;
	a->found[a->n - 1].n++;
	return true;
}

static const struct field found[] = { PARTS(2, read_record), NUMBER(4, struct answer, count),
				      NO_MORE };
static const struct field deleted[] = { NUMBER(2, struct answer, count), NO_MORE };

/* One operation's answer; ours we drop. */
static bool
read_response(struct wire_in *in, void *to)
{
	static const struct field table[] = { FIELDS(1, found), FIELDS(3, deleted),
					      TEXT(4, struct answer, ours), NO_MORE };
	struct answer *a = to;
	struct records_found *f;

	if (a->n > REQUEST_OPERATIONS ||
	    one_more((void **)&a->found, a->n, sizeof(*a->found)) == NULL)
		return false;
	f = &a->found[a->n++];
	a->count = 0;
	a->ours = NULL;
	if (!read_fields(in, table, a))
		return false;
	f->count = a->count < 0 ? 0 : (uint64_t)a->count;
	if (a->ours != NULL && f->n == 0)
		a->n--;
	return true;
}

/* ---- watches ------------------------------------------------------------------------------- */

static bool
read_change(struct wire_in *in, void *to)
{
	static const struct field table[] = {
		FLAG(1, struct records_change, deleted),
		PART(2, struct records_change, kv, read_kv),
		NO_MORE,
	};
	struct answer *a = to;
	struct records_change *c = one_more((void **)&a->change, a->changes, sizeof(*c));

	if (c == NULL || !read_fields(in, table, c) || c->kv.key == NULL)
		return false;
	a->changes++;
	return true;
}

/* ---- whole messages ------------------------------------------------------------------------ */

/* clang-format off */
static const struct field txn[] = { HEADER, FLAG(2, struct answer, held), PARTS(3, read_response), NO_MORE };
static const struct field lease[] = { HEADER, NUMBER(3, struct answer, ttl), NO_MORE };
static const struct field token[] = { HEADER, TEXT(2, struct answer, token), NO_MORE };
static const struct field watch[] = {
	HEADER,
	NUMBER(2, struct answer, id),
	FLAG(3, struct answer, created),
	FLAG(4, struct answer, canceled),
	NUMBER(5, struct answer, compacted),
	TEXT(6, struct answer, reason),
	PARTS(11, read_change),
	NO_MORE,
};
/* clang-format on */

bool
answer_read(struct answer *a, enum answer_kind kind, uint8_t *bytes, size_t size)
{
	static const struct field *const message[] = { txn, lease, token, watch };
	struct wire_in in = { .at = bytes, .end = bytes + size };
	size_t i, at = 0;

	*a = (struct answer){ .revision = NO_HEADER };
	if (!read_fields(&in, message[kind], a) || a->revision == NO_HEADER)
		return false;
	for (i = 0; i < a->n; at += a->found[i++].n)
		a->found[i].kv = a->kvs > 0 ? a->kv + at : NULL;
	return true;
}

void
answer_free(struct answer *a)
{
	free(a->found);
	free(a->kv);
	free(a->change);
	memset(a, 0, sizeof(*a));
}
