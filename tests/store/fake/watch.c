/* SPDX-License-Identifier: ISC */
#include "watch.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *const filters[] = { "NOPUT", "NODELETE", NULL };

static struct bytes
own(struct bytes b)
{
	return (struct bytes){ must_copy(b.at, b.len), b.len };
}

static void
drop(struct watch *watch)
{
	free((void *)(uintptr_t)watch->range.from.at);
	free((void *)(uintptr_t)watch->range.to.at);
}

static void
forget(struct watches *w, size_t i)
{
	drop(&w->list[i]);
	memmove(&w->list[i], &w->list[i + 1], (--w->count - i) * sizeof(*w->list));
}

void
watch_free(struct watches *w)
{
	while (w->count > 0)
		drop(&w->list[--w->count]);
	free(w->list);
	*w = (struct watches){ 0 };
}

static struct watch *
find(struct watches *w, int64_t id)
{
	size_t i;

	for (i = 0; i < w->count; i++) {
		if (w->list[i].id == id)
			return &w->list[i];
	}
	return NULL;
}

/* {"result":{"header":...,"watch_id":...: the members that follow are for the caller to add. */
static void
begin(struct buf *lines, const struct fake *fake, int64_t id)
{
	buf_text(lines, "{\"result\":");
	write_header(lines, fake);
	write_int(lines, "watch_id", id);
}

static void
refuse(struct buf *lines, const struct fake *fake, const char *code, const char *why)
{
	begin(lines, fake, -1);
	buf_printf(lines, ",\"created\":true,\"canceled\":true,\"cancel_reason\":\"%s%s\"}}\n",
		   code, why);
}

/* Such a line has no revision. */
static void
tell_of_compaction(struct buf *lines, const struct fake *fake, int64_t id)
{
	buf_printf(lines,
		   "{\"result\":{\"header\":{\"cluster_id\":\"%" PRIu64
		   "\",\"member_id\":\"%" PRIu64 "\",\"raft_term\":\"2\"}",
		   fake->cluster_id, fake->member_id);
	write_int(lines, "watch_id", id);
	buf_printf(lines, ",\"canceled\":true,\"compact_revision\":\"%" PRId64 "\"}}\n",
		   fake->kv.compacted);
}

static const struct version *
before(const struct kv *kv, const struct change *c)
{
	int64_t mod = c->key->versions[c->version].mod;

	return mod - 1 < kv->compacted ? NULL : key_at(c->key, mod - 1);
}

static void
write_event(struct buf *b, const struct kv *kv, const struct change *c, bool prev_kv)
{
	const struct version *v = &c->key->versions[c->version];
	const struct version *old = prev_kv ? before(kv, c) : NULL;
	struct version gone = { .mod = v->mod };

	buf_text(b, v->gone ? "{\"type\":\"DELETE\",\"kv\":" : "{\"kv\":");
	write_kv(b, c->key, v->gone ? &gone : v, false);
	if (old != NULL) {
		buf_text(b, ",\"prev_kv\":");
		write_kv(b, c->key, old, false);
	}
	buf_text(b, "}");
}

/* A compaction takes the deletions of its own revision away, and a watch that begins there is not
 * told: so it is in etcd until 3.4.31. */
static bool
concerns(const struct watch *watch, const struct kv *kv, const struct change *c)
{
	const struct version *v = &c->key->versions[c->version];
	bool gone = v->gone;

	if (gone && v->mod <= kv->compacted)
		return false;
	return range_has(&watch->range, c->key->name) && !(gone ? watch->nodelete : watch->noput);
}

/* All that is new in one line; nothing new: no line. */
static void
tell(struct watch *watch, const struct fake *fake, struct buf *lines)
{
	const struct kv *kv = &fake->kv;
	bool any = false;
	size_t i;

	for (i = kv_since(kv, watch->next); i < kv->logged; i++) {
		if (!concerns(watch, kv, &kv->log[i]))
			continue;
		if (!any)
			begin(lines, fake, watch->id);
		buf_text(lines, any ? "," : ",\"events\":[");
		write_event(lines, kv, &kv->log[i], watch->prev_kv);
		any = true;
	}
	if (any)
		buf_text(lines, "]}}\n");
	if (watch->next <= kv->revision)
		watch->next = kv->revision + 1;
}

