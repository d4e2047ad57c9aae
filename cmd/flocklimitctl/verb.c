/* SPDX-License-Identifier: ISC */
#include "verb.h"

#include <stdio.h>
#include <string.h>

#include "ctl.h"
#include "pace.h"
#include "say.h"
#include "suggest.h"

/* clang-format off */
static const struct verb verbs[] = {
	{ .name = "list", .lists = true, .reads = true, .run = list, .options = "json raw users user",
	  .arguments = "[NAME]...", .does = "all limiters, with what they hold" },
	{ .name = "show", .reads = true, .run = show, .options = "json raw all user",
	  .arguments = "{NAME...|--all}", .does = "holders and waiters, for how long, and why" },
	{ .name = "top", .reads = true, .run = top, .options = "users user",
	  .arguments = "[NAME]...", .does = "the same, live" },
	{ .name = "limit", .makes = true, .run = limit, .options = "all",
	  .arguments = "{NAME...|--all} N|N%|auto", .does = "override every -n until auto; 0: start none",
	  .values = "auto 0 1 2 4 8 16 50% 100%" },
	{ .name = "rate", .makes = true, .run = set_to_word, .which = FLK_SET_RATE, .parse = pace_parse_rate, .wrong = PACE_RATE,
	  .arguments = "NAME... N/DUR[:BURST]|off", .does = "allow so many starts per time",
	  .values = "1/s 10/s 30/m 60/m 100/h off" },
	{ .name = "stagger", .makes = true, .run = set_to_word, .which = FLK_SET_STAGGER, .parse = pace_parse_stagger, .wrong = PACE_STAGGER,
	  .arguments = "NAME... DUR|off", .does = "keep so much time between two starts",
	  .values = "100ms 1s 10s off" },
	{ .name = "ramp", .makes = true, .run = set_to_word, .which = FLK_SET_RAMP, .parse = pace_parse_ramp, .wrong = PACE_RAMP,
	  .options = "ramp-idle",
	  .arguments = "NAME... FROM+STEP/DUR|off", .does = "begin with FROM units, add STEP each DUR",
	  .values = "1+1/1s 1+1/30s 1+1/1m off" },
	{ .name = "seat", .makes = true, .run = seat,
	  .arguments = "NAME... SEATS off|on", .does = "take seats out of use, or put them back",
	  .values = "0 1 2 3 4 5 6 7",
	  .not_in_store = "only for limiters of one machine: a store takes no seat out of use" },
	{ .name = "when", .makes = true, .run = set_to_word, .which = FLK_SET_GATE,
	  .options = "settle gate-patience",
	  .arguments = "NAME... COND,...|off", .does = "start only while the machine has room",
	  .values = "off" },
	{ .name = "fair", .makes = true, .run = set_fair, .which = FLK_SET_FAIR,
	  .arguments = "NAME... KEYS|off", .does = "serve users, sessions or keys in turn",
	  .values = "user session key off" },
	{ .name = "pause", .makes = true, .run = set_switch, .which = FLK_SET_PAUSED, .on = true, .options = "all",
	  .arguments = "{NAME...|--all}", .does = "start nothing new; takers wait" },
	{ .name = "resume", .makes = true, .run = set_switch, .which = FLK_SET_PAUSED, .options = "all",
	  .arguments = "{NAME...|--all}", .does = "start waiters again" },
	{ .name = "close", .makes = true, .run = set_switch, .which = FLK_SET_CLOSED, .on = true, .options = "all",
	  .arguments = "{NAME...|--all}", .does = "reject waiters and newcomers" },
	{ .name = "open", .makes = true, .run = set_switch, .which = FLK_SET_CLOSED, .options = "all",
	  .arguments = "{NAME...|--all}", .does = "admit takers again" },
	{ .name = "wait", .run = wait_for, .options = "timeout all",
	  .arguments = "{NAME...|--all}", .does = "wait until all present takers are done" },
	{ .name = "cancel", .run = cancel, .options = "signal",
	  .arguments = "NAME TICKET...", .does = "take waiters out of the line; signal a holder",
	  .tickets = "waiting" },
	{ .name = "release", .run = release,
	  .arguments = "NAME TICKET...", .does = "end permits of flocklimit --hold-for",
	  .tickets = "kept" },
	{ .name = "shrink", .run = shrink,
	  .arguments = "NAME TICKET UNITS", .does = "give back units of a permit that is held",
	  .tickets = "holding",
	  .not_in_store = "only for limiters of one machine: a store's permit stays whole" },
	{ .name = "break", .run = break_it,
	  .arguments = "NAME TICKET...", .does = "take permits of a store from their holders",
	  .tickets = "holding",
	  .only_in_store = "only for stores: a permit on this machine goes back by itself" },
	{ .name = "log", .reads = true, .run = log_of, .options = "json raw follow lines all user",
	  .arguments = "{NAME...|--all}", .does = "what happened" },
	{ .name = "why", .reads = true, .run = why_of, .options = "json raw user",
	  .arguments = "NAME TICKET...", .does = "what a ticket waits or waited for",
	  .tickets = "waiting" },
	{ .name = "gantt", .reads = true, .run = gantt, .options = "text output all user",
	  .arguments = "{NAME...|--all}", .does = "what happened, as a picture (SVG)" },
	{ .name = "stats", .reads = true, .run = stats, .options = "json raw users user",
	  .arguments = "[NAME]...", .does = "counters and histograms for Prometheus" },
	{ .name = "suggest", .run = suggest_weights, .options = "json raw unit all",
	  .arguments = "{NAME...|--all}", .does = "weights that fit the memory of commands" },
	{ .name = "check", .run = check, .options = "json repair all",
	  .arguments = "{NAME...|--all}", .does = "verify every invariant" },
	{ .name = "path", .run = path_of,
	  .arguments = "NAME...", .does = "print its path, for flocklimit --fd",
	  .not_in_store = "a limiter of a store has no file: use flocklimit --hold-for" },
	{ .name = "limits", .no_limiters = true, .run = limits_of, .options = "json check",
	  .arguments = "[NAME|COMMAND...]", .does = "what the limits files say of it, and where",
	  .not_in_store = "the limits files are this machine's: leave out --store" },
	{ .name = "shim", .no_limiters = true, .run = shim_of, .options = "remove",
	  .arguments = "DIR [WORD...]", .does = "links that put programs under the limits files",
	  .not_in_store = "shims are this machine's: leave out --store" },
	{ .name = "setup", .no_limiters = true, .run = set_up, .options = "apply",
	  .arguments = "", .does = "the SQL that prepares a store, or run it",
	  .only_in_store = "only for stores: this machine's limiters need none" },
	{ .name = "rm", .run = remove_it, .options = "idle",
	  .arguments = "{NAME...|--idle}", .does = "remove unused limiters" },
};
/* clang-format on */

