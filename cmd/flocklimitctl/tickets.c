/* SPDX-License-Identifier: ISC */
#include "tickets.h"

#include "ctl.h"
#include "limiters.h"
#include "parse.h"
#include "say.h"

/*
 * If one word is not a ticket, do nothing: it may be the name of the limiter that the user meant.
 */
static bool
are_tickets(const struct ctl *c, char **word, int words)
{
	uint64_t ticket;
	int i;

	if (words == 0)
		say(name_of(c), "which ticket? flocklimitctl show lists them");
	for (i = 0; i < words; i++) {
		if (parse_number(word[i], 1, UINT64_C(1) << 60, &ticket))
			continue;
		say(name_of(c), "'%s': not a ticket: flocklimitctl show lists them", word[i]);
		return false;
	}
	return words > 0;
}

int
for_tickets(const struct ctl *c, each_ticket *one, void *ctx)
{
	int rests, status, worst = DONE, i;
	uint64_t ticket;
	char **rest;
	struct flk *f = open_named(c, &rest, &rests, &status);

	if (f == NULL)
		return status;
	if (!are_tickets(c, rest, rests))
		worst = FAILED;
	for (i = 0; i < rests && worst != FAILED; i++) {
		parse_number(rest[i], 1, UINT64_C(1) << 60, &ticket);
		status = one(c, f, ticket, ctx);
		if (status < 0)
			status = refuse(name_of(c), flk_path(f), f, status);
		worst = status > worst ? status : worst;
	}
	flk_detach(f);
	return worst;
}
