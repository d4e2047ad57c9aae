/* SPDX-License-Identifier: ISC */
/*
 * store.pml - the protocol of limiters kept in a store, as a model.  README.md says which line is
 * which function of cmd/store/protocol/, what was left out, and why that is sound; check-store
 * runs it.
 *
 * Process i is a taker with its command; its keys are w/i and h/i.  Its keeper is life j: l/j/LEASE, s/j
 * and t/j.  A keeper may have several takers.  A transaction is one step: what the store does, and
 * what the taker makes of the answer.  In place of that the answer may be lost, or the transaction
 * may be done later, at any time, or never.  Before each step a machine may die with its keeper and
 * all of the keeper's commands; or the keeper alone is killed, and an heir takes over.
 *
 * There is no clock but this.  A lease ends only when its keeper has not renewed it for its ttl.  A
 * taker's proof is about a lease; when that lease has ended, the taker is stale.  A grace does not
 * pass before the command of each stale taker of that life was ended, at alive + ttl + grace, or has
 * a newer proof.
 */

#define NIL 15

/* ---- a configuration: from the environment, so that one compiled checker runs them all ---- */

local int weights = 111;       /* a digit for each taker; process 0 has the last */
local int keepers = 3210;      /* whose keeper has which life: a digit for each taker, as above */
local byte most = 3;           /* waiters that one transaction can grant */
local byte limit_first = 2;
local byte limit_then = 0;     /* an operator sets this limit at some time, or never; 0: no */
local byte deaths_at_most = 0; /* of machines: a keeper with all of its commands */
local byte heirs_at_most = 0;  /* keepers killed, each followed by another */
local byte losses_at_most = 0; /* transactions whose answer is lost, or that come late */
local byte ends_at_most = 0;   /* leases that end though their keeper lives */
local byte wrong = 0;          /* ... wrongly: no time has passed since the last renewal */
local byte impatient_ones = 0; /* a mask: takers that may give up waiting */
local byte slow_at_most = 0;   /* leases that are too old before their l/ is shown */
local byte triers = 0;         /* a mask: takers that do not wait at all */
local byte modest = 0;         /* a mask: takers that wait only if fewer wait than this: */
local byte queue = 1;
local byte stayers = 0;        /* a mask: takers whose command does not end by itself */
local byte headless = 0;       /* the head does not look by itself: others' rounds must do */
local byte closes = 0;         /* an operator closes the limiter, at some time or never */
local byte broken = 0;         /* the protocol without one of its parts */

c_decl {
	static int flk_from_environment(const char *name, int otherwise)
	{
		const char *value = getenv(name);
		return value != 0 && *value != 0 ? atoi(value) : otherwise;
	}
}

#define TEN_TO(i) ((i) == 0 -> 1 : ((i) == 1 -> 10 : ((i) == 2 -> 100 : 1000)))
#define WEIGHT(i) ((weights) / TEN_TO(i) % 10)
#define LIFE(i) ((keepers) / TEN_TO(i) % 10)
#define IN(mask, i) (((mask) >> (i)) & 1)

