/*
 * pace.c - the verbs that say when the next may start.
 */
#include "ctl.h"

#include <string.h>

#include "pace.h"
#include "say.h"

static int
set(const struct ctl *c, enum flk_pacing which, bool (*parse)(const char *, struct flk_pace *),
    const char *wrong)
{
	struct flk_pace pace = { .ramp_idle_ns = c->ramp_idle_ns };
	int rests, status, error;
	char **rest;
	struct flk *f = open_named(c, &rest, &rests, &status);

	if (f == NULL)
		return status;
	if (rests != 1) {
		say(name_of(c), rests == 0 ? "to what? See --help" : "one pace only: see --help");
		status = FAILED;
	} else if (!parse(strcmp(rest[0], "auto") == 0 ? "off" : rest[0], &pace)) {
		say(name_of(c), "'%s': %s", rest[0], wrong);
		status = FAILED;
	} else {
		error = flk_set_pace(f, &pace, which);
		status = error == 0 ? DONE : refuse(name_of(c), flk_path(f), f, error);
	}
	flk_detach(f);
	return status;
}

int
rate(const struct ctl *c)
{
	return set(c, FLK_RATE, pace_parse_rate, PACE_RATE);
}

int
stagger(const struct ctl *c)
{
	return set(c, FLK_STAGGER, pace_parse_stagger, PACE_STAGGER);
}

int
ramp(const struct ctl *c)
{
	return set(c, FLK_RAMP, pace_parse_ramp, PACE_RAMP);
}
