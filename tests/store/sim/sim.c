/* SPDX-License-Identifier: ISC */
/*
 * sim.c - the simulation as a test: many histories break no law, and each deliberate error breaks
 * the law that must find it.
 */
#include "../../helpers/tap.h"

#include "runs.h"
#include "sim.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SLOWER 20
#else
#define SLOWER 1
#endif

#define HISTORIES (100000 / SLOWER)
#define CROWD     (10000 / SLOWER)
#define SEARCHED  3000 /* for an error */

static void
laws_hold(uint64_t histories, unsigned takers)
{
	struct runs r;

	error = NULL;
	wanted_law = LAWS;
	if (!runs_go(1, histories, takers, &r))
		runs_show(&r, takers);
	ok(r.law == NULL, "%llu of %llu histories break no law", (unsigned long long)r.histories,
	   (unsigned long long)histories);
	tap_note("%lu grants, %lu refusals, %lu losses, %lu kills, %llu steps", r.grants,
		 r.refusals, r.losses, r.kills, r.steps);
}

static void
errors_are_found(void)
{
	struct runs r;

	for (error = errors; error->name != NULL; error++) {
		wanted_law = error->law;
		ok(!runs_go(1, SEARCHED, 0, &r), "%s: %s: found by the law %s", error->name,
		   error->words, laws[error->law].name);
		tap_note("after %llu histories: %s", (unsigned long long)r.histories, r.why);
	}
}

int
main(void)
{
	laws_hold(HISTORIES, 0);
	laws_hold(1, CROWD);
	errors_are_found();
	return tap_done();
}
