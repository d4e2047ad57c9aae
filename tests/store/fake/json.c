/* SPDX-License-Identifier: ISC */
#include "json.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool
wrong_is(struct wrong *w, int code, const char *text)
{
	if (w->code == 0) {
		w->code = code;
		snprintf(w->text, sizeof(w->text), "%s", text);
	}
	return false;
}

/* As wrong_is(), of what the gateway itself can't make sense of. */
static void undecoded(struct wrong *w, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void
undecoded(struct wrong *w, const char *format, ...)
{
	va_list args;

	if (w->code != 0)
		return;
	w->code = BAD_ARGUMENT;
	w->undecoded = true;
	va_start(args, format);
	vsnprintf(w->text, sizeof(w->text), format, args);
	va_end(args);
}

static void *
scrap_make(struct scrap *s, size_t size)
{
	if (s->count == s->room) {
		s->room = 2 * s->room + 16;
		s->list = must_grow(s->list, s->room, sizeof(*s->list));
	}
	return s->list[s->count++] = must_make(size);
}

void
scrap_free(struct scrap *s)
{
	while (s->count > 0)
		free(s->list[--s->count]);
	free(s->list);
	*s = (struct scrap){ 0 };
}

json_t *
read_member(const json_t *o, const char *name)
{
	json_t *value = json_object_get(o, name);
	char camel[40];
	size_t n = 0;

	if (value == NULL) {
		for (; *name != '\0' && n < sizeof(camel) - 1; name++) {
			if (*name == '_' && name[1] != '\0')
				camel[n++] = (char)toupper((unsigned char)*++name);
			else
				camel[n++] = *name;
		}
		camel[n] = '\0';
		value = json_object_get(o, camel);
	}
	return json_is_null(value) ? NULL : value;
}

/* As Go's decoder calls them. */
static const char *
kind_of(const json_t *value)
{
	switch (json_typeof(value)) {
	case JSON_OBJECT:
		return "object";
	case JSON_ARRAY:
		return "array";
	case JSON_STRING:
		return "string";
	case JSON_INTEGER:
	case JSON_REAL:
		return "number";
	case JSON_TRUE:
	case JSON_FALSE:
		return "bool";
	case JSON_NULL:
		break;
	}
	return "null";
}

static void
not_a(struct wrong *w, const json_t *value, const char *type)
{
	undecoded(w, "json: cannot unmarshal %s into Go value of type %s", kind_of(value), type);
}

int64_t
read_int(struct reading *r, const json_t *o, const char *name)
{
	const json_t *value = read_member(o, name);
	char *end;
	int64_t n;

	if (value == NULL)
		return 0;
	if (json_is_integer(value))
		return json_integer_value(value);
	if (!json_is_string(value)) {
		not_a(r->wrong, value, "int64");
		return 0;
	}
	errno = 0;
	n = strtoll(json_string_value(value), &end, 10);
	if (end == json_string_value(value))
		undecoded(r->wrong, "invalid character '%c' looking for beginning of value", *end);
	else if (*end != '\0' || errno != 0)
		undecoded(r->wrong, "invalid character '%c' after top-level value", *end);
	return n;
}

bool
read_bool(struct reading *r, const json_t *o, const char *name)
{
	const json_t *value = read_member(o, name);

	if (value != NULL && !json_is_boolean(value))
		not_a(r->wrong, value, "bool");
	return json_is_true(value);
}

struct bytes
read_bytes(struct reading *r, const json_t *o, const char *name)
{
	const json_t *value = read_member(o, name);
	size_t len;
	char *to;
	long n;

	if (value == NULL)
		return (struct bytes){ 0 };
	if (!json_is_string(value)) {
		not_a(r->wrong, value, "[]uint8");
		return (struct bytes){ 0 };
	}
	len = json_string_length(value);
	to = scrap_make(r->scrap, len / 4 * 3 + 1);
	n = base64_decode(to, json_string_value(value), len);
	if (n >= 0)
		return (struct bytes){ to, (size_t)n };
	undecoded(r->wrong, "illegal base64 data at input byte %ld", -1 - n);
	return (struct bytes){ 0 };
}

const char *
read_text(struct reading *r, const json_t *o, const char *name)
{
	const json_t *value = read_member(o, name);

	if (value != NULL && !json_is_string(value))
		not_a(r->wrong, value, "string");
	return json_is_string(value) ? json_string_value(value) : "";
}

int
read_enum(struct reading *r, const json_t *o, const char *name, const char *type,
	  const char *const *names)
{
	const json_t *value = read_member(o, name);
	int i;

	if (value == NULL)
		return 0;
	if (json_is_integer(value))
		return (int)json_integer_value(value);
	if (!json_is_string(value)) {
		not_a(r->wrong, value, "int32");
		return 0;
	}
	for (i = 0; names[i] != NULL; i++) {
		if (strcmp(names[i], json_string_value(value)) == 0)
			return i;
	}
	undecoded(r->wrong, "unknown value \"%s\" for enum etcdserverpb.%s",
		  json_string_value(value), type);
	return 0;
}

struct range
read_range(struct reading *r, const json_t *o)
{
	struct range range;

	range.from = read_bytes(r, o, "key");
	range.to = read_bytes(r, o, "range_end");
	return range;
}

void
write_int(struct buf *b, const char *name, int64_t value)
{
	if (value != 0)
		buf_printf(b, ",\"%s\":\"%" PRId64 "\"", name, value);
}

void
write_kv(struct buf *b, const struct key *key, const struct version *v, bool keys_only)
{
	buf_text(b, "{\"key\":\"");
	buf_base64(b, key->name);
	buf_text(b, "\"");
	write_int(b, "create_revision", v->create);
	write_int(b, "mod_revision", v->mod);
	write_int(b, "version", v->version);
	if (v->value.len > 0 && !keys_only) {
		buf_text(b, ",\"value\":\"");
		buf_base64(b, v->value);
		buf_text(b, "\"");
	}
	write_int(b, "lease", v->lease);
	buf_text(b, "}");
}

void
write_wrong(struct buf *b, const struct wrong *w)
{
	json_t *o =
	    json_pack("{s:s, s:s, s:i}", "error", w->text, "message", w->text, "code", w->code);
	char *text = o != NULL ? json_dumps(o, JSON_COMPACT | JSON_PRESERVE_ORDER) : NULL;

	json_decref(o);
	if (text == NULL)
		abort();
	buf_text(b, text);
	free(text);
}
