/* SPDX-License-Identifier: ISC */
/*
 * sim.h - a simulation of one limiter in a store: takers on machines, their keepers with the real
 * protocol, operators, a network and a server, all in one process under virtual time.  A seed says
 * all that happens.
 *
 *	plan.c       what a history is like, by its seed
 *	history.c    its times: one thing after another, until all have ended
 *	machines.c   machines and their keepers, each of which drives a store
 *	takers.c     takers: what their wrappers do, and what they are told
 *	operators.c  an operator's questions
 *	faults.c     what goes wrong
 *	truth.c      who waits and who holds, as the store's records say
 *	memories.c   what they remember of runs
 *	starts.c     what they count of a pace
 *	turns.c      whose turn it is
 *	laws.c       what must be so after every step
 *	errors.c     deliberate errors, which the laws must find
 *	runs.c       many histories
 *	main.c       the program; sim.c: the test
 */
#ifndef SIM_H
#define SIM_H

#include <stdbool.h>
#include <stdint.h>

#include "../memory/clock.h"
#include "../memory/world.h"
#include "clock.h"
#include "protocol/fleet.h"
#include "protocol/record.h"
#include "keeper/expiry.h"
#include "../memory/heap.h"

/* ---- what a history is like: plan.c ---- */

enum fault {
	CUTS,     /* a machine is cut off for a while */
	STOPS,    /* a keeper is stopped for a while */
	SLEEPS,   /* a machine is suspended */
	KILLS,    /* a keeper is killed, and another one adopts its takers */
	DEATHS,   /* a machine dies */
	STALLS,   /* the server is stopped for a while */
	RESTARTS, /* the server is down for a while */
	EARLY,    /* the server ends a lease before its time */
	FORGETS,  /* the server forgets old changes */
	WRAPPERS, /* a wrapper is killed; with a host's keeper */
	FAULTS
};

struct plan {
	uint64_t seed;
	unsigned machines, takers; /* takers: in all */
	uint32_t limit, heaviest, ttl_s, grace_s;
	bool mixed;   /* limits */
	bool hasty;   /* some do not wait, or only in a short line */
	bool leavers; /* some leave the line */
	bool manual, operators;
	unsigned which; /* what takers declare: of FLK_SET_PACE, and FLK_SET_FAIR */
	unsigned keys;  /* of a fair limiter */
	struct flk_pace pace;
	bool rivals;       /* they do not agree on it */
	unsigned calls;    /* of a keeper at once */
	unsigned crowd;    /* so many are a long line; 0: none is */
	bool drift;        /* clocks */
	bool host;         /* a machine's keeper is its host's: it has a ledger and a deputy */
	unsigned loss;     /* of 1,000 messages */
	unsigned slow;     /* of 1,000 messages */
	uint64_t delay_ns; /* of most messages, at most */
	uint64_t arrive_ns, hold_ns, calm_ns; /* they come within that; hold so long; faults end */
	bool faults[FAULTS];
	uint64_t fault_ns; /* between two faults, on average */
};

struct plan plan_of(uint64_t seed);
struct plan plan_of_many(uint64_t seed, unsigned takers);

/* ---- machines ---- */

struct taker;

struct act { /* something that happens at a time */
	struct heap_item due;
	void (*happen)(struct act *act);
	void *who;
	unsigned which;
	bool stays; /* a part of something else */
};

struct machine {
	struct act step; /* its keeper's next */
	struct machine_clock clock;
	struct fleet_store *store; /* NULL: its keeper was killed, or has ended */
	struct fleet *fleet;       /* in it */
	char life[STORE_SELF];
	unsigned leases;  /* on which the store has its life */
	uint64_t gone_ns; /* when the last was gone; 0: there is one ... */
	uint64_t back_ns; /* ... since then */
	struct records *client;
	unsigned number, users; /* users: takers on it */
	uint64_t steps;
	bool stopped, suspended, cut, dead;
	unsigned keepers;          /* so many it had */
	unsigned steps_left;       /* until its keeper is killed; 0: it is not */
	uint64_t trouble_ns;       /* when something last went wrong */
	struct taker *first;       /* its takers */
	struct fleet_store *ghost; /* of a keeper that should be dead: see the error */
};

void machine_begin(struct machine *m, unsigned number);
void machine_open(struct machine *m); /* its keeper, if there is none */
void machine_wake(struct machine *m); /* its keeper looks now */
void machine_kill(struct machine *m); /* its keeper */
void machine_free(struct machine *m);

/* ---- takers ---- */

enum stage { COMING, ENTERING, WAITING, RUNS, LEAVING, RELEASING, ENDED, DEAD };

struct taker {
	struct taker *next; /* of its machine */
	struct machine *machine;
	struct fleet_taker *kept; /* by the keeper; NULL: it is not */
	unsigned number, round;   /* round: so many names it had before */
	char self[STORE_SELF];
	struct fleet_want want;
	enum stage stage;
	bool wished;    /* its keeper has yet to be told that it leaves, or releases */
	bool bereft;    /* its wrapper was killed */
	bool unclaimed; /* kept from the ledger, and its wrapper has yet to come */
	struct {
		bool used, held;
	} row; /* in the ledger, as its keeper wrote it */
	struct expiry expiry;
	uint64_t ticket;
	uint32_t under, seat;

	/* An operator was asked to do that to it, and perhaps did. */
	bool cancelled, broken;

	/* truth.c: what the store has. */
	struct record said; /* its last */
	TAILQ_ENTRY(taker) in_line;
	int64_t place, permit; /* their tickets; 0: none */
	int64_t left_line; /* the ticket of its last place, and the revision at which that went */
	int64_t left_at;
	int64_t granted; /* the ticket of its last permit, by that name; 0: none */
	uint64_t granted_ns, placed_ns, first_ns; /* first_ns: the first in the line since then */
	int64_t override;                         /* when that was granted, as operators knew */
};

