/* SPDX-License-Identifier: ISC */
/*
 * taker.h - one taker of a limiter in a store.  See keys.h for what is in the store, and round.h for how
 * permits are granted.
 *
 * It is in one state at a time.  act() does what that state has to do and has not begun: it may be
 * called at any time, and is, whenever the taker enters a state or its retry is due.  Every answer
 * goes to the function that the call was made with, which knows the state that it comes in:
 * taker_go() cancels the main call of the state that it leaves.  Every change that a watch
 * reports goes to the state that it finds: changes.c.  Both are found in the table of states.c, so
 * that no two files call each other.
 *
 * A missing answer says nothing about whether the deed was done; it may even be done later.  So a
 * txn is either one that may come late and twice (deletions), or one whose compares let it come
 * once and, when its purpose has passed, never (a grant needs the places that it ends), or it is the
 * claim.  The claim, which needs nothing of the taker's own, is fenced: it puts l/ on a lease, and
 * before the taker sends another, it sees that lease ended, so that claim can't be done any more.
 */
#ifndef TAKER_H
#define TAKER_H

#include "protocol/inside.h"
#include "protocol/repair.h"
#include "protocol/round.h"
#include "protocol/state.h"
#include "protocol/tally.h"

enum taker_state {
	/* The store has no key of the taker. */
	IDLE,    /* ... and nothing is under way: before its first call, and after its last */
	ASKING,  /* waiting for a lease and a first read; then: claim, or refuse */
	MARKING, /* it would have to wait, and must not: it marks the dead, and goes */

	/* The store may have w/ or h/, or nothing. */
	CLAIMING,  /* the claim is under way: all of a permit, or a place */
	RECONCILE, /* it reads what the store has */
	FENCING,   /* it ends the lease of a claim that got no answer */

	/* The store has w/, as far as is known; h/ is watched, as a taker that leaves grants. */
	LOOKING,  /* it reads the line */
	BEHIND,   /* `before' was before it, at the last read, or nobody was: see line.c */
	FIRST,    /* no living waiter is before it; `look' is as of its revision, and watched from
		     there on if nothing fitted at once */
	GRANTING, /* ... and a grant is under way */

	/* The store has h/, as far as is known. */
	HOLDING,
	LOSING, /* h/ is gone: it reads the reason */

	/* It deletes whatever it has, and grants what others may have now. */
	LEAVING,
	RELEASING,
	TAKER_STATES
};

enum taker_slot {
	MAIN, /* the state's own */
	DEAD, /* about a life that is suspect */
	SLOTS
};

struct fleet_taker;

/* t: the taker that called.  The call is over, and its slot free. */
typedef void taker_answer(struct fleet_taker *t, const struct records_answer *reply);

struct taker_call {
	struct fleet_taker *taker;
	struct records_call *call;
	taker_answer *answer;
};

/* What it watches. */
enum taker_watch {
	WATCH_OWN,  /* h/ */
	WATCH_LINE, /* BEHIND: cfg, w/, and of the waiter before it w/ and l/ */
	WATCH_ALL,  /* FIRST: cfg, the permits, the lives, and w/ */
	WATCHES
};

struct taker_watching {
	struct fleet_taker *taker;
	struct records_watch *watch; /* NULL: none */
	int64_t from;   /* nothing is missed from that revision on; 0: it has not begun */
	int64_t before; /* WATCH_LINE: the place before it, by its creation's revision */
	bool ended;     /* it can't go on */
};

/*
 * What the taker does in a state, which states may follow, and in which states of its permit (bits
 * of protocol/state.h) that is: each move here is a move of the permit, too, or none.
 */
struct taker_row {
	struct state_rule rule;
	uint32_t permit;
	void (*act)(struct fleet_taker *t);
};

/* The states, and where a watch reports a change: states.c. */
struct taker_deeds {
	struct taker_row row[TAKER_STATES];
	records_hears *hears;
};

extern const struct taker_deeds taker_deeds;

