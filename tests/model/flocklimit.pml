/* SPDX-License-Identifier: ISC */
/*
 * flocklimit.pml - the protocol as a model.  README.md says which line is which function of lib/,
 * what was left out, and why that is sound; check runs it.
 *
 * Process i is a taker, a barrier (`wait idle') or an operator who steers, and has slot i in every
 * life of its.  It may be killed before each of its steps; the kernel marks its `alive' some time
 * later, wakes who watches it some time later still, and then another life may claim the slot.
 *
 * One STEP is one store that another process can see, or one system call.
 */

#define NIL 15
#define AUTO 15 /* no override */

/* ---- a configuration: from the environment, so that one compiled checker runs them all ---- */

/* `local': never written again, so that reading them is nobody else's business. */
local int weights = 1111, limits = 2222, kinds = 0; /* a digit for each; process 0 has the last */
local int mosts = 0;                  /* the most units that an elastic one takes: MOSTS; 0: not elastic */
local int yields = 0;                 /* how many later takers each lets go first: YIELDS */
local int orders = 0;                 /* what the operator does: ORDERS, the last digit first */
local byte override_first = AUTO;
local byte cancelled_one = NIL;       /* whom a signal cancels, at some time or never */
local byte evicted_one = NIL;         /* whom the operator takes out of the line */
local byte mistaken_one = NIL;        /* whom the kernel marks as dead inside the lock, though it lives */
local byte kills_at_most = 0, lives_at_most = 0, rounds_each = 1;
local byte impatient_ones = 0, triers = 0; /* masks: who may time out; who does not wait at all */
local byte broken = 0;                /* the protocol without one of its parts: BROKEN */
local bit paused_first = 0;
local bit removable = 0;              /* who comes opens the file first, in a step of its own */
local bit fine = 0;                   /* an index is changed in a step of its own */
local bit no_nap = 0;                 /* who sleeps on the lock comes only when it is woken */

c_decl {
	static int flk_from_environment(const char *name, int otherwise)
	{
		const char *value = getenv(name);
		return value != 0 && *value != 0 ? atoi(value) : otherwise;
	}
}

#define TEN_TO(i) \
	((i) == 0 -> 1 : ((i) == 1 -> 10 : ((i) == 2 -> 100 : ((i) == 3 -> 1000 : 10000))))
#define DIGIT(of, i) ((of) / TEN_TO(i) % 10)
#define WEIGHT(i) DIGIT(weights, i)
#define MOST(i) DIGIT(mosts, i)
#define LIMIT(i) DIGIT(limits, i)
#define KIND(i) DIGIT(kinds, i)
#define YIELD(i) DIGIT(yields, i)
#define IN(mask, i) (((mask) >> (i)) & 1)

/* KIND */
#define TAKER 0
#define BARRIER 1
#define OPERATOR 2

/* ORDERS: 1 to 3 override the limit by so many, 5 ends that, and */
#define REMOVE 4
#define PAUSE 6
#define RESUME 7
#define CLOSE 8
#define EVICT 9

/* BROKEN.  Those from HARMLESS on are expected to pass: README.md says why. */
#define WAKE_BEFORE_STATE 1 /* who gives a permit back wakes first, and goes to the lock then */
#define NO_RECHECK 2
#define PREDECESSOR_NOT_WATCHED 3
#define GRANT_KEPT 4
#define NO_PASS_ON 5
#define HEAD_NOT_WOKEN_FIRST 6
#define DEATHS_NOT_SEEN_TO 7
#define NO_GENERATION 8
#define HEAD_NOT_WOKEN 9
#define HOLDERS_NOT_WATCHED 10
#define WORD_READ_LATE 11
#define REPAIR_SILENT 12
#define LEAVER_SILENT 13
#define NO_WAITERS_BIT 14
#define WORD_NOT_CHANGED 15
#define LOCK_NOT_ASKED 16
#define DEATHS_NOT_ASKED 17
#define INDEX_TRUSTED 18
#define LINE_NOT_HELD 19
#define DEATHS_NOT_SEEN_TO_IN_LINE 20 /* takes more than is searched */
#define EVICTED_NOT_WOKEN 21
#define EVICT_SILENT 22
#define EVICT_UNCHECKED 23
#define REMOVED_LATE 24
#define GONE_NOT_ASKED 25
#define UNLINKED_FIRST 26
#define DROP_UNCHECKED 27
#define NOT_DOUBTED 28
#define DOUBT_SILENT 29
#define DOUBT_WAKES_WAITERS_ALONE 30
#define PASSED_NOT_COUNTED 31
#define PASSED_NOT_WOKEN 32
#define PASSED_NO_TICK 33
#define PLACE_BY_INDEX 34
#define CHOICE_OF_ALL 35
#define CHOICE_NOT_COUNTED 36
#define HARMLESS 50
#define WAKE_BEFORE_STATE_INSIDE 51
#define NO_SWEEP_BY_NEWCOMER 53
#define NO_REAP_BY_NEWCOMER 54
#define NO_UNWATCH 55
#define CHOICE_KEPT 56

/* ---- the file (layout.h) ---- */

#define FREE 0
#define IDLE 1
#define WAITING 2
#define HELD 3
#define OUT 4

