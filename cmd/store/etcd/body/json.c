/* SPDX-License-Identifier: ISC */
/*
 * json.c - pieces of the gateway's bodies: makes requests, reads answers.
 *
 * We never trust what a server sends: a member of a wrong type counts as absent if it may be
 * absent, and makes the whole meaningless if it may not.  A body that could not be made for want of
 * memory is NULL all the way up.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base64.h"
#include "etcd/client/etcd.h"

json_t *
etcd_string(const char *bytes, size_t size)
{
	char *text = malloc(BASE64_ROOM(size));
	json_t *s = NULL;

	if (text != NULL) {
		base64_encode(text, bytes, size);
		s = json_string(text);
	}
	free(text);
	return s;
}

json_t *
etcd_number(int64_t n)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRId64, n);
	return json_string(text);
}

int64_t
etcd_integer(const json_t *object, const char *name)
{
	const json_t *v = json_object_get(object, name);
	const char *text;
	char *end;
	int64_t n;

	if (json_is_integer(v))
		return json_integer_value(v);
	text = json_string_value(v);
	if (text == NULL || (*text != '-' && (*text < '0' || *text > '9')))
		return 0;
	errno = 0;
	n = strtoll(text, &end, 10);
	return *end != '\0' || errno != 0 ? 0 : n;
}

/* ---- reading answers ------------------------------------------------------------------------ */

/*
 * The member's bytes, none if it is absent; they end with a NUL beyond their size, and the caller
 * frees them.  NULL: no string, no base64, or no memory.
 */
static char *
read_bytes(const json_t *object, const char *name, size_t *size)
{
	const json_t *v = json_object_get(object, name);
	const char *text = v == NULL ? "" : json_string_value(v);
	char *bytes;

	if (text == NULL)
		return NULL;
	bytes = malloc(strlen(text) / 4 * 3 + 1);
	if (bytes != NULL && !base64_decode(bytes, size, text)) {
		free(bytes);
		bytes = NULL;
	}
	return bytes;
}

bool
etcd_kv_read(struct etcd_kv *kv, const json_t *object)
{
	memset(kv, 0, sizeof(*kv));
	if (!json_is_object(object))
		return false;
	kv->key = read_bytes(object, "key", &kv->key_size);
	kv->value = read_bytes(object, "value", &kv->value_size);
	kv->create_revision = etcd_integer(object, "create_revision");
	kv->mod_revision = etcd_integer(object, "mod_revision");
	kv->lease = etcd_integer(object, "lease");
	if (kv->key != NULL && kv->value != NULL && kv->key_size > 0)
		return true;
	free(kv->key);
	free(kv->value);
	memset(kv, 0, sizeof(*kv));
	return false;
}

long
etcd_kvs(const json_t *range_response, struct etcd_kv **kvs)
{
	const json_t *array = json_object_get(range_response, "kvs");
	size_t size = json_array_size(array), n;

	*kvs = NULL;
	if (!json_is_object(range_response) || (array != NULL && !json_is_array(array)))
		return -1;
	if (size == 0)
		return 0;
	*kvs = calloc(size, sizeof(**kvs));
	if (*kvs == NULL)
		return -1;
	for (n = 0; n < size; n++) {
		struct etcd_kv *kv = *kvs + n;

		if (!etcd_kv_read(kv, json_array_get(array, n)) || kv->create_revision <= 0 ||
		    kv->mod_revision < kv->create_revision) {
			etcd_kvs_free(*kvs, (long)size);
			*kvs = NULL;
			return -1;
		}
	}
	return (long)size;
}

void
etcd_kvs_free(struct etcd_kv *kvs, long n)
{
	long i;

	for (i = 0; i < n; i++) {
		free(kvs[i].key);
		free(kvs[i].value);
	}
	free(kvs);
}

bool
etcd_succeeded(const json_t *txn_body)
{
	return json_is_true(json_object_get(txn_body, "succeeded"));
}

const json_t *
etcd_response_range(const json_t *txn_body, size_t n)
{
	const json_t *responses = json_object_get(txn_body, "responses");
	const json_t *range = json_object_get(json_array_get(responses, n), "response_range");

	return json_is_object(range) ? range : NULL;
}

/* ---- making requests ------------------------------------------------------------------------ */

/* Takes the value over; if either is NULL, frees the other and returns NULL. */
static json_t *
with(json_t *object, const char *name, json_t *value)
{
	if (json_object_set_new(object, name, value) == -1) {
		json_decref(object);
		return NULL;
	}
	return object;
}

static json_t *
with_range(json_t *object, const char *key, const char *end)
{
	object = with(object, "key", etcd_string(key, strlen(key)));
	if (end != NULL)
		object = with(object, "range_end", etcd_string(end, strlen(end)));
	return object;
}

static json_t *
operation(const char *kind, json_t *request)
{
	if (request == NULL)
		return NULL;
	return with(json_object(), kind, request);
}

json_t *
etcd_get(const char *key, const char *end, bool keys_only, int64_t limit)
{
	json_t *o = with_range(json_object(), key, end);

	if (keys_only)
		o = with(o, "keys_only", json_true());
	if (limit != 0)
		o = with(o, "limit", etcd_number(limit));
	return operation("request_range", o);
}

json_t *
etcd_put(const char *key, const char *value, int64_t lease)
{
	json_t *o = with_range(json_object(), key, NULL);

	o = with(o, "value", etcd_string(value, strlen(value)));
	if (lease != 0)
		o = with(o, "lease", etcd_number(lease));
	return operation("request_put", o);
}

json_t *
etcd_delete(const char *key, const char *end)
{
	return operation("request_delete_range", with_range(json_object(), key, end));
}

static json_t *
compare(const char *key, const char *end, const char *target, const char *result, const char *name,
	int64_t revision)
{
	json_t *o = with_range(json_object(), key, end);

	o = with(o, "target", json_string(target));
	o = with(o, "result", json_string(result));
	return with(o, name, etcd_number(revision));
}

json_t *
etcd_if_absent(const char *key, const char *end)
{
	return compare(key, end, "CREATE", "EQUAL", "create_revision", 0);
}

json_t *
etcd_if_created(const char *key, int64_t revision)
{
	return compare(key, NULL, "CREATE", "EQUAL", "create_revision", revision);
}

json_t *
etcd_if_mod(const char *key, int64_t revision)
{
	return compare(key, NULL, "MOD", "EQUAL", "mod_revision", revision);
}

json_t *
etcd_if_no_news(const char *key, const char *end, int64_t revision)
{
	return compare(key, end, "MOD", "LESS", "mod_revision", revision + 1);
}

json_t *
etcd_txn(json_t *compares, json_t *then, json_t *otherwise)
{
	json_t *o = json_object();

	if (compares != NULL)
		o = with(o, "compare", compares);
	if (then != NULL)
		o = with(o, "success", then);
	if (otherwise != NULL)
		o = with(o, "failure", otherwise);
	return o;
}
