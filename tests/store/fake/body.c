/* SPDX-License-Identifier: ISC */
#include "body.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the decoder has read when it comes to this byte. */
static size_t
end_of_chunk(size_t byte)
{
	size_t size = 512;

	while (size < byte)
		size = 2 * size + 512;
	return size;
}

static void
is_no_object(struct wrong *w, const json_t *value)
{
	w->code = BAD_ARGUMENT;
	w->undecoded = true;
	snprintf(w->text, sizeof(w->text),
		 "json: cannot unmarshal %s into Go value of type map[string]json.RawMessage",
		 json_is_array(value)     ? "array"
		 : json_is_string(value)  ? "string"
		 : json_is_boolean(value) ? "bool"
					  : "number");
}

static void
is_no_json(struct wrong *w, const json_error_t *error, struct bytes text)
{
	size_t at = error->position > 0 ? (size_t)error->position - 1 : 0;

	/* A word that is none is at fault from its beginning on. */
	if (strchr("{[\"-0123456789tfn", text.at[0]) == NULL)
		at = 0;
	w->code = BAD_ARGUMENT;
	w->undecoded = true;
	if (json_error_code(error) == json_error_premature_end_of_input || at >= text.len)
		snprintf(w->text, sizeof(w->text), "unexpected EOF");
	else
		snprintf(w->text, sizeof(w->text),
			 "invalid character '%c' looking for beginning of value", text.at[at]);
}

/* The next value, and *at behind it; NULL: none. */
static json_t *
next(struct body *b, struct bytes text, size_t *at)
{
	json_t *value;
	json_error_t error;

	while (*at < text.len && isspace((unsigned char)text.at[*at]))
		++*at;
	if (*at == text.len)
		return NULL;
	text.at += *at;
	text.len -= *at;
	value = json_loadb(text.at, text.len,
			   JSON_DISABLE_EOF_CHECK | JSON_DECODE_ANY | JSON_ALLOW_NUL, &error);
	if (value == NULL && b->count == 0)
		is_no_json(&b->wrong, &error, text);
	if (value != NULL && !json_is_object(value)) {
		if (b->count == 0)
			is_no_object(&b->wrong, value);
		json_decref(value);
		return NULL;
	}
	*at += (size_t)error.position;
	return value;
}

void
body_read(struct body *b, struct bytes text, enum heard heard)
{
	json_t *value;
	size_t at = 0;

	*b = (struct body){ 0 };
	while ((value = next(b, text, &at)) != NULL) {
		b->values = must_grow(b->values, b->count + 1, sizeof(json_t *));
		b->values[b->count++] = value;
		if (heard == HEARD_ONE)
			break;
		if (heard == HEARD_UNTIL_THE_ANSWER && end_of_chunk(at) < text.len)
			text.len = end_of_chunk(at);
		/* What is heard now is what was read for the first. */
		heard = HEARD_TO_THE_END;
	}
	if (heard == HEARD_ONE && b->count == 0 && b->wrong.code == 0) {
		b->values = must_grow(NULL, 1, sizeof(json_t *));
		b->values[b->count++] = json_object();
	}
}

void
body_free(struct body *b)
{
	while (b->count > 0)
		json_decref(b->values[--b->count]);
	free(b->values);
	*b = (struct body){ 0 };
}
