/* SPDX-License-Identifier: ISC */
/*
 * store.pml - the protocol of limiters kept in etcd, as a model.  README.md says which line is
 * which function of cmd/store/etcd/, what was left out, and why that is sound; check-store runs it.
 *
 * Process i is a taker, with its keeper and its command.  Its keys are h/i, l/i, w/i, s/i, t/i.
 * A txn is one step: what the store does and what its taker makes of the answer.  In place of that
 * the answer may be lost, or the txn may come late, at any time, or never; and before each of its
 * steps a taker may be killed, or its keeper alone.
 *
 * There is no clock but this: a lease ends only when its taker has not renewed it for its ttl, so
 * not before alive + ttl; and whoever waits for a grace waits until the command, if no newer proof
 * of life allows it to go on, has been ended at alive + ttl + grace.
 */

#define NIL 15
#define LIMIT 2

/* ---- a configuration: from the environment, so that one compiled checker runs them all ---- */

local int weights = 111;    /* a digit for each; process 0 has the last */
local byte deaths_at_most = 0; /* of takers, with their commands */
local byte heirs_at_most = 0;  /* keepers killed, each followed by another */
local byte losses_at_most = 0; /* answers or txns that are lost, or txns that come late */
local byte ends_at_most = 0;   /* leases that end though their taker lives */
local byte wrong = 0;          /* ... wrongly: no time has passed since the last renewal */
local byte impatient_ones = 0; /* a mask: who may give up waiting */
local byte triers = 0;         /* a mask: who does not wait at all */
local byte closes = 0;         /* somebody closes the limiter, at some time or never */
local byte broken = 0;         /* the protocol without one of its parts */

c_decl {
	static int flk_from_environment(const char *name, int otherwise)
	{
		const char *value = getenv(name);
		return value != 0 && *value != 0 ? atoi(value) : otherwise;
	}
}

#define TEN_TO(i) ((i) == 0 -> 1 : ((i) == 1 -> 10 : 100))
#define WEIGHT(i) ((weights) / TEN_TO(i) % 10)
#define IN(mask, i) (((mask) >> (i)) & 1)

/* BROKEN */
#define OLD_LOOK 1         /* the first in a new line goes by the look from before its place */
#define NO_COMPARE_W 2     /* of a claim */
#define NO_COMPARE_H 3     /* of a claim */
#define NO_COMPARE_PLACE 4 /* of a grant */
#define NO_FENCE 5
#define NO_COMPARE_MARK 6  /* of a reclaim */
#define MARK_KEPT 7        /* by who attaches anew */
#define NO_GRACE 8
#define NO_COMPARE_CFG 9   /* of claim and grant */
#define EARLY_GRACE 10     /* the grace's lease is had before the mark */
#define NO_COMPARE_PERMIT 11 /* of an attachment */
#define NOBODY_ATTACHES 12 /* who finds l/ gone goes on */
#define NO_RECLAIM 13
#define NO_COMPARE_LIVE 14 /* of an attachment: l/ */
/* Expected to pass: README.md says why. */
#define NO_COMPARE_ALIVE 51 /* of a reclaim: l/ */

/* ---- the store ---- */

/*
 * A key that is not there is 0.  h/, w/, s/ are the number of times that they were created by now:
 * for create and mod revisions, of which nothing but equality is asked.  l/ and w/ have a lease.
 */
byte h[N], l[N], w[N], w_lease[N], s[N];
byte t[N];                 /* 1: there; 2: there, on a lease that is older than the mark */
bit ready[N];              /* s/ was put again, with t/ */
byte made_h[N], made_w[N], made_s[N];
byte line[N], nline;       /* w/ in the order of their create revisions */
byte leases[N];            /* those of each taker that live: a mask, 1 to 7 */
bit closed;                /* cfg */

/* ---- in the takers' hands, as far as the store changes it ---- */

/* Since its look: has cfg changed, and which h/ that are there now were put. */
bit new_cfg[N];
byte new_h[N];
byte seen[N];   /* FIRST: which h/ it knows of; it hears of all that go */
byte lease[N];  /* which it keeps alive; 0: none */
byte basis[N];  /* which lease alive_ns, by which the command may run, is about */
bit runs[N];    /* the command */
bit dead[N];    /* nobody does anything for it, now */
bit killed[N];  /* ... or did nothing for a while */