#define VERBS (sizeof(verbs) / sizeof(verbs[0]))

/* Verbs of other tools. */
static const struct habit habits[] = {
	{ "status", "did you mean show NAME, or list?" },
	{ "describe", "did you mean show?" },
	{ "info", "did you mean show?" },
	{ "inspect", "did you mean show?" },
	{ "get", "did you mean show?" },
	{ "ps", "did you mean list?" },
	{ "ls", "did you mean list?" },
	{ "watch", "did you mean top?" },
	{ "set", "did you mean limit?" },
	{ "kill", "did you mean cancel, or cancel -s KILL for a holder?" },
	{ "remove", "did you mean rm?" },
	{ "delete", "did you mean rm?" },
	{ "start", "did you mean resume?" },
	{ "unpause", "did you mean resume?" },
	{ "continue", "did you mean resume?" },
	{ "stop", "did you mean pause?" },
	{ "suspend", "did you mean pause?" },
	{ "reduce", "did you mean shrink, or limit?" },
	{ "drain", "did you mean pause, and then wait?" },
	{ "lock", "did you mean close? To take a permit, run flocklimit." },
	{ "unlock", "did you mean release, or open?" },
	{ "history", "did you mean log?" },
	{ "events", "did you mean log?" },
	{ "repair", "did you mean check --repair?" },
	{ "run", "did you mean flocklimit, which runs commands?" },
	{ "exec", "did you mean flocklimit, which runs commands?" },
	{ "create", "did you mean limit? The first use of flocklimit creates a limiter." },
	{ NULL, NULL },
};