/* BROKEN */
#define OUT_OF_ORDER 1      /* a releaser passes the head */
#define NO_COMPARE_NEWS 2   /* of a claim: permits that were granted since its look */
#define NO_COMPARE_PLACE 3  /* of a round: the places of those that it grants */
#define NO_COMPARE_CFG 4    /* of a round and a claim */
#define NO_COMPARE_W 5      /* of a claim: that nobody waits */
#define NO_FENCE 6          /* of a claim without an answer */
#define NO_TOKEN 7          /* a claim of a shown life puts no l/ */
#define NO_HEIR_FENCE 8     /* an heir does not end the leases of the keeper before */
#define HEIR_EARLY 9        /* an heir reads before it has ended them */
#define NO_COMPARE_MARK 10  /* of a reclaim */
#define MARK_KEPT 11        /* by a keeper that attaches anew */
#define NO_GRACE 12         /* a reclaim without stamp and grace */
#define EARLY_GRACE 13      /* the grace's lease is had before the mark */
#define NOBODY_ATTACHES 14  /* a keeper that finds l/ gone goes on */
#define NO_RECLAIM_H 15     /* nobody takes back permits */
#define NO_RECLAIM_W 16     /* nobody takes back places */
#define NO_WITNESS 17       /* a mark does not compare a taker's record */
#define LEAVER_KEEPS_MARK 18
#define NO_CHECK 19         /* a command starts by a life that was shown after the grant, unchecked */
#define NO_LOOK_BY_TIME 20  /* a waiter does not look again by itself */
#define NO_WATCH 21         /* a waiter neither hears nor sees by itself that its predecessor is gone */
#define NO_MORE 22          /* one round, though more fit than one transaction can grant */
#define ONE_L 23            /* a life has one l/, which moves to the lease that it was put on last */
#define ANY_LEASE 24        /* a claim on a lease that is neither the first nor shown */
#define EARLY_END 25        /* a keeper ends the lease that it has left before it shows another */
#define ONE_L_READ 26       /* an heir reads only the oldest l/ */
#define STALE_TAIL 27       /* a newcomer that is alone stands behind the tail */
#define NO_TAIL 28          /* a round that grants all does not look who has come since */
#define NO_LIVES 29         /* a taker that must not wait looks at no lives, if anybody seems to wait */
#define NO_BELL 30          /* a leaver does not ring */
#define NEW_FIRST 31        /* an heir that a new taker comes to first inherits nothing */
#define FORGETS_OLD 33      /* an heir that nobody needs any more forgets what it has inherited */
#define DEAD_FILL 32        /* who finds the line full marks no dead behind a living waiter */
/* Expected to pass: README.md says why. */
#define NO_COMPARE_ALIVE 51 /* of a reclaim: l/ */
#define NO_COMPARE_H 53     /* of a round: permits that were granted since its look */
#define NO_ROUNDS 54        /* only the head grants */

/* ---- the store ---- */

bit w[N], h[N];
byte line[N], nline;           /* w/ in the order of their create revisions */
byte tail;                     /* the taker that it names, and 1; 0: not there */
byte l[N];                     /* the leases that have an l/: a mask */
byte s[N];                     /* s/: 1 marked, 2 put again with t/ */
byte t[N];                     /* t/: 1 there; 2 there, on a lease older than the mark */
byte leases[N];                /* those of each life that live: a mask, 1 to 7 */
bit closed; byte limit;        /* cfg */

/* ---- a life, in its keeper's hands ---- */

byte lease[N];                 /* 0: none */
bit shown[N];                  /* the keeper knows that l/ is on it */
byte leased[N];                /* so many leases it had; the first is number 1, which an heir knows */
bit dead[N];                   /* the machine died */
bit heir[N];                   /* the heir has not read l/ yet */
byte old[N];                   /* the leases that it has left, and has to end: a mask */
byte late_put[N];              /* l/ is still to be put on this lease, perhaps; 0: no */

/* ---- a taker ---- */

#define BEFORE 0  /* ASKING, CLAIMING */
#define INSIDE 1  /* the store may have records of it */
#define LEAVES 2
#define GONE 3
#define ADOPTED 4 /* an heir has not yet read what the store has of it */
#define ADOPTED_LEAVES 5
byte state[N];
byte signal[N];                /* 1: its machine died; 2: its keeper was killed */
bit runs[N];                   /* its command */
bit over[N];                   /* its command was ended at its deadline */
bit killed[N];                 /* what is left of it at the end is no fault */
byte basis[N];                 /* the lease that its last proof of life is about; 0: nothing is promised to
                                  it; NIL: that lease was ended, and no other was shown before */
bit unsure[N];                 /* l/ was put after the grant, and no check has found h/ since */
byte before[N];                /* the taker that it stands behind, and 1 */

