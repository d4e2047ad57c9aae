/* SPDX-License-Identifier: ISC */
/*
 * transcode.c - see transcode.h.  The tables are etcd's rpc.proto, as far as flocklimit uses it.
 */
#include "transcode.h"

#include <stdlib.h>
#include <string.h>

#include "buf.h"

enum type { NUMBER, FLAG, BYTES, TEXT, PART };

struct field {
	unsigned number;
	const char *name;
	enum type type;
	bool many;
	const struct message *part;
	const char *const *words; /* of a number that JSON writes as a word */
};

struct message {
	const struct field *fields; /* the last has the number 0 */
};

#define A_NUMBER(n, called)                                     \
	{                                                       \
		.number = (n), .name = (called), .type = NUMBER \
	}
#define A_FLAG(n, called)                                     \
	{                                                     \
		.number = (n), .name = (called), .type = FLAG \
	}
#define SOME_BYTES(n, called)                                  \
	{                                                      \
		.number = (n), .name = (called), .type = BYTES \
	}
#define A_TEXT(n, called)                                     \
	{                                                     \
		.number = (n), .name = (called), .type = TEXT \
	}
#define A_PART(n, called, of)                                               \
	{                                                                   \
		.number = (n), .name = (called), .type = PART, .part = (of) \
	}
#define PARTS(n, called, of)                                                              \
	{                                                                                 \
		.number = (n), .name = (called), .type = PART, .many = true, .part = (of) \
	}

#define MESSAGE(name, ...)                                                        \
	static const struct message name = { (const struct field[]){ __VA_ARGS__, \
								     { .number = 0 } } }

static const char *const event_types[] = { "PUT", "DELETE", NULL };
static const char *const filters[] = { "NOPUT", "NODELETE", NULL };

MESSAGE(header, A_NUMBER(1, "cluster_id"), A_NUMBER(2, "member_id"), A_NUMBER(3, "revision"),
	A_NUMBER(4, "raft_term"));
MESSAGE(record, SOME_BYTES(1, "key"), A_NUMBER(2, "create_revision"), A_NUMBER(3, "mod_revision"),
	A_NUMBER(4, "version"), SOME_BYTES(5, "value"), A_NUMBER(6, "lease"));
MESSAGE(range, SOME_BYTES(1, "key"), SOME_BYTES(2, "range_end"), A_NUMBER(3, "limit"),
	A_NUMBER(5, "sort_order"), A_NUMBER(6, "sort_target"), A_FLAG(8, "keys_only"),
	A_NUMBER(13, "max_create_revision"));
MESSAGE(put, SOME_BYTES(1, "key"), SOME_BYTES(2, "value"), A_NUMBER(3, "lease"));
MESSAGE(delete, SOME_BYTES(1, "key"), SOME_BYTES(2, "range_end"));
MESSAGE(nothing, SOME_BYTES(1, "key"));
MESSAGE(operation, A_PART(1, "request_range", &range), A_PART(2, "request_put", &put),
	A_PART(3, "request_delete_range", &delete), A_PART(4, "request_txn", &nothing));
MESSAGE(compare, A_NUMBER(1, "result"), A_NUMBER(2, "target"), SOME_BYTES(3, "key"),
	A_NUMBER(5, "create_revision"), A_NUMBER(6, "mod_revision"), SOME_BYTES(64, "range_end"));
MESSAGE(txn, PARTS(1, "compare", &compare), PARTS(2, "success", &operation),
	PARTS(3, "failure", &operation));
MESSAGE(range_answer, A_PART(1, "header", &header), PARTS(2, "kvs", &record), A_FLAG(3, "more"),
	A_NUMBER(4, "count"));
MESSAGE(put_answer, A_PART(1, "header", &header));
MESSAGE(delete_answer, A_PART(1, "header", &header), A_NUMBER(2, "deleted"));
MESSAGE(nested_answer, A_PART(1, "header", &header), A_FLAG(2, "succeeded"));
MESSAGE(response, A_PART(1, "response_range", &range_answer),
	A_PART(2, "response_put", &put_answer), A_PART(3, "response_delete_range", &delete_answer),
	A_PART(4, "response_txn", &nested_answer));
MESSAGE(txn_answer, A_PART(1, "header", &header), A_FLAG(2, "succeeded"),
	PARTS(3, "responses", &response));
MESSAGE(grant, A_NUMBER(1, "TTL"), A_NUMBER(2, "ID"));
MESSAGE(lease, A_NUMBER(1, "ID"));
MESSAGE(lease_answer, A_PART(1, "header", &header), A_NUMBER(2, "ID"), A_NUMBER(3, "TTL"));
MESSAGE(user, A_TEXT(1, "name"), A_TEXT(2, "password"));
MESSAGE(user_answer, A_PART(1, "header", &header), A_TEXT(2, "token"));
MESSAGE(watch_create, SOME_BYTES(1, "key"), SOME_BYTES(2, "range_end"),
	A_NUMBER(3, "start_revision"),
	{ .number = 5, .name = "filters", .many = true, .words = filters },
	A_NUMBER(7, "watch_id"));
MESSAGE(watch_cancel, A_NUMBER(1, "watch_id"));
MESSAGE(watch, A_PART(1, "create_request", &watch_create),
	A_PART(2, "cancel_request", &watch_cancel));
MESSAGE(event, { .number = 1, .name = "type", .many = false, .words = event_types },
	A_PART(2, "kv", &record));
