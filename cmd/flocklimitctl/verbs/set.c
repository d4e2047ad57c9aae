/* SPDX-License-Identifier: ISC */
/*
 * set.c - the verbs that set something of limiters: a row of verb.c says what, and to what.
 */
#include "ctl.h"

#include <stdio.h>
#include <string.h>

#include "explain.h"
#include "fair.h"
#include "limit_word.h"
#include "limiters.h"
#include "pace.h"
#include "say.h"
#include "seats.h"
#include "verb.h"
#include "kind.h"

struct change {
	unsigned which;
	struct flk_settings to;
};

static int
set_one(const struct ctl *c, const struct visit *v, void *ctx)
{
	const struct change *change = ctx;

	(void)c;
	return v->error != 0 ? v->error : flk_set(v->f, change->which, &change->to);
}

/*
 * With --all, gives the order before it lists the limiters: a limiter that is created meanwhile
 * either obeys the order or is in the list.  If the order can't be given, the existing limiters are
 * changed anyway.
 */
static int
set_all(const struct ctl *c, struct change *change)
{
	int error = c->all ? here.operating->order(change->which, &change->to) : 0, status;

	if (error != 0)
		say(NULL, "new limiters: %s", explain(error));
	status = for_each(c, set_one, change);
	return error != 0 ? FAILED : status;
}

int
set_switch(const struct ctl *c)
{
	struct change change = { .which = c->verb->which,
				 .to = { .paused = c->verb->on, .closed = c->verb->on } };

	return is_named(c) ? set_all(c, &change) : FAILED;
}

/* A part of the pace, or the gate; false, after a line. */
static bool
read_word(const struct ctl *c, const char *word, struct flk_settings *to)
{
	const struct verb *verb = c->verb;
	char why[200];

	if (verb->parse != NULL) {
		if (verb->parse(strcmp(word, "auto") == 0 ? "off" : word, &to->pace))
			return true;
		say(name_of(c), "'%s': %s", word, verb->wrong);
		return false;
	}
	if (strcmp(word, "off") == 0)
		return true;
	if (flk_gate_check(word, why, sizeof(why)) != 0) {
		say(name_of(c), "%s", why);
		return false;
	}
	snprintf(to->gate.when, sizeof(to->gate.when), "%s", word);
	return true;
}

int
set_to_word(const struct ctl *c)
{
	struct change change = { .which = c->verb->which, .to = c->to };
	struct ctl mine = *c;
	const char *word;

	if (!is_named(c))
		return FAILED;
	if ((word = last_word(&mine)) == NULL) {
		say(name_of(c), "%s: to what? See --help", c->verb->name);
		return FAILED;
	}
	if (!read_word(c, word, &change.to))
		return FAILED;
	return set_all(&mine, &change);
}

int
set_fair(const struct ctl *c)
{
	struct change change = { .which = c->verb->which };
	struct ctl mine = *c;
	const char *word;

	if (!is_named(c))
		return FAILED;
	if ((word = last_word(&mine)) == NULL) {
		say(name_of(c), "fair: by what? Say user, session, key or off");
		return FAILED;
	}
	if (!fair_parse(word, &change.to.fair)) {
		say(name_of(c), "'%s': " FAIR_WRONG, word);
		return FAILED;
	}
	return set_all(&mine, &change);
}

/* ---- limit ---- */

int
limit(const struct ctl *c)
{
	struct change change = { .which = FLK_SET_OVERRIDE };
	struct ctl mine = *c;
	const char *word;
	int64_t number;

	/* `limit 4' lacks the name: 4 is not the name of a limiter. */
	if (c->words == 1 && c->files == 0 && !c->all && parse_limit(c->word[0], &number))
		mine.words = 0;
	if (!c->all && !is_named(&mine))
		return FAILED;
	word = last_word(&mine);
	if (word != NULL && parse_limit(word, &change.to.override))
		return is_named(&mine) ? set_all(&mine, &change) : FAILED;
	if (word != NULL && mine.words == 1 && parse_limit(mine.word[0], &number)) {
		say(NULL, "limit: the limiter comes first: limit %s %s", word, mine.word[0]);
		return FAILED;
	}
	say(c->all ? NULL : name_of(c),
	    "limit%s%s%s: %s number from 0 to %u, N%% of the CPUs, or auto",
	    word != NULL ? " '" : "", word != NULL ? word : "", word != NULL ? "'" : "",
	    word != NULL ? "not a" : "to what? A", FLK_MAX_UNITS);
	return FAILED;
}

/* ---- seat ---- */

int
seat(const struct ctl *c)
{
	struct change change = { .which = FLK_SET_SEATS_ON };
	struct ctl mine = *c;
	const char *to, *numbers;

	if (!is_named(c))
		return FAILED;
	to = last_word(&mine);
	numbers = to != NULL ? last_word(&mine) : NULL;
	if (numbers == NULL) {
		say(name_of(c), "which seat, and off or on? See --help");
		return FAILED;
	}
	if (strcmp(to, "off") == 0) {
		change.which = FLK_SET_SEATS_OFF;
	} else if (strcmp(to, "on") != 0) {
		say(name_of(c), "'%s': use off or on, say: seat NAME 3 off", to);
		return FAILED;
	}
	if (!seats_parse(numbers, &change.to.seats_off)) {
		say(name_of(c), "'%s': " SEATS_LIST, numbers);
		return FAILED;
	}
	return set_all(&mine, &change);
}