/* Options of other tools. */
static const struct habit option_habits[] = {
	{ "--format", "did you mean --json?" },
	{ "--verbose", "did you mean show NAME?" },
	{ NULL, NULL },
};

const struct verb *
verb_find(const char *name)
{
	size_t i;

	for (i = 0; i < VERBS; i++)
		if (strcmp(verbs[i].name, name) == 0)
			return &verbs[i];
	return NULL;
}

void
verb_unknown(const char *word)
{
	const char *known[VERBS], *hint = suggest_habit(word, habits);
	char room[SUGGEST_TEXT];
	size_t i;

	for (i = 0; i < VERBS; i++)
		known[i] = verbs[i].name;
	if (hint == NULL)
		hint = suggest(word, known, VERBS, room);
	say(NULL, "verb '%s': unknown: %s%s", word, hint,
	    *hint != '\0' ? " See --help" : "see --help");
}

const char *
verb_option_hint(const char *word, const struct option *longs, char room[SUGGEST_TEXT])
{
	const char *hint;
	char typed[32];

	snprintf(typed, sizeof(typed), "%.*s", (int)strcspn(word, "="), word);
	hint = suggest_habit(typed, option_habits);
	if (hint == NULL && strncmp(typed, "--", 2) == 0) {
		hint = suggest_habit(typed + 2, habits);
		if (verb_find(typed + 2) != NULL) {
			snprintf(room, SUGGEST_TEXT, "did you mean %s?", typed + 2);
			hint = room;
		}
	}
	return hint != NULL ? hint : suggest_option(word, longs, room);
}

bool
verb_takes(const struct verb *verb, const char *option)
{
	int which;

	return option_is_among("name file store help version", option, &which) ||
	       (verb->options != NULL && option_is_among(verb->options, option, &which));
}

/* What is said of the options; of a verb's only, if it is not NULL. */
static void
print_options(const struct verb *verb, const struct option_table *t)
{
	char text[OPTION_HELP];
	unsigned i;

	for (i = 0; i < t->n; i++)
		if (verb == NULL || verb_takes(verb, t->row[i]->name))
			fputs(option_help(t->row[i], text), stdout);
}

void
verbs_help(const struct option_table *t)
{
	char call[40];
	size_t i;

	printf("Usage: flocklimitctl [VERB] [OPTION]... [NAME | -f PATH] [ARG]...\n"
	       "Show and steer limiters.  Without a verb: list.\n\n");
	for (i = 0; i < VERBS; i++) {
		snprintf(call, sizeof(call), "%s %s", verbs[i].name, verbs[i].arguments);
		printf("  %-31s %s\n", call, verbs[i].does);
	}
	printf("\nOptions; VERB --help lists those of a verb:\n");
	print_options(NULL, t);
	printf("\nExit status: 0 done; 1 no (not idle, not found, check failed);\n"
	       "125 flocklimitctl failed.\n");
}

void
verb_help(const struct verb *verb, const struct option_table *t)
{
	printf("Usage: flocklimitctl %s [OPTION]...%s%s\n%s: %s.\n\n", verb->name,
	       *verb->arguments != '\0' ? " " : "", verb->arguments, verb->name, verb->does);
	print_options(verb, t);
	printf("\nMore: man flocklimitctl\n");
}