/* Its claim. */
#define AWAITED 1
#define LATE 2
byte claim_is[N], claim_lease[N];
bit claim_puts[N];             /* NO_TOKEN: l/, too */
bit claim_fits[N];             /* by its look, and nothing that it compares has changed since */

/* Its round: planned, and perhaps sent. */
#define FIRST 1      /* the head's */
#define PASS 2       /* with its release */
#define RUN 3        /* in the background, */
#define MUST_LOOK 4  /* before its look */
#define LATE_ROUND 5 /* nobody waits for the answer */
#define LATE_PASS 6
#define SILENCE 7    /* it found that nobody waits, and deletes the tail */
byte round[N], plan[N];        /* the waiters that it grants: a mask */
bit valid[N];                  /* nothing that it compares has changed since its look */
bit whole[N], more[N], rang[N];
bit came[N];                   /* it grants all, and somebody has come to the line since its look */

/* Its reclaim, sent: the life and 1, its takers, nothing compared has changed. */
byte victims_life[N], victims[N];
bit reclaim_valid[N];
/* EARLY_GRACE: 1 it has a lease for t/, 2 and l/ was put since.  NO_WITNESS: the life that it will mark, and 1. */
byte early[N];

byte deaths, heirs, losses, ends, slow;

byte got;            /* how the last transaction was answered: 0 as soon as that was looked at */
hidden byte was_tail;  /* the tail before the last claim */
hidden byte a, b, c, d, e, f, g, k, y; /* scratch, within one d_step */

/* How a claim is answered. */
#define GRANTED 1
#define QUEUED 2
#define FAILED 3
#define NOLEASE 4

#define LIVES(j, number) ((number) != 0 && IN(leases[j], number))

/* The time is over by which its command must have ended, and it has not been ended or proven alive. */
#define STALE(i) (basis[i] != 0 && basis[i] != NIL && !LIVES(LIFE(i), basis[i]))

#if N == 2
#define EACH(what) what(0) what(1)
#define ANY(what, j) (what(0, j) || what(1, j))
#elif N == 3
#define EACH(what) what(0) what(1) what(2)
#define ANY(what, j) (what(0, j) || what(1, j) || what(2, j))
#else
#define EACH(what) what(0) what(1) what(2) what(3)
#define ANY(what, j) (what(0, j) || what(1, j) || what(2, j) || what(3, j))
#endif

#define STALE_OF(i, j) (LIFE(i) == (j) && STALE(i))
#define STALE_LIFE(j) ANY(STALE_OF, j)

/* The keeper has a taker. */
#define LEFT_OF(i, j) (LIFE(i) == (j) && state[i] != GONE)
#define IS_NEEDED(j) ANY(LEFT_OF, j)
#define USER_OF(i, j) (LEFT_OF(i, j) && signal[i] != 2)
#define IS_USED(j) ANY(USER_OF, j) /* by a taker that its keeper knows */

#include "store-keys.pml"
#include "store-life.pml"
#include "store-taker.pml"

/* ---- what happens by itself ---- */

/*
 * A lease ends, at no cost if nobody renews it; the oldest first, as it was renewed last before the next
 * one began.
 */
#define MAY_END(j) (leases[j] & (ends > 0 -> 255 : ~(1 << lease[j])) & 254)
#define END(j) \
	:: atomic { \
		MAY_END(j) != 0 -> x = 1; \
		do \
		:: IN(MAY_END(j), x) -> break \
		:: (MAY_END(j) >> (x + 1)) != 0 && (wrong || !IN(MAY_END(j), x)) -> x++ \
		od; \
		d_step { \
			ends = (x == lease[j] -> ends - 1 : ends); \
			end_lease(j, x); \
			x = 0; \
			skip \
		} \
	}

/* What is late comes, or never. */
inline end_late(i)
{
	claim_is[i] = 0; claim_fits[i] = 0;
	claim_lease[i] = (state[i] == GONE -> 0 : claim_lease[i])
}

