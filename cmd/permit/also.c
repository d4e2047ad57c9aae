/* SPDX-License-Identifier: ISC */
/*
 * also.c - the permits of --and: taken, passed to the command, and given back.
 */
#include "also.h"

#include <string.h>

/* ---- taking ---- */

/* A taker without a permit has nothing to mark. */
void
also_waits_for(const struct extra_permits *a, struct flk_taker *main, const char *limiter)
{
	unsigned i;

	if (main != NULL)
		flk_waits_for(main, limiter);
	for (i = 0; i < a->n; i++)
		flk_waits_for(a->of[i]->taker, limiter);
}

int
also_take(struct extra_permits *a, struct flk_taker *main, uint64_t from, uint64_t to,
	  const char *command, enum flk_role role)
{
	struct flk_request request;
	struct also *one;
	unsigned i;
	int error;

	for (i = 0; i < a->n; i++) {
		one = a->of[i];
		if (one->joined || one->identity < from || one->identity > to)
			continue;
		request = one->want.request;
		request.command = command;
		request.role = role;
		a->failed = one;
		also_waits_for(a, main, one->want.limiter);
		error = a->ops->take(a->ops->context, one, &request);
		if (error == 0)
			error = flk_verify(one->limiter);
		if (error == 0)
			error = flk_permit(one->taker, &one->permit);
		if (error != 0)
			return error;
	}
	a->failed = NULL;
	return 0;
}

int
also_guard(struct extra_permits *a)
{
	struct also *one;
	unsigned i;
	int error;

	a->heirs = 0;
	for (i = 0; i < a->n; i++) {
		one = a->of[i];
		if (one->joined)
			continue;
		a->heir[a->heirs] = (struct heir){ .taker = one->taker, .guard = -1 };
		if (a->ops->guarded &&
		    (error = flk_guard(one->taker, &a->heir[a->heirs].guard)) != 0) {
			a->failed = one;
			return error;
		}
		a->heirs++;
	}
	return 0;
}

void
also_inherit(const struct extra_permits *a, struct heritage *h)
{
	h->more = a->heir;
	h->n_more = a->heirs;
}

/* ---- giving back ---- */

void
also_release(struct extra_permits *a, uint64_t from, uint64_t to)
{
	unsigned i;

	for (i = a->n; i-- > 0;)
		if (a->of[i]->taker != NULL && !a->of[i]->joined && a->of[i]->identity >= from &&
		    a->of[i]->identity <= to)
			flk_leave(a->of[i]->taker);
}

void
also_ended(struct extra_permits *a, int status, const struct usage *usage)
{
	unsigned i;

	for (i = 0; i < a->n; i++)
		if (!a->of[i]->joined && a->of[i]->taker != NULL)
			usage_record(a->of[i]->taker, status, usage);
}

void
also_entrust(struct extra_permits *a)
{
	unsigned i;

	for (i = 0; i < a->n; i++)
		if (!a->of[i]->joined)
			flk_entrust(a->of[i]->taker);
}

/* ---- for the command ---- */

void
also_links(const struct extra_permits *a, char links[ALSO_LINKS])
{
	size_t n = strlen(links);
	unsigned i;

	for (i = 0; i < a->n; i++)
		if (!a->of[i]->joined) {
			if (n > 0)
				links[n++] = ' ';
			environment_link(a->of[i]->limiter, flk_slot(a->of[i]->taker),
					 a->of[i]->permit.ticket, links + n);
			n += strlen(links + n);
		}
}