void taker_comes(struct act *act);
void taker_restore(struct taker *t); /* by the machine's new keeper, from its ledger */
void taker_adopt(struct taker *t);   /* by the same: its wrapper comes */
void taker_bereave(struct taker *t); /* its wrapper is killed */
void taker_deafen(bool deaf); /* what they are told is for a keeper that has no takers any more */
void taker_orphan(struct taker *t);     /* its keeper was killed */
void taker_obey(struct taker *t);       /* tells its keeper what it wishes */
bool taker_runs(const struct taker *t); /* its command may */
bool taker_is_over(const struct taker *t);

/* ---- a history ---- */

#define SIM_SEATS 128

struct sim {
	struct plan plan;
	struct heap agenda;
	struct machine *machine; /* of the plan, the operator's and the sweeper's */
	struct taker *taker;     /* of the plan, and the sweeper */
	unsigned machines, takers, open;
	bool calm;           /* no more faults */
	uint64_t trouble_ns; /* when something last went wrong, anywhere */
	uint64_t steps;

	/* what operators have done, as far as they know */
	bool steered, overridden, closed; /* was ever asked for */
	bool unsure;                      /* an answer is missing */
	bool shut;                        /* paused or closed */
	int64_t override;                 /* or FLK_AUTO */
	unsigned asking;
	bool checked;  /* the last check was answered */
	bool followed; /* from now on, all grants are to be reported: */
	unsigned long followable, reported;

	/* truth.c */
	TAILQ_HEAD(, taker) line;
	uint64_t head_ns; /* its first is the first since then */
	struct taker **holder;
	unsigned holders;
	uint64_t used;
	int64_t granted;               /* the highest ticket that was */
	struct tally tally[SIM_SEATS]; /* memories.c: as counted last */
	int uncounted;                 /* released and remembered, and not counted yet */
	uint64_t idle_ns;              /* since when the head could hold; 0: it can't */

	struct taker **runner; /* laws.c: takers whose commands run, and some that did */
	unsigned runners;

	/* laws.c */
	bool tracing;
	const struct law *broken;
	char why[200];

	/* for people */
	unsigned long grants, refusals, losses, kills;
};

extern struct sim sim;

void history_run(const struct plan *plan);
void later(uint64_t ns, void (*happen)(struct act *act), void *who, unsigned which);
struct machine *some_machine(void);

void operators_begin(void);
void operators_settle(void); /* takes back what they have set */
void operators_check(void);  /* is all whole? */
void operators_leave(void);  /* have they been told of all? */
void operator_break(struct taker *t);

void faults_begin(void);
void faults_end(void);
bool faults_server_is_down(void);
uint64_t faults_takes(void *context, const struct records *client, enum leg leg);
void trouble(struct machine *m); /* NULL: of all */

/* ---- what the store has: truth.c ---- */

void truth_changes(void *context, size_t first);
bool truth_is_empty(void);

/* ---- a pace: starts.c ---- */

#define STARTS_REAL (1700000000 * SECOND) /* CLOCK_REALTIME is that, the true time, ... */
#define STARTS_SKEW SECOND                /* ... and up to that; and clocks may run too fast */

/* ---- laws ---- */

struct law {
	const char *name, *words;
	void (*check)(void); /* after every step; NULL: where it belongs */
};

extern const struct law laws[];
extern unsigned wanted_law; /* only this one counts; LAWS: all do */
enum {
	NEVER_OVER,
	STORE_OVER,
	ORDER,
	FENCE,
	ONCE,
	TOLD,
	SEATS,
	STEERED,
	PLACES,
	IDLE,
	PROMPT,
	CLEARED,
	ENDS,
	LEAKS,
	WHOLE,
	BUSY,
	FOLLOWED,
	GHOSTS,
	KEPT,
	REMEMBERED,
	COUNTED,
	PACED,
	TURNS,
	LAWS
};

void breaks(unsigned law, const char *words, ...) __attribute__((format(printf, 2, 3)));
void laws_check(void);
void law_granted(struct taker *t, const struct fleet_event *e); /* it is told */
void law_runs(struct taker *t);                                 /* its command begins, or resumes */
void law_looks(const struct machine *m);                        /* its keeper does */
void law_committed(struct taker *const *granted, size_t n);     /* the store has granted */
void law_unheld(const struct taker *t);                         /* its permit is gone */
void law_ghost(const struct taker *t, const char *key);         /* it has got that */
void law_unplaced(const struct taker *t); /* its place is gone, and it holds nothing */

/* ---- deliberate errors ---- */

struct error {
	const char *name, *words;
	unsigned law;                 /* which finds it */
	void (*plan)(struct plan *p); /* so that it has a chance; may be NULL */
	bool no_heirs;                /* a keeper that takes over knows of none before it */
	bool no_ledger;               /* ... and not what the one before had */
	bool no_grants;               /* ... and not what that was granted */
	bool no_fence;                /* a stopped keeper is replaced, and not killed */
	bool sleepy_clock;            /* CLOCK_BOOTTIME stands while a machine is suspended */
	bool falls_back;              /* the server, when it comes up: its revision */
	struct world_rules rules;     /* what a wrong server does */
};

extern const struct error errors[];
extern const struct error *error; /* NULL: none */
const struct error *error_named(const char *name);

/* ---- the trace ---- */

void trace(const char *words, ...) __attribute__((format(printf, 1, 2)));

#endif