#define COME(i) \
	:: d_step { claim_is[i] == LATE -> claim(i); got = 0; end_late(i); skip } \
	:: d_step { claim_is[i] == LATE -> end_late(i); skip } \
	:: d_step { late_put[i] != 0 -> put_late(i); skip } \
	:: d_step { late_put[i] != 0 -> late_put[i] = 0; skip } \
	:: d_step { round[i] == LATE_ROUND -> do_round(i); forget_round(i); skip } \
	:: d_step { round[i] == LATE_PASS -> pass_late(i); forget_round(i); skip } \
	:: d_step { round[i] == SILENCE -> silence(); forget_round(i); skip } \
	:: d_step { round[i] >= LATE_ROUND -> forget_round(i); skip } \
	:: d_step { victims_life[i] != 0 -> reclaim(i); skip }

/* t/ ends. */
#define GRACE(j) \
	:: d_step { t[j] == 2 || (t[j] == 1 && (broken == NO_GRACE || !STALE_LIFE(j))) -> t[j] = 0 }

/* ttl and grace have passed since its last proof of life: its command was ended. */
#define TIME(i) \
	:: (STALE(i) || basis[i] == NIL) && !wrong -> d_step { \
		basis[i] = 0; \
		over[i] = runs[i]; \
		runs[i] = 0; \
		skip \
	}

active proctype World()
{
	byte x;

	do
	EACH(END)
	EACH(COME)
	EACH(GRACE)
	EACH(TIME)
	:: closes && !closed -> d_step { closed = 1; new_cfg(); skip }
	:: closes && !closed -> d_step { closes = 0; skip }
	:: limit_then != 0 -> d_step { limit = limit_then; limit_then = 0; new_cfg(); skip }
	:: limit_then != 0 -> limit_then = 0
	/* When nothing can happen any more. */
	:: timeout -> d_step { check_quiet(); skip }; break
	od
}

init
{
	byte i;

	c_code {
		now.weights = flk_from_environment("WEIGHTS", now.weights);
		now.keepers = flk_from_environment("KEEPERS", now.keepers);
		now.most = flk_from_environment("MOST", now.most);
		now.limit_first = flk_from_environment("LIMIT", now.limit_first);
		now.limit_then = flk_from_environment("THEN", now.limit_then);
		now.deaths_at_most = flk_from_environment("DEATHS", now.deaths_at_most);
		now.heirs_at_most = flk_from_environment("HEIRS", now.heirs_at_most);
		now.losses_at_most = flk_from_environment("LOSSES", now.losses_at_most);
		now.ends_at_most = flk_from_environment("ENDS", now.ends_at_most);
		now.wrong = flk_from_environment("WRONG", now.wrong);
		now.impatient_ones = flk_from_environment("IMPATIENT", now.impatient_ones);
		now.slow_at_most = flk_from_environment("SLOW", now.slow_at_most);
		now.queue = flk_from_environment("QUEUE", now.queue);
		now.modest = flk_from_environment("MODEST", now.modest);
		now.triers = flk_from_environment("TRIERS", now.triers);
		now.stayers = flk_from_environment("STAYERS", now.stayers);
		now.headless = flk_from_environment("HEADLESS", now.headless);
		now.closes = flk_from_environment("CLOSES", now.closes);
		now.broken = flk_from_environment("BROKEN", now.broken);
	};
	atomic {
		limit = limit_first;
		/* So that a run with fewer of them comes to rest, too. */
		do
		:: deaths < deaths_at_most -> deaths++
		:: break
		od;
		do
		:: heirs < heirs_at_most -> heirs++
		:: break
		od;
		do
		:: ends < ends_at_most -> ends++
		:: break
		od;
		losses = losses_at_most;
		slow = slow_at_most;
		do
		:: i < N -> run Taker(i); i++
		:: else -> break
		od;
		i = 0;
		do
		:: i < N -> run Keeper(i); i++
		:: else -> break
		od;
		i = 0
	}
}