struct fleet_taker {
	LIST_ENTRY(fleet_taker) link;
	struct fleet *fleet;
	fleet_report *report;
	void *context;
	struct fleet_want want;
	struct taker_call slot[SLOTS];
	TAILQ_ENTRY(fleet_taker) turn; /* in the store's queue ... */
	bool queues;                   /* ... if so */
	struct taker_watching watching[WATCHES];
	uint64_t retry_ns; /* when to act() again; UINT64_MAX: not by time */
	unsigned failures; /* of the main calls, since the last answer */
	enum taker_state state;

	/* ---- before and in the line ---- */
	struct look look;
	int64_t created;     /* of w/; 0: never in the line */
	int64_t claim_lease; /* the lease of a claim that got no answer; 0: there is none such */
	uint64_t look_ns;    /* BEHIND, FIRST: when to look again */
	int64_t heard;       /* LOOKING: the latest change that WATCH_ALL or WATCH_LINE reported */
	unsigned again;      /* so many claims in a row met others' changes */

	/* ---- the permit ---- */
	struct record permit;
	uint64_t ticket;
	int64_t came_ms;     /* when it first claimed, for people */
	int64_t held_since;  /* create revision of h/ */
	uint64_t own_ns;     /* when to watch it, if it is not watched yet */
	int64_t checked;     /* the revision of the last check that found it; 0: none */
	struct tally *tally; /* of its seat, as read since it holds; NULL: it was not */

	/* ---- its round under way: line.c, leave.c ---- */
	struct record gives; /* GRANTING, if gives_mine: to itself */
	struct round_end gives_end;

	/* ---- the dead: repair.c ---- */
	struct suspects suspects;

	/* ---- the end ---- */
	enum fleet_kind ending; /* LEAVING: what to report, */
	int ending_code;        /* and */
	int32_t status;         /* of the command; FLK_UNKNOWN */
	uint64_t memory, cpu_ns;

	char self[STORE_SELF];
	char before[STORE_SELF], before_life[STORE_SELF]; /* BEHIND; "": nobody is */
	int64_t before_created;

	bool looked;     /* the look is current enough for the state */
	bool thorough;   /* ASKING: the look has the lives */
	bool fitted;     /* CLAIMING: by the look, it fits */
	bool first;      /* no limit was ever declared, and it has none: its grant declares one */
	bool gives_mine; /* GRANTING: it is among those that are granted */
	bool adopted;    /* RECONCILE: what it was before is not known ... */
	bool held;       /* its owner knows that it holds: from this keeper, or the one before */
	bool reported;   /* this keeper has reported GRANTED */
	bool freed_some; /* repair.c took something back */
	bool blind;      /* LEAVING, RELEASING: its departure does not look: the line is long */
	bool unread;     /* LEAVING, RELEASING: what it has must be read first */
	bool asked;      /* its h/ is in the check under way */
	bool called;     /* takers.c has yet to call it */
	bool unreported; /* IDLE: the next step must report the end */
	bool away;       /* we reported AWAY, and not yet BACK */
	bool freed;      /* its owner freed it inside a step: we report and send nothing any more */
};

/* ---- taker.c ---- */

void taker_act(struct fleet_taker *t);

/* Only changes the state. */
void taker_move(struct fleet_taker *t, enum taker_state state);

/* Leaves the state and its main call, and does what the new one has to do. */
void taker_go(struct fleet_taker *t, enum taker_state state);

/* The main call got no answer that helps: act() again, later. */
void taker_again(struct fleet_taker *t);

/* Nothing, if the slot's call is under way. */
void taker_txn(struct fleet_taker *t, enum taker_slot slot, struct txn *x, taker_answer *answer);

/* The same for a new lease. */
void taker_lease(struct fleet_taker *t, enum taker_slot slot, int64_t lease, uint32_t ttl_s,
		 taker_answer *answer);

/* Its claim has been done, or never will be; false: that is not yet known. */
bool taker_is_fenced(struct fleet_taker *t);

void taker_hush(struct fleet_taker *t, enum taker_slot slot); /* cancels */

/* What an answer says of the store, to a taker that waits for it: false, if it has ended by that. */
bool taker_heard(struct fleet_taker *t, const struct records_answer *answer);

void taker_unqueue(struct fleet_taker *t);

