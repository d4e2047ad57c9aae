/* SPDX-License-Identifier: ISC */
/*
 * taker.h - one taker of a limiter in a store.  See keys.h for what is in the store.
 *
 * It is in one state at a time.  act() does what that state has to do and has not begun: it may be
 * called at any time, and is, whenever the taker enters a state or its retry is due.  Every answer
 * goes to the function that the call was made with, which knows the state that it comes in:
 * taker_go() cancels the main call of the state that it leaves.  Every change that the watch
 * reports goes to the state that it finds: changes.c.  Both are found in a table that states.c
 * gives to the taker, so that no two files call each other.
 *
 * A missing answer says nothing about whether the deed was done; it may even be done later.  So a
 * txn is either one that may come late and twice (deletions), or one whose compares let it come
 * once and, when its purpose has passed, never (a grant needs the place that it ends; an attachment
 * the permit), or it is the claim.  The claim, which needs nothing of the taker's own, is fenced:
 * before the taker sends another, it sees the claim's lease revoked, and without the lease the
 * claim can't be done any more.
 *
 * Of the leases that a taker had, the last one counts; the others are revoked in the background, or
 * expire.
 */
#ifndef TAKER_H
#define TAKER_H

#include "protocol/state.h"
#include "protocol/inside.h"

enum taker_state {
	/* The store has no key of the taker, or only what expires. */
	IDLE,    /* ... and nothing is under way: before its first call, and after its last */
	ASKING,  /* waiting for a lease and a first read; then: claim, or refuse */
	MARKING, /* it would have to wait, and must not: it marks the dead holders, and goes */

	/* The store may have w/, or h/ and l/, or nothing. */
	CLAIMING,  /* the claim is under way: all of a permit, or a place */
	RECONCILE, /* it reads what the store has */
	FENCING,   /* it revokes the lease of a claim that got no answer */

	/* The store has w/, as far as is known; the lease is kept alive. */
	LOOKING,  /* it reads which waiter is before it */
	BEHIND,   /* `before' was, at the last read; that waiter, cfg and w/ are watched */
	FIRST,    /* no waiter is; `look' is as of its revision, and watched from there on if it
		     did not fit at once */
	GRANTING, /* ... and the txn that makes it a holder is under way */

	/* The store has h/, as far as is known; h/ and l/ are watched. */
	HOLDING,   /* and l/ on `lease', kept alive */
	ATTACHING, /* l/ is gone, or on another lease: it puts l/ again, on a new one */
	LOSING,    /* h/ is gone: it reads the reason */

	/* It deletes whatever it has. */
	LEAVING,
	RELEASING,
	TAKER_STATES
};

enum taker_slot {
	MAIN,  /* the state's own */
	LEASE, /* a new lease */
	BEAT,  /* keepalive */
	CHECK, /* HOLDING: whether h/ and l/ are there */
	DEAD,  /* about another taker, a suspect */
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

enum taker_watch { WATCH_NONE, WATCH_LINE, WATCH_FIRST, WATCH_HELD };

/*
 * What the taker does in a state, which states may follow, and in which states of its permit (bits
 * of protocol/state.h) that is: each move here is a move of the permit, too, or none.
 */
struct taker_row {
	struct state_rule rule;
	uint32_t permit;
	void (*act)(struct fleet_taker *t);
};

/* The states, and where the watch reports a change: states.c. */
struct taker_deeds {
	struct taker_row row[TAKER_STATES];
	records_hears *hears;
};

extern const struct taker_deeds taker_deeds;

struct fleet_taker {
	LIST_ENTRY(fleet_taker) link;
	struct fleet *fleet;
	const struct taker_deeds *deeds;
	fleet_report *report;
	void *context;
	struct fleet_want want;
	struct taker_call slot[SLOTS];
	uint64_t retry_ns; /* when to act() again; UINT64_MAX: not by time */
	unsigned failures; /* of the main calls, since the last answer */
	enum taker_state state;

