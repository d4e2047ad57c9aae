/* SPDX-License-Identifier: ISC */
/*
 * leasing.c - the calls for leases, and compaction.
 */
#include "fake.h"

#include <inttypes.h>

static const char no_lease[] = "etcdserver: requested lease not found";

static void
write_id(struct buf *out, const struct fake *fake, int64_t id)
{
	write_header(out, fake);
	write_int(out, "ID", id);
}

bool
call_grant(struct call *call, struct buf *out)
{
	int64_t id = read_int(&call->reading, call->body, "ID");
	int64_t ttl = read_int(&call->reading, call->body, "TTL");
	struct fake *fake = call->fake;
	const struct lease *lease;

	if (call->wrong.code != 0)
		return false;
	if (call->token[0] != '\0' && !auth_is_user(call))
		return false;
	if (ttl > 9000000000)
		return wrong_is(&call->wrong, OUT_OF_RANGE, "etcdserver: too large lease TTL");
	if (id != 0 && lease_find(&fake->leases, id) != NULL)
		return wrong_is(&call->wrong, PRECONDITION, "etcdserver: lease already exists");
	lease = lease_grant(&fake->leases, id, ttl, fake->now);
	write_id(out, fake, lease->id);
	write_int(out, "TTL", lease->ttl);
	buf_text(out, "}");
	return true;
}

/* Whose keys are forbidden can't be revoked; without keys, nobody asks who it is. */
static bool
may_revoke(struct call *call, int64_t id)
{
	const struct kv *kv = &call->fake->kv;
	size_t i;

	if (call->token[0] != '\0' && !auth_is_user(call))
		return false;
	for (i = 0; i < kv->count; i++) {
		const struct version *v = key_now(kv->keys[i]);
		struct range one = { .from = kv->keys[i]->name };

		if (v != NULL && v->lease == id && !auth_may(call, &one))
			return false;
	}
	return true;
}

bool
call_revoke(struct call *call, struct buf *out)
{
	int64_t id = read_int(&call->reading, call->body, "ID");
	struct fake *fake = call->fake;
	struct lease *lease = lease_find(&fake->leases, id);

	if (call->wrong.code != 0 || !may_revoke(call, id))
		return false;
	if (lease == NULL)
		return wrong_is(&call->wrong, NOT_FOUND, no_lease);
	lease_revoke(&fake->leases, lease, &fake->kv);
	write_header(out, fake);
	buf_text(out, "}");
	return true;
}

/* Of one that is gone, there is no TTL. */
bool
call_keepalive(struct call *call, struct buf *out)
{
	int64_t id = read_int(&call->reading, call->body, "ID");
	struct fake *fake = call->fake;
	struct lease *lease = lease_find(&fake->leases, id);

	if (call->wrong.code != 0)
		return false;
	write_id(out, fake, id);
	if (lease != NULL) {
		lease->until = fake->now + 1000 * lease->ttl;
		write_int(out, "TTL", lease->ttl);
	}
	buf_text(out, "}");
	return true;
}

static void
write_keys(struct buf *out, const struct kv *kv, int64_t lease)
{
	bool any = false;
	size_t i;

	for (i = 0; i < kv->count; i++) {
		const struct version *v = key_now(kv->keys[i]);

		if (v == NULL || v->lease != lease)
			continue;
		buf_text(out, any ? ",\"" : ",\"keys\":[\"");
		buf_base64(out, kv->keys[i]->name);
		buf_text(out, "\"");
		any = true;
	}
	if (any)
		buf_text(out, "]");
}

bool
call_timetolive(struct call *call, struct buf *out)
{
	int64_t id = read_int(&call->reading, call->body, "ID");
	bool keys = read_bool(&call->reading, call->body, "keys");
	struct fake *fake = call->fake;
	const struct lease *lease = lease_find(&fake->leases, id);

	if (call->wrong.code != 0)
		return false;
	write_id(out, fake, id);
	if (lease != NULL) {
		write_int(out, "TTL", (lease->until - fake->now - 1) / 1000);
		write_int(out, "grantedTTL", lease->ttl);
		if (keys)
			write_keys(out, &fake->kv, id);
	} else {
		write_int(out, "TTL", -1);
	}
	buf_text(out, "}");
	return true;
}

bool
call_leases(struct call *call, struct buf *out)
{
	struct leases *l = &call->fake->leases;
	size_t i;

	lease_sort(l);
	write_header(out, call->fake);
	for (i = 0; i < l->count; i++)
		buf_printf(out, "%s{\"ID\":\"%" PRId64 "\"}", i == 0 ? ",\"leases\":[" : ",",
			   l->list[i].id);
	buf_text(out, l->count > 0 ? "]}" : "}");
	return true;
}

bool
call_compaction(struct call *call, struct buf *out)
{
	int64_t revision = read_int(&call->reading, call->body, "revision");
	struct kv *kv = &call->fake->kv;

	if (call->wrong.code != 0)
		return false;
	if (call->token[0] != '\0' && !auth_is_user(call))
		return false;
	if (revision <= kv->compacted)
		return wrong_is(&call->wrong, OUT_OF_RANGE,
				"etcdserver: mvcc: required revision has been compacted");
	if (revision > kv->revision)
		return wrong_is(&call->wrong, OUT_OF_RANGE,
				"etcdserver: mvcc: required revision is a future revision");
	kv->compacted = revision;
	write_header(out, call->fake);
	buf_text(out, "}");
	return true;
}
