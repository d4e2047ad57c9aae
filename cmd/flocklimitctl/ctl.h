/*
 * ctl.h - what the verbs of flocklimitctl share.
 */
#ifndef CTL_H
#define CTL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "flocklimit.h"

#define NEVER UINT64_MAX
#define HOST  256 /* bytes of a machine's name that people see */

enum { DONE = 0, NO = 1, FAILED = 125 }; /* exit statuses */

/* The command line: everything that any verb takes. */
struct ctl {
	char **file; /* each -f */
	int files;
	char **name; /* each -N */
	int names;
	char **word; /* the names, then what follows the verb and its options: tickets, a limit */
	int words;
	bool json, raw, follow, text, idle, repair, all;
	bool even_damaged; /* the verb opens what is damaged, too */
	bool apart;        /* for_each() visits each limiter in a process of its own, all at once */
	bool quiet;        /* for_each() says nothing: the screen is curses' */
	uint64_t timeout_ns; /* NEVER */
	uint64_t ramp_idle_ns;
	uint64_t last;      /* -n of log: so many events; 0: not given */
	int signal;         /* 0: not given */
	const char *output; /* -o; NULL: stdout */
	const char *store;  /* --store */
};

/* One verb: returns an exit status. */
int list(const struct ctl *c);
int show(const struct ctl *c);
int top(const struct ctl *c);
int limit(const struct ctl *c);
int rate(const struct ctl *c);
int stagger(const struct ctl *c);
int ramp(const struct ctl *c);
int pause_it(const struct ctl *c);
int resume_it(const struct ctl *c);
int close_it(const struct ctl *c);
int open_it(const struct ctl *c);
int wait_for(const struct ctl *c);
int cancel(const struct ctl *c);
int release(const struct ctl *c);
int break_it(const struct ctl *c);
int log_of(const struct ctl *c);
int gantt(const struct ctl *c);
int stats(const struct ctl *c);
int check(const struct ctl *c);
int remove_it(const struct ctl *c);

/* ---- open.c: which limiters are meant ---- */

/* To open one that is there: with signals blocked where we keep everyone out of it. */
extern const struct flk_options existing;

/*
 * The limiter that the command line is about: -f, or else the first word, of which *rest are left.
 * NULL when it can't be opened, which was said; *status is what to exit with.
 */
struct flk *open_named(const struct ctl *c, char ***rest, int *rests, int *status);

/* By name, by -f, or by --all and nothing else?  False, and what is wrong was said. */
bool is_named(const struct ctl *c);

/* Can it be several?  Then each is told from the others, also if there is just one. */
bool is_many(const struct ctl *c);

/*
 * What --all passes over: in the directory there may be files of another kind, and another process
 * may remove a limiter.
 */
bool is_nothing(int error);

/* What follows the names, the last word: takes it from them; NULL if there is none. */
const char *last_word(struct ctl *c);

/* As people call it: the name, or the path where it was given by -f. */
const char *name_of(const struct ctl *c);

/*
 * Calls `each' for those that words and -f name or, without any, for every limiter of the
 * directory, by name.  `f' is NULL where it can't be opened, and `error' says why.  Adds up to the
 * largest status that was returned.
 */
typedef int each_limiter(const struct ctl *c, const char *name, const char *path, struct flk *f,
			 int error, void *ctx);
int for_each(const struct ctl *c, each_limiter *each, void *ctx);

/* Says what is wrong with the limiter, and what to do; returns the exit status. */
int refuse(const char *name, const char *path, struct flk *f, int code);

/*
 * For a verb that sleeps in each limiter: calls `each' for all of them at the same time, each in a
 * process of its own where there are several.  As for_each() otherwise.
 */
int for_each_at_once(const struct ctl *c, each_limiter *each, void *ctx);

/* ---- apart.c ---- */

/* True in a new process, which ends by apart_exit(); false in the old one. */
bool apart_begin(void);
void apart_exit(int status) __attribute__((noreturn));

/* When all these processes have ended: the largest of their statuses. */
int apart_end(void);

/* ---- steer.c ---- */

/* N, N% of the CPUs, or auto. */
bool parse_limit(const char *word, int64_t *limit);

/* ---- cancel.c ---- */

/* Signals what does the work; -ENOENT when it is not there, or another's by now.  e->host is NULL. */
int signal_holder(struct flk *f, const struct flk_entry *e, int sig);

/* ---- event.c ---- */

const char *event_name(uint32_t kind);

/* Of the code of a FLK_EV_LEFT or FLK_EV_EVICTED: "timed out". */
const char *why_left(int code);

/* ---- show.c, estimate.c ---- */

/* "open", "paused", "closed", ... */
const char *state_of(const struct flk_snapshot *s);

/*
 * Guesses how long each of s->waiters has to wait yet, from how long permits were held so far;
 * negative: it can't be known.
 */
void estimate(const struct flk_snapshot *s, double *wait_s);

/* Why the first in the line does not run: a sentence; "" when nobody waits. */
void why_it_waits(const struct flk_snapshot *s, char *text, size_t size);

/* ---- who.c ---- */

/* Its taker is dead, and what it ran is not. */
bool outlived(const struct flk_entry *e);

#endif
