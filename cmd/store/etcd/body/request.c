/* SPDX-License-Identifier: ISC */
/*
 * request.c - the body of a watch: one create_request per range, one after the other.
 *
 * The server's gateway reads the body by a decoder, and continues to read while it already answers
 * the first request; but with its first answer, it throws away what it has not read of the body.
 * So the decoder must have all of the body when it has found the first request.  It reads pieces
 * that end at 512, 1536, 3584, ... bytes, each 512 more than twice the one before: spaces in front
 * of the first request push its end into the last piece that there is.
 *
 * That is sure for some 4000 bytes, which the server reads from the network at once.  In a longer
 * body the network decides, and now and then a range is lost: then the watch does not become OPEN,
 * and the client begins it again.
 */
#include "request.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_PIECE 512

static bool
set_bytes(json_t *o, const char *name, const char *bytes)
{
	return json_object_set_new(o, name, etcd_string(bytes, strlen(bytes))) == 0;
}

static json_t *
create(const struct request_range *r)
{
	json_t *o = json_object();
	bool made = set_bytes(o, "key", r->key);

	if (r->end != NULL)
		made = made && set_bytes(o, "range_end", r->end);
	if (r->next > 0)
		made = made && json_object_set_new(o, "start_revision", etcd_number(r->next)) == 0;
	if (r->no_put || r->no_delete)
		made = made &&
		       json_object_set_new(o, "filters",
					   json_pack("[s]", r->no_put ? "NOPUT" : "NODELETE")) == 0;
	if (made)
		return json_pack("{s:o}", "create_request", o);
	json_decref(o);
	return NULL;
}

/* How many spaces; first: the length of the first request; length: of all requests. */
static size_t
padding(size_t first, size_t length)
{
	size_t before = 0, end = FIRST_PIECE;

	for (;;) {
		size_t pad = first > before ? 0 : before + 1 - first;

		if (pad + length <= end)
			return pad;
		before = end;
		end = 2 * end + FIRST_PIECE;
	}
}

char *
request_make(const struct request_range *range, size_t ranges, size_t *size)
{
	char *text[ETCD_RANGES] = { NULL }, *body = NULL, *to;
	size_t first = 0, length = 0, pad, i;

	for (i = 0; i < ranges; i++) {
		json_t *o = create(&range[i]);

		text[i] = o == NULL ? NULL : json_dumps(o, JSON_COMPACT);
		json_decref(o);
		if (text[i] == NULL)
			goto out;
		length += strlen(text[i]);
		if (i == 0)
			first = length;
	}
	pad = padding(first, length);
	body = malloc(pad + length + 1);
	if (body == NULL)
		goto out;
	memset(body, ' ', pad);
	to = body + pad;
	for (i = 0; i < ranges; i++)
		to = stpcpy(to, text[i]);
	*to = '\0';
	*size = pad + length;
out:
	for (i = 0; i < ranges; i++)
		free(text[i]);
	return body;
}