struct key taker_key(const struct fleet_taker *t, char kind);

/* Keeps what the answer has of its seat's tally; NULL: forgets it. */
void taker_tally(struct fleet_taker *t, const struct records_answer *a);

/*
 * Calls the owner back, which may do anything then: so this is the last thing that a function does.
 */
void taker_report(struct fleet_taker *t, const struct fleet_event *event);
void taker_note(struct fleet_taker *t, const char *text);

/* Ends the taker; nothing of it is under way any more. */
void taker_stop(struct fleet_taker *t);

/* The same, and reports that event. */
void taker_end(struct fleet_taker *t, const struct fleet_event *event);
void taker_refuse(struct fleet_taker *t, int code, const char *text);

/* As its record says it, in the line; and who it is. */
struct record taker_record(const struct fleet_taker *t);
struct person taker_person(const struct fleet_taker *t);

/* ---- what each state does ---- */

void asking_act(struct fleet_taker *t);    /* claim.c */
void marking_act(struct fleet_taker *t);   /* claim.c */
void claiming_act(struct fleet_taker *t);  /* claim.c */
void reconcile_act(struct fleet_taker *t); /* reconcile.c */
void fencing_act(struct fleet_taker *t);   /* reconcile.c */
void looking_act(struct fleet_taker *t);   /* line.c */
void behind_act(struct fleet_taker *t);    /* line.c */
void first_act(struct fleet_taker *t);     /* line.c */
void granting_act(struct fleet_taker *t);  /* line.c */
void holding_act(struct fleet_taker *t);   /* hold.c */
void losing_act(struct fleet_taker *t);    /* lost.c */
void leaving_act(struct fleet_taker *t);   /* leave.c */

/* ---- line.c ---- */

/* It stands behind `before', or nobody is known to be before it; looks again after a while. */
void line_stand(struct fleet_taker *t);
void line_first(struct fleet_taker *t); /* its look is that of the first */

/* Whether nobody else may grant it: round.h; or nobody may do so in time. */
bool line_is_alone(const struct fleet_taker *t);

/* ---- claim.c ---- */

/* Puts h/ or w/, who the taker is, and l/ of the life's lease. */
void claim_add_record(const struct fleet_taker *t, struct txn *x, char kind,
		      const struct record *r);

/* ---- seen.c ---- */

/* The taker's look is the one that the keeper has kept; false: there is none. */
bool seen_take(struct fleet_taker *t);

/* The keeper has it back, as it was. */
void seen_return(struct fleet_taker *t);

/* By its look, a claim gave the taker that permit. */
void seen_granted(struct fleet_taker *t, const struct record *r, int64_t revision);

/* In that revision a taker of this keeper has entered the line, or was granted a permit. */
void seen_is_old(struct fleet *fleet, int64_t revision);

/* The taker's permit has ended. */
void seen_ended(const struct fleet_taker *t);

/* ---- hold.c ---- */

/* It holds since that revision, as this record says. */
void hold_begin(struct fleet_taker *t, int64_t held_since, const struct record *r);
void hold_proven(struct fleet_taker *t); /* the life was renewed, or shown */

/* ---- lost.c ---- */

void lost_while_unkept(struct fleet_taker *t);

/* ---- leave.c ---- */

/* Gives up whatever it has; then reports that event, with that code. */
void leave_begin(struct fleet_taker *t, enum fleet_kind kind, int code);

/* ---- changes.c ---- */

records_hears changes_hear;

/* ---- watching.c ---- */

/* From now on; nothing, if it watches that already. */
void watching_own(struct fleet_taker *t);
void watching_all(struct fleet_taker *t);

/* From that revision on. */
void watching_own_from(struct fleet_taker *t, int64_t from);
void watching_line(struct fleet_taker *t, int64_t from);
bool watching_goes_on(const struct fleet_taker *t); /* of the same place before it */
void watching_end(struct fleet_taker *t, enum taker_watch what);
void watching_end_all(struct fleet_taker *t);

/* ---- states.c ---- */

void taker_step(struct fleet_taker *t, uint64_t now);
uint64_t taker_due(const struct fleet_taker *t);

#endif
