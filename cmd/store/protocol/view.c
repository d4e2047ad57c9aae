/* SPDX-License-Identifier: ISC */
/*
 * view.c - what people see of a limiter as it stood at one moment.
 */
#include "view.h"

#include <string.h>

#include "now.h"
#include "room.h"

static struct room
room_of(const struct view *v)
{
	struct room r = { .set = &v->set };
	size_t i;

	for (i = 0; i < v->holders; i++)
		room_add(&r, v->entry[i].weight, v->entry[i].limit, v->entry[i].seat);
	return r;
}

uint64_t
view_used(const struct view *v)
{
	return room_of(v).used;
}

uint32_t
view_limit(const struct view *v)
{
	struct room r = room_of(v);
	uint32_t limit = room_limit(&r, v->waiters > 0 ? v->entry[v->holders].limit : 0);

	if (limit == 0 && v->set.override < 0)
		limit = v->set.declared;
	return v->capacity != 0 && v->capacity < limit ? (uint32_t)v->capacity : limit;
}

struct flk_entry
view_show(const struct view_entry *v)
{
	struct flk_entry e = { .ticket = v->ticket,
			       .weight = v->weight,
			       .limit = v->limit,
			       .seat = v->seat,
			       .pid = (pid_t)v->pid,
			       .uid = v->uid,
			       .since_ns = when_was(v->since_ms),
			       .holds = v->holds,
			       .silent = v->suspect,
			       .share = v->share,
			       .role = v->role };

	memcpy(e.command, v->command, sizeof(e.command));
	memcpy(e.key, v->key, sizeof(e.key));
	return e;
}
