/* SPDX-License-Identifier: ISC */
/*
 * snapshot.c - a store's limiter as flocklimit.h shows it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "session.h"
#include "wrapper/internal.h"

static int
take(void *context, const struct engine_answer *a)
{
	const struct view *v = a->view;
	size_t n = v->holders + v->waiters, i;
	struct flk_snapshot **made = context, *s;

	if (!v->there)
		return -ENOENT;
	s = malloc(sizeof(*s) + n * sizeof(s->entry[0]));
	if (s == NULL)
		return -ENOMEM;
	*s = (struct flk_snapshot){ .set = v->set,
				    .limit = view_limit(v),
				    .used = view_used(v),
				    .holders = (uint32_t)v->holders,
				    .waiters = (uint32_t)v->waiters };
	if (s->set.declared == 0)
		s->set.declared = flk_cpus(100);
	if (s->limit == 0 && s->set.override == FLK_AUTO)
		s->limit = s->set.declared;
	for (i = 0; i < n; i++) {
		s->entry[i] = view_show(&v->entry[i]);
		s->entry[i].slot = (uint32_t)i;
		s->entry[i].host = session_machine(v->entry[i].host);
		if (v->entry[i].ticket > s->last_ticket)
			s->last_ticket = v->entry[i].ticket;
	}
	*made = s;
	return 0;
}

int
store_snapshot(struct flk *f, struct flk_snapshot **snapshot)
{
	struct engine_question q = { .kind = ASK_LOOK };
	struct session *d;
	int error = session_of(f, &d);

	return error != 0 ? error : session_ask(d, &q, SESSION_PATIENCE, take, snapshot);
}
