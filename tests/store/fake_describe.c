#include "fake_server.h"

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

/* What has a key, by the name of the member that it is in. */
static const char *
what_is(const char *name)
{
	static const char *const names[][2] = {
		{ "request_put", "put" },
		{ "request_range", "range" },
		{ "request_delete_range", "delete" },
		{ "compare", "if" },
		{ "create_request", "watch" },
	};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(names[i][0], name) == 0)
			return names[i][1];
	}
	return NULL;
}

static void describe_value(struct buf *out, const char *what, const json_t *value);

/* Its own key first, and then what is in it. */
static void
describe_object(struct buf *out, const char *what, const json_t *o)
{
	const json_t *key = read_member(o, "key");
	const json_t *end = read_member(o, "range_end");
	const json_t *lease = read_member(o, "lease");
	const char *name;
	json_t *value;

	if (json_is_string(key)) {
		buf_printf(out, " %s:", what);
		decoded(out, key);
		if (json_is_string(end)) {
			buf_text(out, "..");
			decoded(out, end);
		}
	}
	if (lease == NULL)
		lease = read_member(o, "ID");
	if (json_is_string(lease))
		buf_printf(out, " lease:%s", json_string_value(lease));
	else if (json_is_integer(lease))
		buf_printf(out, " lease:%" JSON_INTEGER_FORMAT, json_integer_value(lease));
	json_object_foreach((json_t *)(uintptr_t)o, name, value)
	{
		if (strcmp(name, "failure") == 0)
			buf_text(out, " else");
		describe_value(out, what_is(name) != NULL ? what_is(name) : what, value);
	}
}

static void
describe_value(struct buf *out, const char *what, const json_t *value)
{
	size_t i;

	if (json_is_object(value))
		describe_object(out, what, value);
	for (i = 0; i < json_array_size(value); i++)
		describe_value(out, what, json_array_get(value, i));
}

void
describe(struct buf *out, const struct body *body)
{
	size_t i;

	buf_text(out, "");
	for (i = 0; i < body->count; i++)
		describe_value(out, "key", body->values[i]);
}
