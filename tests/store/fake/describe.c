/* SPDX-License-Identifier: ISC */
#include "server.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void
decoded(struct buf *out, const json_t *value)
{
	size_t len = json_string_length(value);
	const char *text = json_string_value(value);
	char *to = must_make(len / 4 * 3 + 1);
	long i, n = base64_decode(to, text, len);

	for (i = 0; i < n; i++) {
		if (isgraph((unsigned char)to[i]) && to[i] != '\\')
			buf_add(out, &to[i], 1);
		else
			buf_printf(out, "\\x%02x", (unsigned char)to[i]);
	}
	if (n < 0)
		buf_text(out, "?");
	free(to);
}

/* The key that an object has, and the lease. */
static void
describe_one(struct buf *out, const char *what, const json_t *o)
{
	const json_t *key = read_member(o, "key");
	const json_t *end = read_member(o, "range_end");
	const json_t *lease = read_member(o, "lease");

	if (json_is_string(key)) {
		buf_printf(out, " %s:", what);
		decoded(out, key);
	}
	if (json_is_string(key) && json_is_string(end)) {
		buf_text(out, "..");
		decoded(out, end);
	}
	if (lease == NULL)
		lease = read_member(o, "ID");
	if (json_is_string(lease))
		buf_printf(out, " lease:%s", json_string_value(lease));
	else if (json_is_integer(lease))
		buf_printf(out, " lease:%" JSON_INTEGER_FORMAT, json_integer_value(lease));
}

static void
describe_ops(struct buf *out, const json_t *list)
{
	static const char *const names[][2] = {
		{ "request_put", "put" },
		{ "request_range", "range" },
		{ "request_delete_range", "delete" },
	};
	size_t i, j;

	for (i = 0; i < json_array_size(list); i++) {
		for (j = 0; j < sizeof(names) / sizeof(names[0]); j++)
			describe_one(out, names[j][1],
				     read_member(json_array_get(list, i), names[j][0]));
	}
}

static void
describe_object(struct buf *out, const json_t *o)
{
	const json_t *compares = read_member(o, "compare");
	struct buf otherwise = { 0 };
	size_t i;

	describe_one(out, "key", o);
	describe_one(out, "watch", read_member(o, "create_request"));
	for (i = 0; i < json_array_size(compares); i++)
		describe_one(out, "if", json_array_get(compares, i));
	describe_ops(out, read_member(o, "success"));
	describe_ops(&otherwise, read_member(o, "failure"));
	if (otherwise.len > 0)
		buf_printf(out, " else%s", otherwise.at);
	buf_free(&otherwise);
}

void
describe(struct buf *out, const struct body *body)
{
	size_t i;

	buf_text(out, "");
	for (i = 0; i < body->count; i++)
		describe_object(out, body->values[i]);
}
