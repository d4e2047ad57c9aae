/* SPDX-License-Identifier: ISC */
/*
 * args.c - arguments and answers of PostgreSQL's functions in its binary formats, which need no quoting; and
 * what its notifications say.
 */
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client.h"

#define ARRAY_OF_INT4  1007
#define ARRAY_OF_INT8  1016
#define ARRAY_OF_BYTEA 1001

static void
add(struct args *a, const void *bytes, size_t size)
{
	if (a->failed || size == 0)
		return;
	if (a->n + size > a->room) {
		size_t room = (a->n + size) * 2;
		char *at = realloc(a->at, room);

		if (at == NULL) {
			a->failed = true;
			return;
		}
		a->at = at;
		a->room = room;
	}
	memcpy(a->at + a->n, bytes, size);
	a->n += size;
}

static void
add4(struct args *a, int64_t number)
{
	uint32_t bytes = htobe32((uint32_t)number);

	add(a, &bytes, sizeof(bytes));
}

static void
add8(struct args *a, int64_t number)
{
	uint64_t bytes = htobe64((uint64_t)number);

	add(a, &bytes, sizeof(bytes));
}

static void
begin(struct args *a, Oid type)
{
	a->type[a->count] = type;
	a->start[a->count++] = a->n;
}

void
args_number(struct args *a, int64_t number)
{
	begin(a, ARGS_INT8);
	add8(a, number);
}

struct args
args_of(int64_t number)
{
	struct args a = { .n = 0 };

	args_number(&a, number);
	return a;
}

void
args_array(struct args *a, enum args_type type, size_t elements)
{
	begin(a, type == ARGS_INT4   ? ARRAY_OF_INT4
		 : type == ARGS_INT8 ? ARRAY_OF_INT8
				     : ARRAY_OF_BYTEA);
	add4(a, elements > 0); /* dimensions */
	add4(a, 0);            /* no NULL among them */
	add4(a, type);
	if (elements == 0)
		return;
	add4(a, (int64_t)elements);
	add4(a, 1); /* the first has this index */
}

void
args_element_number(struct args *a, enum args_type type, int64_t number)
{
	add4(a, type == ARGS_INT4 ? 4 : 8);
	(type == ARGS_INT4 ? add4 : add8)(a, number);
}

void
args_element(struct args *a, const void *bytes, size_t size)
{
	add4(a, (int64_t)size);
	add(a, bytes, size);
}

void
args_element_end(struct args *a, const char *key, const char *end)
{
	if (end == NULL)
		args_element(a, key, strlen(key) + 1);
	else
		args_element(a, end, strlen(end));
}

int
args_send(const struct args *a, PGconn *conn, const char *function)
{
	const char *value[ARGS_MOST];
	int length[ARGS_MOST], format[ARGS_MOST], i;
	char sql[100];

	for (i = 0; i < a->count; i++) {
		value[i] = a->at + a->start[i];
		length[i] = (int)((i + 1 < a->count ? a->start[i + 1] : a->n) - a->start[i]);
		format[i] = 1;
	}
	snprintf(sql, sizeof(sql), "SELECT * FROM flocklimit.%s(%.*s)", function,
		 a->count > 0 ? a->count * 3 - 1 : 0, "$1,$2,$3,$4,$5,$6");
	return PQsendQueryParams(conn, sql, a->count, a->type, value, length, format, 1);
}

void
args_free(struct args *a)
{
	free(a->at);
	*a = (struct args){ .at = NULL };
}

int64_t
answer_number(const PGresult *result, int row, int column)
{
	const char *at = PQgetvalue(result, row, column);
	uint64_t eight;
	uint32_t four;

	if (PQgetisnull(result, row, column))
		return 0;
	if (PQgetlength(result, row, column) == sizeof(four)) {
		memcpy(&four, at, sizeof(four));
		return (int32_t)be32toh(four);
	}
	if (PQgetlength(result, row, column) != sizeof(eight))
		return 0;
	memcpy(&eight, at, sizeof(eight));
	return (int64_t)be64toh(eight);
}

/* libpq adds a NUL to each value. */
void
answer_kv(struct record_kv *kv, const PGresult *result, int row)
{
	*kv = (struct record_kv){ .key = PQgetvalue(result, row, KEY),
				  .key_size = (size_t)PQgetlength(result, row, KEY),
				  .value = PQgetvalue(result, row, VALUE),
				  .value_size = (size_t)PQgetlength(result, row, VALUE),
				  .created = answer_number(result, row, CREATED),
				  .changed = answer_number(result, row, CHANGED),
				  .lease = answer_number(result, row, LEASE) };
}

/* ---- notifications ---- */

static int
digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Makes bytes of digits, in place, and moves on to what follows. */
static char *
bytes(char **text, size_t *n)
{
	char *from = *text, *to = *text, *start = *text;

	for (; digit(from[0]) >= 0 && digit(from[1]) >= 0; from += 2)
		*to++ = (char)(digit(from[0]) << 4 | digit(from[1]));
	*n = (size_t)(to - start);
	*text = from;
	return start;
}

static bool
number(char **text, int64_t *n)
{
	char *end;

	*n = strtoll(*text, &end, 10);
	if (end == *text || *end != ' ')
		return false;
	*text = end + 1;
	return true;
}

static bool
read_change(struct records_change *c, char **text)
{
	struct record_kv *kv = &c->kv;
	int64_t deleted;
	char end;

	if (!number(text, &kv->changed) || !number(text, &deleted) || !number(text, &kv->created) ||
	    !number(text, &kv->lease))
		return false;
	c->deleted = deleted != 0;
	kv->key = bytes(text, &kv->key_size);
	if (kv->key_size == 0 || **text != ' ')
		return false;
	kv->key[kv->key_size] = '\0';
	++*text;
	kv->value = bytes(text, &kv->value_size);
	end = **text;
	kv->value[kv->value_size] = '\0';
	if (end == '\n')
		++*text;
	return end == '\n' || end == '\0';
}

size_t
changes_read(struct records_change change[CHANGES], char *lines)
{
	size_t n = 0;

	while (*lines != '\0')
		if (n == CHANGES || !read_change(&change[n++], &lines))
			return 0;
	return n;
}
