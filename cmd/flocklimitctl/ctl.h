/* SPDX-License-Identifier: ISC */
/*
 * ctl.h - what the verbs of flocklimitctl share.
 */
#ifndef CTL_H
#define CTL_H

#include <stdbool.h>
#include <stdint.h>

#include "flocklimit.h"
#include "now.h"

struct verb;

#define HOST 256 /* bytes of a machine's name that are shown */

enum { DONE = 0, NO = 1, FAILED = 125 }; /* exit statuses */

/* The command line: everything that any verb takes. */
struct ctl {
	const struct verb *verb;
	char **file; /* each -f */
	int files;
	char **name; /* each -N */
	int names;
	char **word; /* the names, then what follows the verb and its options: tickets, a limit */
	int words;
	bool json, raw, follow, text, idle, repair, remove, all, apply;
	bool even_damaged; /* the verb opens damaged limiters, too */
	bool apart;        /* for_each() visits each limiter in a process of its own, all at once */
	bool quiet;        /* for_each() prints no line: curses has the screen */
	uint64_t timeout_ns;    /* NEVER */
	struct flk_settings to; /* what options say of it: --ramp-idle, --settle, --gate-patience */
	uint64_t last;          /* -n of log: so many events; 0: not given */
	int signal;             /* -1: not given */
	uint64_t unit;          /* bytes of memory that one unit stands for: suggest */
	const char *output;     /* -o; NULL: stdout */
	const char *store;      /* --store */
	const char *check;      /* --check of limits */
	bool users;             /* the limiters of all users */
	const char *user;       /* those of this one; NULL: the caller's own */
	char *user_dir;         /* where they are */
};

/* The verbs, of verbs/, top/, gantt/ and why/; each returns an exit status. */
int list(const struct ctl *c);
int show(const struct ctl *c);
int top(const struct ctl *c);
int limit(const struct ctl *c);
int set_switch(const struct ctl *c);
int set_to_word(const struct ctl *c);
int set_fair(const struct ctl *c);
int wait_for(const struct ctl *c);
int cancel(const struct ctl *c);
int release(const struct ctl *c);
int seat(const struct ctl *c);
int shrink(const struct ctl *c);
int break_it(const struct ctl *c);
int log_of(const struct ctl *c);
int gantt(const struct ctl *c);
int stats(const struct ctl *c);
int suggest_weights(const struct ctl *c);
int why_of(const struct ctl *c);
int check(const struct ctl *c);
int path_of(const struct ctl *c);
int remove_it(const struct ctl *c);
int limits_of(const struct ctl *c);
int shim_of(const struct ctl *c);
int set_up(const struct ctl *c);

#endif
