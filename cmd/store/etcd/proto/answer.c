/* SPDX-License-Identifier: ISC */
/*
 * answer.c - see answer.h.  The numbers of the fields are those of etcd's rpc.proto and kv.proto.
 *
 * A text's NUL goes where the next field's tag, or the end of the message, was.  So a function puts
 * all of them there at its end, when it has read every tag.
 */
#include "answer.h"

#include <stdlib.h>
#include <string.h>

#include "request.h"

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

/* ---- pieces -------------------------------------------------------------------------------- */

static void
take_number(struct wire_in *in, const struct wire_field *f, int64_t *to)
{
	if (wire_is(in, f, WIRE_NUMBER))
		*to = (int64_t)f->value;
}

static void
take_flag(struct wire_in *in, const struct wire_field *f, bool *to)
{
	if (wire_is(in, f, WIRE_NUMBER))
		*to = f->value != 0;
}

static void
take_text(struct wire_in *in, const struct wire_field *f, char **to, size_t *size)
{
	if (wire_is(in, f, WIRE_BYTES)) {
		*to = (char *)f->bytes.at;
		*size = (size_t)(f->bytes.end - f->bytes.at);
	}
}

/* A part that is a message is read by its own function; what is wrong there is wrong here. */
#define within(in, f, read, to)                                             \
	do {                                                                \
		struct wire_in inner_ = (f)->bytes;                         \
		if (wire_is((in), (f), WIRE_BYTES) && !read(&inner_, (to))) \
			(in)->wrong = true;                                 \
	} while (false)

/* There is one after each. */
static bool
is_revision(int64_t n)
{
	return n >= 0 && n < INT64_MAX;
}

static bool
read_header(struct wire_in *in, int64_t *revision)
{
	struct wire_field f;

	while (wire_next(in, &f))
		if (f.number == 3)
			take_number(in, &f, revision);
	return !in->wrong && is_revision(*revision);
}

static bool
read_kv(struct wire_in *in, struct record_kv *kv)
{
	struct wire_field f;

	while (wire_next(in, &f)) {
		switch (f.number) {
		case 1:
			take_text(in, &f, &kv->key, &kv->key_size);
			break;
		case 2:
			take_number(in, &f, &kv->created);
			break;
		case 3:
			take_number(in, &f, &kv->changed);
			break;
		case 5:
			take_text(in, &f, &kv->value, &kv->value_size);
			break;
		case 6:
			take_number(in, &f, &kv->lease);
			break;
		default:
			break;
		}
	}
	return !in->wrong && kv->key_size > 0 && kv->changed > 0 && is_revision(kv->changed);
}

static void
end_texts(struct record_kv *kv)
{
	kv->key[kv->key_size] = '\0';
	if (kv->value == NULL)
		kv->value = kv->key + kv->key_size;
	kv->value[kv->value_size] = '\0';
}

/* ---- calls --------------------------------------------------------------------------------- */

/* While records are read, found->kv is not set: they may move. */
struct reading {
	struct answer *a;
	size_t kvs;
};

static bool
read_record(struct wire_in *in, struct reading *r)
{
	struct record_kv *kv = one_more((void **)&r->a->kv, r->kvs, sizeof(*kv));

	if (kv == NULL || !read_kv(in, kv) || kv->created <= 0 || kv->created > kv->changed)
		return false;
	r->kvs++;
	r->a->found[r->a->n - 1].n++;
	return true;
}

static bool
read_found(struct wire_in *in, struct reading *r)
{
	struct wire_field f;
	int64_t count = 0;

	while (wire_next(in, &f)) {
		if (f.number == 2)
			within(in, &f, read_record, r);
		else if (f.number == 4)
			take_number(in, &f, &count);
	}
	r->a->found[r->a->n - 1].count = count < 0 ? 0 : (uint64_t)count;
	return !in->wrong;
}

static bool
read_deleted(struct wire_in *in, struct reading *r)
{
	struct wire_field f;
	int64_t count = 0;

	while (wire_next(in, &f))
		if (f.number == 2)
			take_number(in, &f, &count);
	r->a->found[r->a->n - 1].count = count < 0 ? 0 : (uint64_t)count;
	return !in->wrong;
}

/* One operation's answer.  The transaction that request.c adds has one, too, which we drop. */
static bool
read_response(struct wire_in *in, struct reading *r)
{
	struct answer *a = r->a;
	struct wire_field f;
	bool nested = false;

	if (a->n > REQUEST_OPERATIONS ||
	    one_more((void **)&a->found, a->n, sizeof(*a->found)) == NULL)
		return false;
	a->n++;
	while (wire_next(in, &f)) {
		if (f.number == 1)
			within(in, &f, read_found, r);
		else if (f.number == 3)
			within(in, &f, read_deleted, r);
		else if (f.number == 4)
			nested = true;
	}
	if (nested && a->found[a->n - 1].n == 0)
		a->n--;
	return !in->wrong;
}