	/* ---- the lease: lease.c ---- */
	int64_t lease;     /* 0: none yet */
	uint64_t alive_ns; /* when the last grant, renewal or proof of it was sent */
	uint64_t beat_ns;  /* when the next renewal is due */
	uint64_t round_ns; /* HOLDING: when the renewal under way began */

	/* ---- before and in the line ---- */
	struct look look;
	int64_t created; /* of w/; 0: never in the line */
	uint64_t relook_ns;
	int64_t heard; /* LOOKING: the latest change that the watch reported */
	struct records_watch *watch;
	enum taker_watch watching;
	unsigned again;  /* so many claims in a row met others' changes */
	unsigned missed; /* so many renewals of the lease failed in a row */

	/* ---- the permit ---- */
	uint32_t under;
	uint64_t ticket;
	int64_t held_since; /* create revision of h/ */
	int64_t l_gone;     /* the revision of the last deletion of l/ that the watch reported */
	int64_t attached;   /* the revision at which l/ was put */
	uint64_t proven_ns; /* alive_ns when l/ was last seen to be there; 0: not known */

	/* ---- about a suspect: reclaim.c ---- */
	int64_t suspect_mod, grace_lease;
	uint64_t dead_ns; /* when to handle the suspects again */

	/* ---- the end ---- */
	enum fleet_kind ending; /* LEAVING: what to report, */
	int ending_code;        /* and */
	int32_t status;         /* of the command, for x/; FLK_UNKNOWN */

	uint32_t seat; /* of the permit */
	char self[STORE_SELF];
	char before[STORE_SELF];  /* BEHIND */
	char suspect[STORE_SELF]; /* reclaim.c */

