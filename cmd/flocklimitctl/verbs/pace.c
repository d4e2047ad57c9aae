/* SPDX-License-Identifier: ISC */
/*
 * pace.c - the verbs rate, stagger and ramp, which set a limiter's pace; and when, its gate.
 */
#include "ctl.h"

#include <stdio.h>
#include <string.h>

#include "limiters.h"
#include "pace.h"
#include "say.h"

struct setting {
	const struct flk_pace *pace;
	enum flk_pacing which;
};

static int
set_one(const struct ctl *c, const char *name, const char *path, struct flk *f, int error,
	void *ctx)
{
	const struct setting *to = ctx;

	(void)c;
	if (error == 0)
		error = flk_set_pace(f, to->pace, to->which);
	return error == 0 ? DONE : refuse(name, path, f, error);
}

static int
set(const struct ctl *c, enum flk_pacing which, bool (*parse)(const char *, struct flk_pace *),
    const char *wrong)
{
	struct flk_pace pace = { .ramp_idle_ns = c->ramp_idle_ns };
	struct setting to = { .pace = &pace, .which = which };
	struct ctl mine = *c;
	const char *word;

	if (!is_named(c))
		return FAILED;
	word = last_word(&mine);
	if (word == NULL) {
		say(name_of(c), "to what? See --help");
		return FAILED;
	}
	if (!parse(strcmp(word, "auto") == 0 ? "off" : word, &pace)) {
		say(name_of(c), "'%s': %s", word, wrong);
		return FAILED;
	}
	return for_each(&mine, set_one, &to);
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

static int
set_gate(const struct ctl *c, const char *name, const char *path, struct flk *f, int error,
	 void *ctx)
{
	(void)c;
	if (error == 0)
		error = flk_set_gate(f, ctx);
	return error == 0 ? DONE : refuse(name, path, f, error);
}

int
when_to(const struct ctl *c)
{
	struct flk_gate gate = { .settle_ns = c->settle_ns, .patience_ns = c->gate_patience_ns };
	struct ctl mine = *c;
	char why[200];
	const char *word;

	if (!is_named(c))
		return FAILED;
	word = last_word(&mine);
	if (word == NULL) {
		say(name_of(c), "when what? See --help");
		return FAILED;
	}
	if (strcmp(word, "off") != 0) {
		if (flk_gate_check(word, why, sizeof(why)) != 0) {
			say(name_of(c), "%s", why);
			return FAILED;
		}
		snprintf(gate.when, sizeof(gate.when), "%s", word);
	}
	return for_each(&mine, set_gate, &gate);
}
