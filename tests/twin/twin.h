/* SPDX-License-Identifier: ISC */
/*
 * twin.h - what the parts of twin.t share.
 *
 *	naive.c	the obviously right one: an array of takers, looked through from end to end
 *	where.c	that look
 *	grant.c	its rules of granting
 *	turns.c	its rules of a fair limiter
 *	real.c	lib/state.c and lib/repair.c, with a place to die at each store that counts
 *	history.c	what the naive one tells of itself
 *	act.c	one operation, done to both
 *	agree.c	are they the same, and is everybody awake who must be?
 *	story.c	operations as data: made at random, played, printed
 *	twin.c		many stories; a failing one is made as short as can be
 */
#ifndef TWIN_H
#define TWIN_H

#include "../helpers/common.h"
#include "../helpers/request.h"
#include "state.h"

#define MOST         96             /* takers; more than 64, so that seats need a second word */
#define ALL_SEATS    (MOST + SEATS) /* the smallest free one is among these */
#define STORY        200
#define CANCELLED    (-77)
#define UNCUT        UINT32_MAX
#define NOBODY       MOST /* in the naive world; NIL is the real one's */
#define TWIN_COMMAND "twin"
#define TWIN_GATE    "mem>1G"
#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

/* ---- operations as data ---- */

enum deed {
	ENTERS, /* want; a: seats that it does not want, b: its key, d */
	TRIES,  /* the same, but leaves again if it must wait behind e others or more */
	BARS,   /* enters as a barrier */
	LOOKS,  /* wakes up and looks, as in lib/wait.c; a: whether at the holders in any case; d */
	LEAVES, /* a: why, for the history */
	RELEASES,       /* a: its status; b: KiB, c: ms of CPU time that its work took */
	RELEASES_UNITS, /* a */
	FORGETS,
	COMES_BACK, /* sees that it was put out of the line */
	DIES,
	DIES_GUARDED, /* its command lives on */
	COMMAND_ENDS, /* of such a command */
	IS_CLAIMED,   /* a dead one's slot, by another */
	EVICTS,       /* and from here on nobody in particular does it; who: the victim */
	EVICTS_ALL,
	SHRINKS,   /* a: units of a holder's permit; who: the holder */
	GROWS,     /* the same, by so many */
	OVERRIDES, /* a: the limit, or UNCUT for auto */
	PAUSES,
	RESUMES,
	REFUSES,
	ADMITS,
	RESTORES,    /* a: units */
	TAKES_OUT,   /* a: a seat, out of use */
	PUTS_BACK,   /* a: it is in use again */
	DECLARES,    /* a: limit */
	GATES,       /* a: 1 to set a gate, or 0; b: ms in which a start settles */
	TAKES_TURNS, /* a: 1: the limiter is fair from now on, or 0 */
	SWEEPS,
	REBUILDS,
	REPAIRS /* what is sound, but for its index */
};

/*
 * d: what the doer brings for the gate, or 0.  READING: it has measured, d >> AGE ms before, and if
 * HELD_TRUE is there, all conditions held.  ASKS: it has a question of its own from now on; YES: and
 * its answer is yes.
 */
enum { READING = 1, HELD_TRUE = 2, ASKS = 4, YES = 8, AGE = 4 };

/*
 * cut: the doer is killed inside.  2k: right before the store that counts, after k of them, with
 * everything up to it done; 2k + 1: right after it.  Where there are fewer: at the end, but with
 * the lock still in its hand.
 */
struct op {
	enum deed deed;
	uint32_t who, a, b, c, d, e, cut;
	struct flk_request want;
};

struct story {
	uint32_t takers, slots;
	uint64_t first_ticket;
	unsigned count;
	struct op op[STORY];
};

/* NULL, or what went wrong; then the story ends with that operation. */
const char *story_invent(struct story *story, uint64_t seed);
const char *story_play(struct story *story);
void story_print(const struct story *story);

void act_reset(const struct story *story);
bool act_possible(const struct op *op);
void act(const struct op *op);
bool act_left_alone(void); /* the doer was killed, and nobody who is awake would have mended it */

/* NULL, or in what they differ, or who should be awake. */
const char *disagreement(void);
bool must_watch(unsigned me, unsigned whom);
const char *oversleeps(void);

/* ---- the naive one ---- */

