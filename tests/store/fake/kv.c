/* SPDX-License-Identifier: ISC */
#include "kv.h"

#include <stdlib.h>
#include <string.h>

static bool
is_open(struct bytes end)
{
	return end.len == 1 && end.at[0] == '\0';
}

bool
range_has(const struct range *r, struct bytes name)
{
	if (r->to.len == 0)
		return bytes_compare(r->from, name) == 0;
	return bytes_compare(r->from, name) <= 0 &&
	       (is_open(r->to) || bytes_compare(name, r->to) < 0);
}

bool
range_is_empty(const struct range *r)
{
	return r->to.len > 0 && !is_open(r->to) && bytes_compare(r->from, r->to) >= 0;
}

/* Where a name is, or would be. */
static size_t
place_of(const struct kv *kv, struct bytes name)
{
	size_t low = 0, high = kv->count;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (bytes_compare(kv->keys[mid]->name, name) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

size_t
kv_first(const struct kv *kv, const struct range *r)
{
	return place_of(kv, r->from);
}

const struct version *
key_at(const struct key *key, int64_t revision)
{
	size_t i = key->count;

	while (i > 0 && key->versions[i - 1].mod > revision)
		i--;
	return i == 0 || key->versions[i - 1].gone ? NULL : &key->versions[i - 1];
}

const struct version *
key_now(const struct key *key)
{
	return key_at(key, INT64_MAX);
}

const struct version *
kv_now(const struct kv *kv, struct bytes name)
{
	size_t i = place_of(kv, name);

	if (i == kv->count || bytes_compare(kv->keys[i]->name, name) != 0)
		return NULL;
	return key_now(kv->keys[i]);
}

static int64_t
revision_of(const struct change *c)
{
	return c->key->versions[c->version].mod;
}

size_t
kv_since(const struct kv *kv, int64_t revision)
{
	size_t low = 0, high = kv->logged;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (revision_of(&kv->log[mid]) < revision)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static struct key *
find_or_make(struct kv *kv, struct bytes name)
{
	size_t i = place_of(kv, name);
	struct key *key;

	if (i < kv->count && bytes_compare(kv->keys[i]->name, name) == 0)
		return kv->keys[i];
	if (kv->count == kv->room) {
		kv->room = 2 * kv->room + 64;
		kv->keys = must_grow(kv->keys, kv->room, sizeof(*kv->keys));
	}
	memmove(&kv->keys[i + 1], &kv->keys[i], (kv->count - i) * sizeof(*kv->keys));
	kv->count++;
	key = must_make(sizeof(*key));
	key->name = (struct bytes){ must_copy(name.at, name.len), name.len };
	kv->keys[i] = key;
	return key;
}

static void
add_version(struct kv *kv, struct key *key, const struct version *v)
{
	if (key->count == key->room) {
		key->room = 2 * key->room + 2;
		key->versions = must_grow(key->versions, key->room, sizeof(*key->versions));
	}
	key->versions[key->count] = *v;
	if (kv->logged == kv->log_room) {
		kv->log_room = 2 * kv->log_room + 256;
		kv->log = must_grow(kv->log, kv->log_room, sizeof(*kv->log));
	}
	kv->log[kv->logged++] = (struct change){ key, key->count++ };
}

void
kv_put(struct kv *kv, struct bytes name, struct bytes value, int64_t lease)
{
	struct key *key = find_or_make(kv, name);
	const struct version *old = key_now(key);
	struct version v = { .mod = kv->revision + 1, .lease = lease };

	v.create = old != NULL ? old->create : v.mod;
	v.version = old != NULL ? old->version + 1 : 1;
	v.value = (struct bytes){ must_copy(value.at, value.len), value.len };
	add_version(kv, key, &v);
}

void
kv_delete(struct kv *kv, struct key *key)
{
	add_version(kv, key, &(struct version){ .mod = kv->revision + 1, .gone = true });
}

bool
kv_changed(const struct kv *kv)
{
	return kv->logged > 0 && revision_of(&kv->log[kv->logged - 1]) > kv->revision;
}

void
kv_commit(struct kv *kv)
{
	kv->revision += kv_changed(kv);
}

static void
free_bytes(struct bytes b)
{
	free((void *)(uintptr_t)b.at);
}

void
kv_wipe(struct kv *kv)
{
	size_t i, j;

	for (i = 0; i < kv->count; i++) {
		for (j = 0; j < kv->keys[i]->count; j++)
			free_bytes(kv->keys[i]->versions[j].value);
		free(kv->keys[i]->versions);
		free_bytes(kv->keys[i]->name);
		free(kv->keys[i]);
	}
	free(kv->keys);
	free(kv->log);
	*kv = (struct kv){ .revision = 1, .compacted = -1 };
}
