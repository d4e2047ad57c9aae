/* SPDX-License-Identifier: ISC */
/*
 * setup.c - the verb setup: makes a store ready for its first use.
 */
#include "ctl.h"
#include "kind.h"
#include "say.h"

int
set_up(const struct ctl *c)
{
	if (c->words > 0 || c->files > 0) {
		say(NULL, "setup: it prepares the whole store: it takes no NAME");
		return FAILED;
	}
	return here.operating->setup(c->apply);
}