void
watch_tell(struct watches *w, const struct fake *fake, struct buf *lines)
{
	size_t i;

	for (i = 0; i < w->count; i++)
		tell(&w->list[i], fake, lines);
}

static void
read_filters(struct reading *r, const json_t *list, struct watch *watch)
{
	size_t i;

	for (i = 0; i < json_array_size(list); i++) {
		json_t *one = json_pack("{s:O}", "f", json_array_get(list, i));
		int filter = read_enum(r, one, "f", "WatchCreateRequest_FilterType", filters);

		watch->noput = watch->noput || filter == 0;
		watch->nodelete = watch->nodelete || filter == 1;
		json_decref(one);
	}
}

static struct watch
read_watch(struct reading *r, const json_t *o)
{
	static const struct bytes first = { "", 1 };
	struct watch watch = { .range = read_range(r, o) };

	/* No key at all is the first that there can be. */
	if (watch.range.from.len == 0)
		watch.range.from = first;
	watch.id = read_int(r, o, "watch_id");
	watch.prev_kv = read_bool(r, o, "prev_kv");
	watch.next = read_int(r, o, "start_revision");
	read_filters(r, read_member(o, "filters"), &watch);
	return watch;
}

static void
add(struct watches *w, const struct watch *watch)
{
	struct watch *to;

	if (w->count == w->room) {
		w->room = 2 * w->room + 4;
		w->list = must_grow(w->list, w->room, sizeof(*w->list));
	}
	to = &w->list[w->count++];
	*to = *watch;
	to->range = (struct range){ own(watch->range.from), own(watch->range.to) };
}

static const char *
code_name(int code)
{
	switch (code) {
	case DENIED:
		return "rpc error: code = PermissionDenied desc = ";
	case UNAUTHENTICATED:
		return "rpc error: code = Unauthenticated desc = ";
	}
	return "rpc error: code = InvalidArgument desc = ";
}

static bool
create(struct watches *w, struct call *call, const json_t *o, struct buf *lines)
{
	const struct fake *fake = call->fake;
	struct watch watch = read_watch(&call->reading, o);
	bool late;

	if (call->wrong.code != 0)
		return false;
	if (!auth_may(call, &watch.range)) {
		refuse(lines, fake, code_name(call->wrong.code), call->wrong.text);
		call->wrong = (struct wrong){ 0 };
		return true;
	}
	if (range_is_empty(&watch.range) || (watch.id != 0 && find(w, watch.id) != NULL)) {
		refuse(lines, fake, "",
		       range_is_empty(&watch.range)
			   ? "mvcc: watcher range is empty"
			   : "mvcc: duplicate watch ID provided on the WatchStream");
		return true;
	}
	while (watch.id == 0 && find(w, w->next_id) != NULL)
		w->next_id++;
	if (watch.id == 0)
		watch.id = w->next_id++;
	late = watch.next > 0 && watch.next < fake->kv.compacted;
	if (watch.next <= 0)
		watch.next = fake->kv.revision + 1;
	begin(lines, fake, watch.id);
	buf_text(lines, ",\"created\":true}}\n");
	if (late) {
		tell_of_compaction(lines, fake, watch.id);
		return true;
	}
	add(w, &watch);
	tell(&w->list[w->count - 1], fake, lines);
	return true;
}

bool
watch_ask(struct watches *w, struct call *call, struct buf *lines)
{
	const json_t *o;
	int64_t id;
	size_t i;

	if ((o = read_member(call->body, "create_request")) != NULL)
		return create(w, call, o, lines);
	if ((o = read_member(call->body, "cancel_request")) != NULL) {
		id = read_int(&call->reading, o, "watch_id");
		for (i = 0; i < w->count; i++) {
			if (w->list[i].id != id)
				continue;
			forget(w, i);
			begin(lines, call->fake, id);
			buf_text(lines, ",\"canceled\":true}}\n");
			break;
		}
	} else if (read_member(call->body, "progress_request") != NULL) {
		begin(lines, call->fake, -1);
		buf_text(lines, "}}\n");
	}
	return call->wrong.code == 0;
}