	bool named;      /* it, or the keeper before, has asked for the lease with its name */
	bool leased;     /* the store granted the lease, and nothing says that it is gone */
	bool renewed;    /* HOLDING: the renewal under way: the lease is, */
	bool checked;    /* ... and h/ and l/ are there */
	bool revoked;    /* ATTACHING: the lease ended within ttl of proven_ns */
	bool looked;     /* the look is current enough for the state */
	bool fitted;     /* CLAIMING: by the look, it fits */
	bool first;      /* no limit was ever declared, and it has none: its grant declares one */
	bool open_claim; /* a claim was sent that got no answer */
	bool adopted;    /* RECONCILE: what it was before is not known ... */
	bool held;       /* its owner knows that it holds: from this keeper, or the one before */
	bool reported;   /* this keeper has reported GRANTED */
	bool freed_some; /* reclaim.c took a permit back */
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

/* Nothing, if the slot's call is under way.  False for want of memory. */
bool taker_txn(struct fleet_taker *t, enum taker_slot slot, struct txn *x, taker_answer *answer);

/* The same for the lease of the taker, or of a grace. */
bool taker_lease(struct fleet_taker *t, enum taker_slot slot, int64_t lease, uint32_t ttl_s,
		 taker_answer *answer);

/* records_renew() or records_end(), of the taker's lease. */
typedef struct records_call *taker_lease_call(struct records *r, int64_t id, unsigned timeout_ms,
					      records_done *done, void *context);
bool taker_on_lease(struct fleet_taker *t, enum taker_slot slot, taker_lease_call *does,
		    taker_answer *answer);

/* By the answer to records_end(): the open claim has been done, or never will be.  False: not yet known. */
bool taker_fenced(struct fleet_taker *t, const struct records_answer *reply);
void taker_hush(struct fleet_taker *t, enum taker_slot slot); /* cancels */
void taker_hush_all(struct fleet_taker *t);

/* Its lease was renewed no longer ago than half the ttl, and so is safe to use. */
bool taker_is_fresh(const struct fleet_taker *t);

struct key taker_key(const struct fleet_taker *t, char kind);

/*
 * Calls the owner back, which may do anything then: so this is the last thing that a function does.
 */
void taker_report(struct fleet_taker *t, const struct fleet_event *event);
void taker_note(struct fleet_taker *t, const char *text);

void taker_unwatch(struct fleet_taker *t);
void taker_drop_lease(struct fleet_taker *t); /* it has none, and never uses that one again */

/* Ends the taker; nothing of it is under way any more. */
void taker_stop(struct fleet_taker *t);

/* The same, and reports that event. */
void taker_end(struct fleet_taker *t, const struct fleet_event *event);
void taker_refuse(struct fleet_taker *t, int code, const char *text);

/* The limit by which it waits or holds: its own, else the declared one, else the fallback. */
uint32_t taker_limit(const struct fleet_taker *t, const struct flk_settings *c);

/* Whether it fits by its look; sets under and seat. */
bool taker_fits(struct fleet_taker *t);

/* The value of its w/ or h/, as of now. */
char *taker_record(const struct fleet_taker *t, bool holds);

/*
 * Adds what makes a permit of the taker to a txn: puts of h/, l/ and, if it declares another limit
 * than the last, of cfg.  False for want of memory.
 */
bool taker_add_grant(struct fleet_taker *t, struct txn *x);

/* What another keeper says when a permit that it adopts is gone: lost.c. */
extern const char lost_unkept[];

/* ---- what each state does ---- */

void asking_act(struct fleet_taker *t);    /* claim.c */
void marking_act(struct fleet_taker *t);   /* claim.c */
void claiming_act(struct fleet_taker *t);  /* claim.c */
void reconcile_act(struct fleet_taker *t); /* reconcile.c */
void fencing_act(struct fleet_taker *t);   /* reconcile.c */
/* Goes BEHIND or FIRST, as its look says; looks again after a while. */
void line_settle(struct fleet_taker *t, enum taker_state state);
void line_moves(struct fleet_taker *t);    /* the waiter before it is gone */
void looking_act(struct fleet_taker *t);   /* line.c */
void behind_act(struct fleet_taker *t);    /* line.c */
void first_act(struct fleet_taker *t);     /* line.c */
void granting_act(struct fleet_taker *t);  /* line.c */
void attaching_act(struct fleet_taker *t); /* hold.c */
void losing_act(struct fleet_taker *t);    /* lost.c */
void leaving_act(struct fleet_taker *t);   /* leave.c */

/* ---- lease.c ---- */

void lease_ask(struct fleet_taker *t);  /* a new one; then act() */
void lease_beat(struct fleet_taker *t); /* a renewal, if none is under way */
void lease_keep(struct fleet_taker *t); /* from now on, renews it in time */

/* The store knew that it lives when that call was sent: the next renewal follows from that. */
void lease_lives(struct fleet_taker *t, uint64_t alive_ns);

/* ---- hold.c ---- */

/* It is a holder since that revision, and was at this one, with l/ on its lease or without. */
void hold_begin(struct fleet_taker *t, int64_t held_since, int64_t revision, bool attached);
void hold_asked(struct fleet_taker *t); /* the watch reported that l/ is gone: read h/ and l/ */
void hold_beat(struct fleet_taker *t);

/* ---- leave.c ---- */

/* Gives up whatever it has; then reports that event, with that code. */
void leave_begin(struct fleet_taker *t, enum fleet_kind kind, int code);

/* ---- reclaim.c ---- */

/* Handles the suspects in its look, one at a time.  True while something is under way. */
bool reclaim_act(struct fleet_taker *t);
bool reclaim_any(const struct fleet_taker *t);

/* ---- changes.c ---- */

records_hears changes_hear;

/* ---- watching.c ---- */

/* From that revision on, or from now; does nothing if it watches that already. */
void watch_line(struct fleet_taker *t, int64_t from);
void watch_first(struct fleet_taker *t);
void watch_held(struct fleet_taker *t, int64_t from);

/* ---- states.c ---- */

void taker_step(struct fleet_taker *t, uint64_t now);
uint64_t taker_due(const struct fleet_taker *t);

#endif