/* A txn that is still under way, though its taker waits for it no more. */
byte late[N], late_lease[N], late_number[N], late_h[N];
bit late_fits[N], late_cfg[N];

/* About the others: what reclaim.c knows.  mark: 0 none; ripe: 1 its grace is over, 2 txn sent. */
#define OF(i, x) ((i) * N + (x))
byte mark[N * N], marked_h[N * N], ripe[N * N];
byte early[N * N]; /* EARLY_GRACE: 1 a lease for t/ is had, 2 and it attached anew since */

byte deaths, heirs, losses, ends, done;

byte got;            /* how the last txn was answered: 0 as soon as that was looked at */
hidden byte a, b, c; /* scratch, within one d_step */

/* What may be sent. */
#define NOTHING 0
#define CLAIM 1
#define GRANT 2
#define ATTACH 3

/* How it is answered. */
#define AWAY 0
#define GRANTED 1
#define QUEUED 2
#define FAILED 3
#define NOLEASE 4

#define LIVES(i, number) ((number) != 0 && IN(leases[i], number))

/* The time is over by which its command must have ended: else it has been. */
#define STALE(i) (runs[i] && !LIVES(i, basis[i]))

#if N == 2
#define EACH(what) what(0) what(1)
#define EACH_OF(what, i) what(i, 0) what(i, 1)
#else
#define EACH(what) what(0) what(1) what(2)
#define EACH_OF(what, i) what(i, 0) what(i, 1) what(i, 2)
#endif

#include "store-keys.pml"
#include "store-taker.pml"

/* ---- what happens by itself ---- */

/* A lease ends, at no cost if nobody renews it. */
#define MAY_END(i) (leases[i] & (dead[i] || ends > 0 -> 255 : ~(1 << lease[i])))
#define END(i) \
	:: atomic { \
		MAY_END(i) != 0 -> x = 1; \
		do \
		:: IN(MAY_END(i), x) -> break \
		:: MAY_END(i) >> (x + 1) != 0 -> x++ \
		od; \
		d_step { \
			ends = (x == lease[i] && !dead[i] -> ends - 1 : ends); \
			end_lease(i, x); \
			x = 0; \
			skip \
		} \
	}

/* What is late comes, or never. */
#define COME(i) \
	:: d_step { late[i] != NOTHING -> come_late(i); forget_late(i); got = 0; skip } \
	:: d_step { late[i] != NOTHING -> forget_late(i); skip }

/* A reclaim that was sent is done. */
#define RECLAIM(i, x) \
	:: d_step { ripe[OF(i, x)] == 2 -> reclaim(i, x); skip }
#define RECLAIMS(i) EACH_OF(RECLAIM, i)

/* t/ ends. */
#define GRACE(x) \
	:: t[x] == 2 || (t[x] == 1 && (broken == NO_GRACE || !STALE(x))) -> t[x] = 0

active proctype World()
{
	byte x;

	do
	EACH(END)
	EACH(COME)
	EACH(RECLAIMS)
	EACH(GRACE)
	:: closes && !closed -> d_step {
		closed = 1;
		for (a : 0 .. N - 1) { new_cfg[a] = 1; late_cfg[a] = 1 };
		skip
	}
	:: closes && !closed -> d_step { closes = 0; skip }
	/* When nothing can happen any more. */
	:: timeout -> d_step { check_quiet(); skip }; break
	od
}

init
{
	byte i;

	c_code {
		now.weights = flk_from_environment("WEIGHTS", now.weights);
		now.deaths_at_most = flk_from_environment("DEATHS", now.deaths_at_most);
		now.heirs_at_most = flk_from_environment("HEIRS", now.heirs_at_most);
		now.losses_at_most = flk_from_environment("LOSSES", now.losses_at_most);
		now.ends_at_most = flk_from_environment("ENDS", now.ends_at_most);
		now.wrong = flk_from_environment("WRONG", now.wrong);
		now.impatient_ones = flk_from_environment("IMPATIENT", now.impatient_ones);
		now.triers = flk_from_environment("TRIERS", now.triers);
		now.closes = flk_from_environment("CLOSES", now.closes);
		now.broken = flk_from_environment("BROKEN", now.broken);
	};
	atomic {
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
		do
		:: i < N -> run Taker(i); i++
		:: else -> break
		od;
		i = 0
	}
}
