/* SPDX-License-Identifier: ISC */
/*
 * judge.h - the judge's view of a log: runs, and what was done to them.
 */
#ifndef CHAOS_JUDGE_H
#define CHAOS_JUDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../helpers/request.h"
#include "chaos.h"

#define NEVER UINT64_MAX

struct run { /* one taker, whether its command ever started or not; or its permit of --and */
	uint64_t id, lim, group, n, flags, wait_ms, run_ms;
	uint64_t taker; /* the id of the taker; what is done to it has this id */
	uint64_t also;  /* of two runs of one taker, the id of the other; 0: it has only this */
	uint64_t w, least, most; /* w: `least', and what it got once it has started */
	struct flk_request want; /* as it was launched */
	uint64_t key;            /* in a limiter that may be fair; 0: none of its own */
	uint64_t launched, started, ended, reaped, alive; /* 0: not in the log */
	uint64_t pid, birth, ticket, told, seat, fence, seats;
	int status;
	uint64_t cancelled, cancelled_ticket;
	uint64_t heir, heir_started, heir_ended;

	/*
	 * Until when it held its permit: at least (`surely'), which is what a law is judged by;
	 * and what the last thing was that had to happen before its permit could be given on
	 * (`room'), from which a stall is measured.
	 */
	uint64_t surely, room;
	uint64_t granted_from; /* laws.c: it was not granted before that */
	uint64_t could;        /* stall.c: this limiter had room for it then; NEVER: nobody knows */
};

struct harm {
	uint64_t what, target, t, sig;
};

struct steer {
	uint64_t since, until, lim, birth, verb;
	int64_t value;
};

struct span {
	uint64_t from, to, of; /* of: a limiter, or a birth */
};

struct array {
	void *at;
	size_t n, room;
};

/* In lower case, as the formatter knows it. */
#define foreach(type, p, array) \
	for (type *p = (array).at, *p##_end = (array).n > 0 ? p + (array).n : p; p < p##_end; p++)

struct story {
	struct array runs;          /* struct run, by id; id 1 is the first */
	struct array harms;         /* struct harm, by what, target, time */
	struct array steers;        /* struct steer */
	struct array removals;      /* struct span of a limiter */
	struct array idles;         /* struct span of a birth */
	struct array idle_removals; /* the same */
	struct array beats;         /* struct span, by time */
	struct array stops;         /* struct span of a limiter: a wrapper was stopped */
	uint64_t end;               /* of the log; 0: it was cut short */
};

/* What a log may be guilty of. */
enum guilt {
	OVER_LIMIT,
	OVERTAKEN,
	UNTRUE_LIMIT,
	RAN_TWICE,
	TICKET_ORDER,
	SEAT_SHARED,
	OLD_FILE,
	NOT_IDLE,
	CANCELLED,
	PLACE_LOST,
	STATUS,
	VANISHED,
	LOST,
	STALLED,
	UNREADABLE,
	GUILTS
};

struct verdict {
	unsigned count[GUILTS], all;
	bool silent;
};

void *chaos_add(struct array *a, size_t size);             /* a new last element, zeroed */
struct run *chaos_run(const struct story *s, uint64_t id); /* NULL: there is none */
/* A taker's run, and not the second one of two. */
bool chaos_is_first(const struct run *r);
/* When the file of its limiter was removed, at the earliest, after its launch and before `until'; NEVER. */
uint64_t chaos_removed(const struct story *s, const struct run *r, uint64_t until);

/* log.c.  Records that make no sense are counted as UNREADABLE. */
bool chaos_read(struct story *s, const char *path, struct verdict *v);
void chaos_forget(struct story *s);

/* until.c: `surely' and `room' of each run, and the stops; what is sorted is sorted from then on. */
void chaos_until(struct story *s, struct verdict *v);
/* The first harm of that signal (0: KILL or TERM) at or after a time; NEVER. */
uint64_t chaos_first_harm(const struct story *s, enum target what, uint64_t target, int sig,
			  uint64_t since);

/* laws.c, ends.c, stall.c */
void chaos_laws(struct story *s, struct verdict *v);
void chaos_ends(const struct story *s, struct verdict *v);
void chaos_stalls(struct story *s, uint64_t most_ns, struct verdict *v);

void chaos_guilty(struct verdict *v, enum guilt g, uint64_t t, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void chaos_tell(const struct verdict *v, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A whole log; the stall that is not to be passed, 0: any is fine. */
void chaos_judge(const char *path, uint64_t most_ns, struct verdict *v);

#endif
