/* SPDX-License-Identifier: ISC */
#include "verb.h"

#include <stdio.h>
#include <string.h>

#include "ctl.h"
#include "say.h"
#include "suggest.h"

static const struct verb verbs[] = {
	{ "list", list, "JR", "[NAME]...", "all limiters, with what they hold" },
	{ "show", show, "JRA", "{NAME...|--all}", "holders and waiters, for how long, and why" },
	{ "top", top, "", "[NAME]...", "the same, live" },
	{ "limit", limit, "A", "{NAME...|--all} N|N%|auto",
	  "override every -n until auto; 0: start none" },
	{ "rate", rate, "", "NAME... N/DUR[:BURST]|off", "allow so many starts per time" },
	{ "stagger", stagger, "", "NAME... DUR|off", "keep so much time between two starts" },
	{ "ramp", ramp, "D", "NAME... FROM+STEP/DUR|off",
	  "begin with FROM units, add STEP each DUR" },
	{ "seat", seat, "", "NAME... SEATS off|on", "take seats out of use, or put them back" },
	{ "when", when_to, "WG", "NAME... COND,...|off", "start only while the machine has room" },
	{ "pause", pause_it, "A", "{NAME...|--all}", "start nothing new; takers wait" },
	{ "resume", resume_it, "A", "{NAME...|--all}", "start waiters again" },
	{ "close", close_it, "A", "{NAME...|--all}", "reject waiters and newcomers" },
	{ "open", open_it, "A", "{NAME...|--all}", "admit takers again" },
	{ "wait", wait_for, "tA", "{NAME...|--all}", "wait until all present takers are done" },
	{ "cancel", cancel, "s", "NAME TICKET...",
	  "take waiters out of the line; signal a holder" },
	{ "release", release, "", "NAME TICKET...", "end permits of flocklimit --hold-for" },
	{ "shrink", shrink, "", "NAME TICKET UNITS", "give back units of a permit that is held" },
	{ "break", break_it, "", "NAME TICKET...", "take permits of a store from their holders" },
	{ "log", log_of, "JRFnA", "{NAME...|--all}", "what happened" },
	{ "why", why_of, "JR", "NAME TICKET...", "what a ticket waits or waited for" },
	{ "gantt", gantt, "XoA", "{NAME...|--all}", "what happened, as a picture (SVG)" },
	{ "stats", stats, "JR", "[NAME]...", "counters and histograms for Prometheus" },
	{ "suggest", suggest_weights, "JRUA", "{NAME...|--all}",
	  "weights that fit the memory of commands" },
	{ "check", check, "JPA", "{NAME...|--all}", "verify every invariant" },
	{ "path", path_of, "", "NAME...", "print its path, for flocklimit --fd" },
	{ "rm", remove_it, "I", "{NAME...|--idle}", "remove unused limiters" },
};

#define VERBS (sizeof(verbs) / sizeof(verbs[0]))

const struct option verb_options[] = {
	{ "all", no_argument, NULL, 'A' },
	{ "file", required_argument, NULL, 'f' },
	{ "follow", no_argument, NULL, 'F' },
	{ "gate-patience", required_argument, NULL, 'G' },
	{ "help", no_argument, NULL, 'h' },
	{ "idle", no_argument, NULL, 'I' },
	{ "json", no_argument, NULL, 'J' },
	{ "lines", required_argument, NULL, 'n' },
	{ "name", required_argument, NULL, 'N' },
	{ "output", required_argument, NULL, 'o' },
	{ "ramp-idle", required_argument, NULL, 'D' },
	{ "raw", no_argument, NULL, 'R' },
	{ "repair", no_argument, NULL, 'P' },
	{ "settle", required_argument, NULL, 'W' },
	{ "signal", required_argument, NULL, 's' },
	{ "store", required_argument, NULL, 'S' },
	{ "text", no_argument, NULL, 'X' },
	{ "timeout", required_argument, NULL, 't' },
	{ "unit", required_argument, NULL, 'U' },
	{ "version", no_argument, NULL, 'V' },
	{ NULL, 0, NULL, 0 },
};

/* The line of --help for an option, by its letter; 0: an option of all verbs. */
static const struct {
	char letter;
	const char *line;
} options_help[] = {
	{ '\0', "  -N, --name NAME       the same as NAME\n" },
	{ '\0',
	  "  -f, --file PATH       the limiter kept in PATH instead of NAME (log: --file)\n" },
	{ '\0', "      --store URL       limiters kept in a store, for many machines\n" },
	{ 'A', "      --all             all limiters; for verbs that steer, new ones too\n" },
	{ 'J', "      --json            for programs\n" },
	{ 'R', "      --raw             seconds and numbers as they are\n" },
	{ 't', "  -t, --timeout DUR     wait no longer than DUR, then exit with 1\n" },
	{ 's', "  -s, --signal SIG      send SIG to the process of a holder\n" },
	{ 'F', "  -f, --follow          print events as they happen\n" },
	{ 'n', "  -n, --lines K         the last K events\n" },
	{ 'X', "      --text            draw in the terminal\n" },
	{ 'o', "  -o, --output FILE     write the picture to FILE\n" },
	{ 'U', "      --unit SIZE       the memory that one unit stands for (1G)\n" },
	{ 'P', "      --repair          rebuild what is damaged\n" },
	{ 'I', "      --idle            all unused limiters\n" },
	{ 'D', "      --ramp-idle DUR   begin again after nothing was held for DUR (1m)\n" },
	{ 'W', "      --settle DUR      look again only DUR after the last start (2s)\n" },
	{ 'G', "      --gate-patience DUR|never   start anyway after DUR without a holder (1m)\n" },
	{ '\0', "  -h, --help            this text; after a verb, the help of that verb\n" },
	{ '\0', "  -V, --version         the version\n" },
};

#define OPTIONS (sizeof(options_help) / sizeof(options_help[0]))

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
verb_option_hint(const char *word, char room[SUGGEST_TEXT])
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
	return hint != NULL ? hint : suggest_option(word, verb_options, room);
}

const char *
verb_option_name(int letter)
{
	const struct option *o;

	for (o = verb_options; o->name != NULL; o++)
		if (o->val == letter)
			return o->name;
	return "option";
}

void
verbs_help(void)
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
	for (i = 0; i < OPTIONS; i++)
		fputs(options_help[i].line, stdout);
	printf("\nExit status: 0 done; 1 no (not idle, not found, check failed);\n"
	       "125 flocklimitctl failed.\n");
}

void
verb_help(const struct verb *verb)
{
	size_t i;

	printf("Usage: flocklimitctl %s [OPTION]... %s\n%s: %s.\n\n", verb->name, verb->arguments,
	       verb->name, verb->does);
	for (i = 0; i < OPTIONS; i++)
		if (options_help[i].letter == '\0' ||
		    strchr(verb->options, options_help[i].letter) != NULL)
			fputs(options_help[i].line, stdout);
	printf("\nMore: man flocklimitctl\n");
}
