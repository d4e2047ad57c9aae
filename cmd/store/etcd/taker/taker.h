/* SPDX-License-Identifier: ISC */
/*
 * taker.h - one taker of the engine for etcd.  See keys.h for what is in the store.
 *
 * It is in one state at a time.  act() does what that state has to do and has not begun: it may be
 * called at any time, and is, whenever a state is entered or its retry is due.  Every answer goes
 * to the function that the call was made with, which knows the state that it comes in: taker_go()
 * cancels the main call of the state that it leaves.  Every change that the watch tells is looked
 * at in the state it finds: changes.c.  Both are found in a table that states.c gives to the taker,
 * so that no file calls one that calls it.
 *
 * An answer that does not come says nothing about whether the deed was done; a deed may even be
 * done later.  So a txn is either one that may come late and twice (deletions), or one whose
 * compares let it come once and, when what it was made for has passed, never (a grant needs the
 * place that it ends; an attachment the permit), or it is the claim.  The claim, which needs
 * nothing of the taker's own, is fenced: before another is sent, its lease is seen to be revoked,
 * and without the lease it can't be done any more.
 *
 * Of the leases that it had, the last is the one that counts; the others are revoked behind its
 * back, or expire.
 */
#ifndef TAKER_H
#define TAKER_H

#include "etcd/inside.h"

enum taker_state {
	/* The store has no key of it. */
	NEW,     /* ... and nothing was sent */
	ASKING,  /* a lease and a look are being had; then: claim, or refuse */
	MARKING, /* it would have to wait, and must not: it marks the dead holders, and goes */

	/* The store may have w/, or h/ and l/, or nothing. */
	CLAIMING,  /* the claim is under way: all of a permit, or a place */
	RECONCILE, /* being read */
	FENCING,   /* the lease of a claim that nobody answered is being revoked */

	/* The store has w/, as far as is known; the lease is kept alive. */
	LOOKING,  /* the waiter before it is being read */
	BEHIND,   /* `before' is, when last read; that one, cfg and w/ are watched */
	FIRST,    /* nobody is; `look' is as of its revision, and watched from there on if it
		     did not fit at once */
	GRANTING, /* ... and the txn is under way that makes it a holder */

	/* The store has h/, as far as is known; h/ and l/ are watched. */
	HOLDING,   /* and l/ on `lease', kept alive */
	ATTACHING, /* l/ is gone, or on another lease: it is put anew, on a new one */
	LOSING,    /* h/ is gone: the reason is being read */

	/* Whatever there is, is deleted. */
	LEAVING,
	RELEASING,
	OVER /* the store has nothing, or nothing that does not expire; nothing is under way */
};

enum taker_slot {
	MAIN,  /* the state's own */
	LEASE, /* a new lease */
	BEAT,  /* keepalive */
	CHECK, /* HOLDING: whether h/ and l/ are there */
	DEAD,  /* about another taker, a suspect */
	SLOTS
};

struct engine_taker;

/* t: the taker that called.  The call is over, and its slot free. */
typedef void taker_answer(struct engine_taker *t, const struct etcd_reply *reply);

struct taker_call {
	struct engine_taker *taker;
	struct etcd_call *call;
	taker_answer *answer;
};

enum taker_watch { WATCH_NONE, WATCH_LINE, WATCH_FIRST, WATCH_HELD };

/* What it does in each state, and where the store tells it of a change: states.c. */
struct taker_deeds {
	void (*act[OVER + 1])(struct engine_taker *t);
	etcd_hears *hears;
};

struct engine_taker {
	LIST_ENTRY(engine_taker) link;
	struct engine *e;
	const struct taker_deeds *deeds;
	engine_tell *tell;
	void *context;
	struct engine_want want;
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
	int64_t created; /* of w/; 0: it never was in the line */
	uint64_t relook_ns;
	int64_t heard; /* LOOKING: the latest change that the watch told of */
	struct etcd_watch *watch;
	enum taker_watch watching;
	unsigned again;  /* so many claims in a row met what others did meanwhile */
	unsigned missed; /* so many renewals of the lease failed in a row */

	/* ---- the permit ---- */
	uint32_t under;
	uint64_t ticket;
	int64_t held_since; /* create revision of h/ */
	int64_t l_gone;     /* the revision of the last deletion of l/ that was heard of */
	int64_t attached;   /* the revision at which l/ was put */
	uint64_t proven_ns; /* alive_ns of the last time at which l/ was there; 0: not known */

	/* ---- about a suspect: reclaim.c ---- */
	int64_t suspect_mod, grace_lease;
	uint64_t dead_ns; /* when to look after them again */

	/* ---- the end ---- */
	enum engine_kind ending; /* LEAVING: what to tell, */
	int ending_code;         /* and */

	uint32_t seat; /* of the permit */
	char self[STORE_SELF];
	char before[STORE_SELF];  /* BEHIND */
	char suspect[STORE_SELF]; /* reclaim.c */