byte state[N];
byte ticket[N]; /* 1.. by age among those WAITING or HELD: nothing but their order is ever asked */
byte rank[N];   /* 1.. by place among those WAITING */
byte passed[N]; /* how many have passed it */
byte saw[N];    /* of a waiter: whom it watches, 0 the holders, else the slot + 1; NIL nobody who still waits */
byte chosen[N]; /* of an elastic one among those WAITING or HELD: the slot's `weight'; else 0 */
byte gen[N];
bit alive[N];   /* the word has a living owner; else it is 0, or the kernel has marked it */
bit watched[N]; /* the word's WAITERS bit */
/*
 * The wake word: has it changed since its owner last read it?  Nobody else sleeps on it, and
 * nothing but equality is ever asked.
 */
bit changed[N];

byte lock, lock_gen; /* the slot of the owner + 1, and its generation */
bit doubted;         /* two takers were inside: the lock's next owner rebuilds the index */
bit sleepers;        /* with no_nap only, as are the next two */

/*
 * What the lock protects, but for the states: `local', because nobody else can change it before
 * the lock's owner has taken its next step.
 */
local byte override = AUTO;
local bit paused, closed;

/* The index: the line and the holders in order, and what they add up to. */
local byte line[N], nline, holders[N], nholders, used, min_limit;

/* ---- the kernel ---- */

byte lock_queue;
bit lock_woken[N];

/*
 * In which queues a taker is that sleeps, or is about to: that of its own wake word, those of the `alive'
 * words of a set of slots.  One that is woken stays in the other queues until it runs.
 */
bit queued_self[N], woken[N];
byte queued[N];

/* ---- the takers' own memory, as far as others act on it ---- */

byte watch[N];   /* struct watch */
byte renewed[N]; /* those of them with another owner since, whose thread id may be the same */
bit cancelled[N];

/* ---- what is checked, and bounds ---- */

/*
 * The file: is it marked as removed, and has it a name?  A newcomer that finds the mark takes
 * the name away and goes elsewhere, to a new one, and runs there.
 */
bit removed, unlinked, elsewhere;

/*
 * The mistaken one is inside still: from its mark until it has said, or not had to say, that it lost
 * the lock.  twice: another came in besides, and nobody has come in since both were out.
 */
bit mistaken_inside, twice;
bit excess; /* a permit was given then */

byte overtaken[N]; /* how many were granted a permit that came later: passed[] as the law sees it */
bit runs[N]; /* the caller was told that it has a permit, and lives */
byte kills, lives, born;

hidden byte a, b, c; /* scratch, within one step */

#include "index.pml"
#include "laws.pml"
#include "kernel.pml"
#include "state.pml"
#include "taker.pml"

/* flk_cancel(), by a handler or another thread */
proctype Signal()
{
	if
	:: skip
	:: cancelled[cancelled_one] = 1;
		changed[cancelled_one] = 1;
		d_step { futex_wake(cancelled_one) }
	fi
}

/*
 * A process of the same thread id, in another PID namespace, dies just as it would have claimed the
 * slot: the kernel marks the word of a taker that is inside, and wakes a watcher.
 */
proctype Namesake()
{
	bit wakes;

	if
	:: skip
	:: d_step { lock == mistaken_one + 1 && alive[mistaken_one] && lock_gen == gen[mistaken_one] ->
		alive[mistaken_one] = 0; mistaken_inside = 1;
		wakes = watched[mistaken_one]; watched[mistaken_one] = 0 };
		if
		:: wakes -> atomic { wakes = 0; wake_a_watcher(mistaken_one) }
		:: else
		fi
	fi
}

/* When nothing can happen any more. */
active proctype Watchman()
{
	timeout -> d_step { check_quiet(); skip }
}

init
{
	byte i;

	c_code {
		now.weights = flk_from_environment("WEIGHTS", now.weights);
		now.limits = flk_from_environment("LIMITS", now.limits);
		now.mosts = flk_from_environment("MOSTS", now.mosts);
		now.yields = flk_from_environment("YIELDS", now.yields);
		now.kinds = flk_from_environment("KINDS", now.kinds);
		now.kills_at_most = flk_from_environment("KILLS", now.kills_at_most);
		now.lives_at_most = flk_from_environment("LIVES", now.lives_at_most);
		now.rounds_each = flk_from_environment("ROUNDS", now.rounds_each);
		now.impatient_ones = flk_from_environment("IMPATIENT", now.impatient_ones);
		now.triers = flk_from_environment("TRIERS", now.triers);
		now.cancelled_one = flk_from_environment("CANCELLED", now.cancelled_one);
		now.mistaken_one = flk_from_environment("MISTAKEN", now.mistaken_one);
		now.evicted_one = flk_from_environment("EVICTED", now.evicted_one);
		now.removable = flk_from_environment("REMOVABLE", now.removable);
		now.orders = flk_from_environment("ORDERS", now.orders);
		now.paused_first = flk_from_environment("PAUSED", now.paused_first);
		now.override_first = flk_from_environment("OVERRIDE", now.override_first);
		now.fine = flk_from_environment("FINE", now.fine);
		now.no_nap = flk_from_environment("NO_NAP", now.no_nap);
		now.broken = flk_from_environment("BROKEN", now.broken);
	};
	atomic {
		paused = paused_first;
		override = override_first;
		lives = lives_at_most;
		/* So that a run with fewer deaths comes to rest, too. */
		do
		:: kills < kills_at_most -> kills++
		:: break
		od;
		do
		:: i < N -> run Taker(i); i++
		:: else -> break
		od;
		if
		:: cancelled_one != NIL -> run Signal()
		:: else
		fi;
		if
		:: mistaken_one != NIL -> run Namesake()
		:: else
		fi;
		i = 0
	}
}
