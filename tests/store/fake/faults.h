/* SPDX-License-Identifier: ISC */
/*
 * faults.h - what is to go wrong, and with which call.
 */
#ifndef FAKE_FAULTS_H
#define FAKE_FAULTS_H

#include "buf.h"

/*
 *		is it done?	what the client sees
 * AS_ASKED	yes		the answer
 * CUT		yes		its connection ends, without an answer
 * SWALLOW	yes		nothing, for ever
 * LATE		yes, at once	the answer, `ms' later
 * DELAY	yes, `ms' later	the answer
 * HOLD		yes, released	the answer; the operator releases it
 * REFUSE	no		its connection ends
 * HANG		no		nothing, for ever
 * ANSWER	no		`status' with `text'
 * GARBAGE	no		200 with no JSON
 * CUT_ANSWER	yes		half of the answer; of a watch: half of the first line of events
 */
enum action {
	AS_ASKED,
	CUT,
	SWALLOW,
	LATE,
	DELAY,
	HOLD,
	REFUSE,
	HANG,
	ANSWER,
	GARBAGE,
	CUT_ANSWER,
};

struct deed {
	enum action action;
	int64_t ms;
	int status;
	const char *text; /* the fault's: valid as long as the server */
};

/* Calls of a path, or of any ("*"), in whose description `with' occurs, from the nth on, so many
 * times. */
struct fault {
	char path[64];
	char *with;
	unsigned long nth, times; /* times: ULONG_MAX: always */
	unsigned long seen;
	struct deed deed;
};

struct path_count {
	char path[64];
	unsigned long calls;
};

struct faults {
	struct fault *list;
	size_t count;
	struct path_count *paths;
	size_t path_count;
};

/* PATH [nth N] [times K|always] [with TEXT] ACTION [ARGUMENT...]; false: not understood. */
bool faults_add(struct faults *f, const char *line);

/* Every fault is forgotten; the counts stay. */
void faults_clear(struct faults *f);

/* Counts this call, and says what is to become of it. */
struct deed faults_of(struct faults *f, const char *path, const char *description);

/* How many calls of a path there were. */
unsigned long faults_count(const struct faults *f, const char *path);

/* The name of an action, for the log. */
const char *action_name(enum action action);

/* Whether a call is done some time after it came, and even if its client is gone by then. */
bool is_done_later(enum action action);

#endif