	bool leased;  /* the lease was answered for, and nothing says that it is gone */
	bool renewed; /* HOLDING: the renewal under way: the lease is, */
	bool checked; /* ... and h/ and l/ are there */
	bool revoked; /* ATTACHING: the lease ended within ttl of proven_ns */
	bool looked;  /* the look is of use in the state it is in */
	bool fitted;  /* CLAIMING: by the look, it fits */
	bool first; /* its grant declares a limit for the first time, and it has none to declare */
	bool open_claim; /* a claim was sent that nobody answered */
	bool adopted;    /* RECONCILE: what it was before is not known ... */
	bool held;       /* its owner was told that it holds: by this keeper, or the one before */
	bool told;       /* GRANTED, by us */
	bool freed_some; /* reclaim.c took a permit back */
	bool untold;     /* OVER: it is still to be told, by the next step */
	bool away;       /* AWAY was told, and not BACK */
	bool freed;      /* by its owner, inside a step: nothing is told or sent any more */
};

/* ---- taker.c ---- */

void taker_act(struct engine_taker *t);

/* Leaves the state, with its main call, and does what the new one has to do. */
void taker_go(struct engine_taker *t, enum taker_state state);

/* The main call got no answer that helps: act() again, later. */
void taker_again(struct engine_taker *t);

bool taker_call(struct engine_taker *t, enum taker_slot slot, const char *path, json_t *body,
		taker_answer *answer);
void taker_hush(struct engine_taker *t, enum taker_slot slot); /* cancels */
void taker_hush_all(struct engine_taker *t);

/* In time for its lease to be used: it was renewed no longer than half its time ago. */
bool taker_is_fresh(const struct engine_taker *t);

struct key taker_key(const struct engine_taker *t, char kind);

/* The last thing that a function does: its owner may do anything then. */
void taker_tell(struct engine_taker *t, const struct engine_event *event);
void taker_note(struct engine_taker *t, const char *text);

void taker_unwatch(struct engine_taker *t);
void taker_drop_lease(struct engine_taker *t); /* it has none, and never uses that one again */

/* It is over; nothing of it is under way. */
void taker_stop(struct engine_taker *t);

/* ... and that is told. */
void taker_end(struct engine_taker *t, const struct engine_event *event);
void taker_refuse(struct engine_taker *t, int code, const char *text);

/* The limit that it goes by, given what was declared when it says nothing. */
uint32_t taker_limit(const struct engine_taker *t, const struct config *c);

/* Whether it fits by its look; sets under and seat. */
bool taker_fits(struct engine_taker *t);

/* What stands in its w/ or h/, now. */
char *taker_record(const struct engine_taker *t, bool holds);

/*
 * Adds what makes a permit of the taker to a txn: puts of h/, l/ and, where another limit is
 * declared than the last, of cfg.  False for want of memory.
 */
bool taker_grant_ops(struct engine_taker *t, json_t *ops);

/* What another keeper says when a permit that it adopts is no more: lost.c. */
extern const char lost_unkept[];

/* ---- what each state does ---- */

void asking_act(struct engine_taker *t);    /* claim.c */
void marking_act(struct engine_taker *t);   /* claim.c */
void claiming_act(struct engine_taker *t);  /* claim.c */
void reconcile_act(struct engine_taker *t); /* reconcile.c */
void fencing_act(struct engine_taker *t);   /* reconcile.c */
/* As it looked, it is BEHIND or FIRST; there it looks again after a while. */
void line_settle(struct engine_taker *t, enum taker_state state);
void line_moves(struct engine_taker *t);    /* the waiter before it is gone */
void looking_act(struct engine_taker *t);   /* line.c */
void behind_act(struct engine_taker *t);    /* line.c */
void first_act(struct engine_taker *t);     /* line.c */
void granting_act(struct engine_taker *t);  /* line.c */
void attaching_act(struct engine_taker *t); /* hold.c */
void losing_act(struct engine_taker *t);    /* lost.c */
void leaving_act(struct engine_taker *t);   /* leave.c */

/* ---- lease.c ---- */

void lease_ask(struct engine_taker *t);  /* a new one; then act() */
void lease_beat(struct engine_taker *t); /* a renewal, if none is under way */
void lease_keep(struct engine_taker *t); /* from now on, it is renewed in time */

/* ---- hold.c ---- */

/* It is a holder since that revision, and was at this one, with l/ on its lease or without. */
void hold_begin(struct engine_taker *t, int64_t held_since, int64_t revision, bool attached);
void hold_asked(struct engine_taker *t); /* the same was heard, and is to be looked at */
void hold_beat(struct engine_taker *t);

/* ---- leave.c ---- */

/* Gives up whatever there is; then tells that, with that code. */
void leave_begin(struct engine_taker *t, enum engine_kind kind, int code);

/* ---- reclaim.c ---- */

/* Looks after the suspects in its look, one at a time.  True while something is under way. */
bool reclaim_act(struct engine_taker *t);
bool reclaim_any(const struct engine_taker *t);

/* ---- changes.c ---- */

etcd_hears changes_hear;

/* ---- watching.c ---- */

/* From that revision on, or from now; nothing if that is what it watches already. */
void watch_line(struct engine_taker *t, int64_t from);
void watch_first(struct engine_taker *t);
void watch_held(struct engine_taker *t, int64_t from);

/* ---- states.c ---- */

void taker_step(struct engine_taker *t, uint64_t now);
uint64_t taker_due(const struct engine_taker *t);

#endif
