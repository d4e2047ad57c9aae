/* SPDX-License-Identifier: ISC */
#include "state.h"

#include <stdio.h>
#include <stdlib.h>

#define BIT(state)      STATE_BIT(PERMIT_##state)
#define ROW(state, ...) [PERMIT_##state] = { #state, BIT(state), __VA_ARGS__ }

const struct state_rule permit_rules[PERMIT_STATES] = {
	ROW(IDLE, BIT(IDLE) | BIT(LOCAL) | BIT(ENTERING) | BIT(HELD)),
	ROW(LOCAL, BIT(IDLE) | BIT(ENTERING)),
	ROW(ENTERING, BIT(IDLE) | BIT(ENTERING) | BIT(WAITING) | BIT(HELD) | BIT(LEAVING)),
	ROW(WAITING, BIT(IDLE) | BIT(ENTERING) | BIT(HELD) | BIT(LEAVING)),
	ROW(HELD, BIT(IDLE) | BIT(LEAVING) | BIT(RELEASING)),
	ROW(LEAVING, BIT(IDLE)),
	ROW(RELEASING, BIT(IDLE)),
};

void
state_check(const struct state_rule *from, const struct state_rule *to, bool sound)
{
	bool allowed = (from->next & to->bit) != 0;

	if (allowed && sound)
		return;
	fprintf(stderr, "flocklimit: internal error: a permit went from %s to %s%s\n", from->name,
		to->name, allowed ? ", and lacks what it needs there" : "");
	abort();
}