MESSAGE(watch_answer, A_PART(1, "header", &header), A_NUMBER(2, "watch_id"), A_FLAG(3, "created"),
	A_FLAG(4, "canceled"), A_NUMBER(5, "compact_revision"), A_TEXT(6, "cancel_reason"),
	PARTS(11, "events", &event));

static const struct transcoder transcoders[] = {
	{ "/etcdserverpb.KV/Txn", "/v3/kv/txn", &txn, &txn_answer },
	{ "/etcdserverpb.Lease/LeaseGrant", "/v3/lease/grant", &grant, &lease_answer },
	{ "/etcdserverpb.Lease/LeaseRevoke", "/v3/lease/revoke", &lease, &put_answer },
	{ "/etcdserverpb.Lease/LeaseKeepAlive", "/v3/lease/keepalive", &lease, &lease_answer },
	{ "/etcdserverpb.Auth/Authenticate", "/v3/auth/authenticate", &user, &user_answer },
	{ "/etcdserverpb.Watch/Watch", "/v3/watch", &watch, &watch_answer },
};

const struct transcoder *
transcoder_of(const char *grpc)
{
	size_t i;

	for (i = 0; i < sizeof(transcoders) / sizeof(transcoders[0]); i++)
		if (strcmp(transcoders[i].grpc, grpc) == 0)
			return &transcoders[i];
	return NULL;
}

/* ---- to JSON ---- */

static const struct field *
field_of(const struct message *m, unsigned number)
{
	const struct field *f;

	for (f = m->fields; f->number != 0; f++)
		if (f->number == number)
			return f;
	return NULL;
}

static json_t *
base64(const struct wire_in *in)
{
	struct buf text = { 0 };
	json_t *s;

	buf_text(&text, "");
	buf_base64(&text, (struct bytes){ (const char *)in->at, (size_t)(in->end - in->at) });
	s = json_string(text.at);
	buf_free(&text);
	return s;
}

/* NOLINTBEGIN(misc-no-recursion): no message of the tables is within itself */
static json_t *
value_of(const struct field *f, const struct wire_field *w)
{
	const struct wire_in *in = &w->bytes;

	if (w->type != (f->type == NUMBER || f->type == FLAG ? WIRE_NUMBER : WIRE_BYTES))
		return NULL;
	switch (f->type) {
	case NUMBER:
		return f->words != NULL && w->value < 2 ? json_string(f->words[w->value])
							: json_integer((json_int_t)w->value);
	case FLAG:
		return json_boolean(w->value != 0);
	case BYTES:
		return base64(in);
	case TEXT:
		return json_stringn((const char *)in->at, (size_t)(in->end - in->at));
	case PART:
		return json_of_message(f->part, in->at, (size_t)(in->end - in->at));
	}
	return NULL;
}

static void
set(json_t *o, const struct field *f, json_t *value)
{
	json_t *list = json_object_get(o, f->name);

	if (!f->many) {
		json_object_set_new(o, f->name, value);
		return;
	}
	if (list == NULL) {
		list = json_array();
		json_object_set_new(o, f->name, list);
	}
	json_array_append_new(list, value);
}

json_t *
/* NOLINTNEXTLINE(readability-non-const-parameter): struct wire_in has it */
json_of_message(const struct message *m, uint8_t *bytes, size_t size)
{
	struct wire_in in = { .at = bytes, .end = bytes + size };
	json_t *o = json_object(), *value;
	struct wire_field w;

	while (wire_next(&in, &w)) {
		const struct field *f = field_of(m, w.number);

		/* What these tables do not know is asked by nobody. */
		value = f != NULL ? value_of(f, &w) : NULL;
		if (value == NULL) {
			in.wrong = true;
			break;
		}
		set(o, f, value);
	}
	if (!in.wrong)
		return o;
	json_decref(o);
	return NULL;
}

/* ---- from JSON ---- */

static int64_t
number_of(const struct field *f, const json_t *value)
{
	const char *text = json_string_value(value);
	int64_t i;

	if (text == NULL)
		return json_integer_value(value);
	for (i = 0; f->words != NULL && f->words[i] != NULL; i++)
		if (strcmp(f->words[i], text) == 0)
			return i;
	return *text == '-' ? strtoll(text, NULL, 10) : (int64_t)strtoull(text, NULL, 10);
}

static void
write_value(const struct field *f, const json_t *value, struct wire_out *w)
{
	const char *text = json_string_value(value);
	size_t begun, size = json_string_length(value);

	switch (f->type) {
	case NUMBER:
		wire_number(w, f->number, number_of(f, value));
		break;
	case FLAG:
		wire_number(w, f->number, json_is_true(value));
		break;
	case BYTES: {
		char *to = must_make(size / 4 * 3 + 1);
		long n = base64_decode(to, text, size);

		wire_bytes(w, f->number, to, n < 0 ? 0 : (size_t)n);
		free(to);
		break;
	}
	case TEXT:
		wire_bytes(w, f->number, text, size);
		break;
	case PART:
		begun = wire_begin(w, f->number);
		message_of_json(f->part, value, w);
		wire_end(w, begun);
		break;
	}
}

void
message_of_json(const struct message *m, const json_t *o, struct wire_out *w)
{
	const struct field *f;
	size_t i;

	for (f = m->fields; f->number != 0; f++) {
		const json_t *value = json_object_get(o, f->name);

		if (value == NULL)
			continue;
		if (!f->many)
			write_value(f, value, w);
		for (i = 0; f->many && i < json_array_size(value); i++)
			write_value(f, json_array_get(value, i), w);
	}
}
/* NOLINTEND(misc-no-recursion) */