struct naive {
	enum slot_state state;
	enum slot_kind kind;
	uint64_t ticket, fence;
	uint64_t rank; /* in the line: the smallest is the head's */
	uint64_t tag;
	struct flk_request want;
	uint32_t passed_by, passed;
	uint32_t weight, least, most, limit;
	bool has[ALL_SEATS]; /* seats */
	uint32_t own;        /* of them, the first that it got */
	bool each;           /* one for each unit; else only one */
	uint64_t not_seats;
	bool asks; /* a question of its own */
	int reason, status;
	struct took took;
	uint64_t since;
};

extern struct naive naive[MOST];
extern uint32_t takers;
extern struct naive_header {
	uint64_t tickets, fences, withheld, seats_off;
	int64_t override;
	uint32_t declared, declared_before;
	bool paused, closed;

	/* The gate: the last start, and the ticket of the head that nothing else keeps. */
	bool gated;
	uint64_t settle_ns, started, waiter;
	bool told[MOST]; /* now, that it has to measure */

	bool fair;
	uint64_t turn;
	uint32_t records;
} naive_header;

/* What slots know of keys: one each, also those that no taker of this story has. */
extern struct naive_record {
	uint32_t key; /* 0: nothing */
	uint64_t given;
} naive_record[2 * MOST];

/* It is killed as well, after so many stores that count: right then, or before the next. */
void naive_live_for(uint32_t stores, bool right_then);
bool naive_lives(void);
bool naive_may_store(void); /* before each store that counts */

void naive_grant(void);

void naive_turns_reset(uint32_t slots);
void naive_turns_set(bool fair);
void naive_turns_arrive(unsigned me, uint32_t key);
void naive_turns_give(unsigned me, uint32_t weight);
void naive_turns_leave(unsigned me);
void naive_turns_grow(unsigned me, uint32_t units);

void naive_acts(const struct op *op);
void naive_visit(const struct op *op); /* what its doer brings for the gate; NULL: nothing */
void naive_rebuild(void);
void naive_mend(unsigned me);

bool naive_has_room(unsigned me);
bool naive_may_sit(unsigned me, uint32_t seat);
unsigned naive_predecessor(unsigned me);
/* By rank in the line, else by ticket; NOBODY: the first. */
unsigned naive_next(enum slot_state state, unsigned after);
uint64_t naive_used(void);
uint32_t naive_limit(uint32_t own);
uint32_t naive_said_limit(uint32_t own); /* and without what seats out of use take off it */
bool naive_seat_is_free(uint32_t seat);
uint32_t naive_seat(unsigned who);  /* its first */
uint64_t naive_seats(unsigned who); /* a set; 0: it has no seat for each unit */

/* ---- what the naive one tells of itself ---- */

enum total { GRANTED, RELEASED, LEFT, EVICTED, REAPED, REPAIRED, TOTALS };

void naive_history_reset(void);
void naive_hush(bool hush); /* what is only tried is not told */
void naive_note(enum flk_event_kind kind, unsigned who, int code);
void naive_count(enum total which);
void naive_took(bool held, uint64_t since);

const char *history_differs(void);
const char *turns_differ(void);
const char *complain(const char *what, unsigned who, uint64_t has, uint64_t naive_has);

/* As the real one has it; 0: none. */
static inline void
twin_key(uint32_t key, char text[FLK_KEY])
{
	memset(text, 0, FLK_KEY);
	if (key != 0)
		text[0] = (char)('a' + key % 26);
}

/* ---- the real one ---- */

extern struct header *const real;
extern struct slot real_slots[2 * MOST];
extern struct event real_history[EVENTS];
extern struct state real_state;

void real_reset(const struct story *story);
void real_begin(uint32_t me);
void real_scramble(uint32_t seed);   /* any index at all */
bool real_acts(const struct op *op); /* false: it was killed inside */

/* ---- the world of both ---- */

extern struct world_of_one {
	bool dead, guarded;
	bool fresh;         /* it waited, and does not know yet how that ended */
	bool asleep;        /* of those who wait */
	bool timed;         /* its sleep ends by itself: it is to measure again */
	bool watches[MOST]; /* of those asleep */
} world[MOST];

extern uint64_t world_clock;

bool is_dead(unsigned who); /* and nothing of it is left */

#endif