static struct wire_in
begin(struct answer *a, uint8_t *bytes, size_t size)
{
	memset(a, 0, sizeof(*a));
	return (struct wire_in){ .at = bytes, .end = bytes + size };
}

static void
take_header(struct wire_in *in, const struct wire_field *f, struct answer *a)
{
	a->headed = true;
	within(in, f, read_header, &a->revision);
}

bool
answer_txn(struct answer *a, uint8_t *bytes, size_t size)
{
	struct wire_in in = begin(a, bytes, size);
	struct reading r = { .a = a };
	struct wire_field f;
	size_t i, at = 0;

	while (wire_next(&in, &f)) {
		if (f.number == 1)
			take_header(&in, &f, a);
		else if (f.number == 2)
			take_flag(&in, &f, &a->held);
		else if (f.number == 3)
			within(&in, &f, read_response, &r);
	}
	if (in.wrong)
		return false;
	for (i = 0; i < r.kvs; i++)
		end_texts(&a->kv[i]);
	for (i = 0; i < a->n; at += a->found[i++].n)
		a->found[i].kv = r.kvs > 0 ? a->kv + at : NULL;
	return a->headed;
}

bool
answer_lease(struct answer *a, uint8_t *bytes, size_t size)
{
	struct wire_in in = begin(a, bytes, size);
	struct wire_field f;

	while (wire_next(&in, &f)) {
		if (f.number == 1)
			take_header(&in, &f, a);
		else if (f.number == 3)
			take_number(&in, &f, &a->ttl);
	}
	return !in.wrong && a->headed;
}

bool
answer_token(struct answer *a, uint8_t *bytes, size_t size)
{
	struct wire_in in = begin(a, bytes, size);
	struct wire_field f;
	size_t length = 0;

	while (wire_next(&in, &f)) {
		if (f.number == 1)
			take_header(&in, &f, a);
		else if (f.number == 2)
			take_text(&in, &f, &a->token, &length);
	}
	if (in.wrong)
		return false;
	if (a->token != NULL)
		a->token[length] = '\0';
	return a->headed;
}

void
answer_free(struct answer *a)
{
	free(a->found);
	free(a->kv);
	memset(a, 0, sizeof(*a));
}

/* ---- watches ------------------------------------------------------------------------------- */

static bool
read_event(struct wire_in *in, struct records_change *change)
{
	struct wire_field f;

	while (wire_next(in, &f)) {
		if (f.number == 1)
			take_flag(in, &f, &change->deleted);
		else if (f.number == 2)
			within(in, &f, read_kv, &change->kv);
	}
	return !in->wrong && change->kv.key != NULL;
}

static bool
read_change(struct wire_in *in, struct news *news)
{
	struct records_change *c = one_more((void **)&news->change, news->n, sizeof(*news->change));

	if (c == NULL || !read_event(in, c))
		return false;
	news->n++;
	return true;
}

static void
read_field(struct wire_in *in, const struct wire_field *f, struct news *news, size_t *length)
{
	switch (f->number) {
	case 1:
		news->headed = true;
		within(in, f, read_header, &news->revision);
		break;
	case 2:
		take_number(in, f, &news->id);
		break;
	case 3:
		take_flag(in, f, &news->created);
		break;
	case 4:
		take_flag(in, f, &news->canceled);
		break;
	case 5:
		take_number(in, f, &news->compacted);
		break;
	case 6:
		take_text(in, f, &news->reason, length);
		break;
	case 11:
		within(in, f, read_change, news);
		break;
	default:
		break;
	}
}

bool
news_read(struct news *news, uint8_t *bytes, size_t size)
{
	static char none[1];
	struct wire_in in = { .at = bytes, .end = bytes + size };
	struct wire_field f;
	size_t length = 0, i;

	memset(news, 0, sizeof(*news));
	while (wire_next(&in, &f))
		read_field(&in, &f, news, &length);
	if (in.wrong)
		return false;
	for (i = 0; i < news->n; i++)
		end_texts(&news->change[i].kv);
	if (news->reason != NULL)
		news->reason[length] = '\0';
	else
		news->reason = none;
	return news->headed;
}

void
news_free(struct news *news)
{
	free(news->change);
	memset(news, 0, sizeof(*news));
}
