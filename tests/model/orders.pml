/* SPDX-License-Identifier: ISC */
/*
 * orders.pml - orders to all limiters of a directory, also to those that are made later: lib/orders.c
 * and lib/create.c as a model.  README.md says which line is which function; check-orders runs it.
 *
 * There are N makers and two names.  An operator pauses all limiters and maybe resumes all of them
 * after that; another may pause all at the same time; a remover may remove limiters.  Each process
 * may be killed before each of its steps, and the kernel then frees the lock that it has.
 *
 * The law: from the end of an operator's walk to the beginning of its next one, every limiter that
 * can be used is as the operator wants it.
 */

#define NAMES 2

/* ---- a configuration: from the environment, so that one compiled checker runs them all ---- */

local int names = 0;         /* a digit for each maker, 0 or 1; process 0 has the last */
local byte kills = 0;        /* at most */
local byte removals = 0;     /* at most */
local byte walks = 1;        /* 1: pause all; 2: and then resume all */
local byte operators = 1;    /* 2: another pauses all at the same time */
local byte broken = 0;       /* the protocol without one of its parts */

c_decl {
	static int flk_from_environment(const char *name, int otherwise)
	{
		const char *value = getenv(name);
		return value != 0 && *value != 0 ? atoi(value) : otherwise;
	}
}

#define TEN_TO(i) ((i) == 0 -> 1 : ((i) == 1 -> 10 : 100))
#define NAME_OF(i) (names / TEN_TO(i) % 10)

/* BROKEN */
#define READ_FIRST 1  /* a maker reads the orders before it links the name */
#define LIST_FIRST 2  /* an operator lists the names before it changes the order */
#define NO_WAIT 3     /* an operator passes over a limiter that has no magic yet */
#define NO_LOCK 4     /* a maker does not lock INIT_BYTE */
#define READ_ONCE 5   /* a maker that finds a dead maker's file does not read the orders */
#define MAGIC_FIRST 6 /* a maker stores magic before it obeys the orders */

/* ---- the directory ---- */

#define NONE 0
#define UNBORN 1 /* it has its name, and no magic */
#define MADE 2

bit order;
byte file[NAMES];
byte lock[NAMES]; /* on INIT_BYTE: 0, or its owner's number and 1 */
bit paused[NAMES];
byte birth[NAMES];

/* ---- the law ---- */

bit done;   /* every operator is at the end of a walk */
byte ended; /* how many operators are there */
bit wanted; /* what the walk was for */

inline check(x)
{
	assert(!done || file[x] != MADE || paused[x] == wanted)
}

#define OR_DIE(x, me) \
	:: atomic { \
		kills > 0 -> kills--; \
		if \
		:: lock[x] == (me) + 1 -> lock[x] = 0 \
		:: else \
		fi; \
		goto gone \
	}

/* ---- a maker: flk_attach() by name ---- */

proctype Maker(byte i)
{
	byte n = NAME_OF(i);
	bit saw;
	bit anew = 1;

look:
	if
	:: file[n] == MADE -> goto gone
	:: file[n] == UNBORN -> goto in_place
	:: file[n] == NONE -> skip
	OR_DIE(n, i)
	fi;
	if
	:: broken == READ_FIRST -> saw = order
	:: broken != READ_FIRST -> skip
	OR_DIE(n, i)
	fi;
	/* The file had no name until now, so no other process can have its lock. */
	if
	:: d_step {
		file[n] == NONE -> file[n] = UNBORN;
		paused[n] = 0;
		lock[n] = (broken != NO_LOCK -> i + 1 : 0)
	}
	:: file[n] != NONE -> goto look
	OR_DIE(n, i)
	fi;
	goto finish;
in_place:
	if
	:: d_step { lock[n] == 0 -> lock[n] = (broken != NO_LOCK -> i + 1 : 0) }
	OR_DIE(n, i)
	fi;
	if
	:: file[n] != UNBORN ->
		d_step { lock[n] = (lock[n] == i + 1 -> 0 : lock[n]) };
		goto look
	:: d_step { file[n] == UNBORN -> paused[n] = (broken == READ_ONCE -> paused[n] : 0) };
		anew = broken != READ_ONCE
	OR_DIE(n, i)
	fi;
finish:
	if
	:: broken == READ_FIRST || !anew -> saw = (anew -> saw : paused[n])
	:: broken != READ_FIRST && anew -> saw = order
	OR_DIE(n, i)
	fi;
	if
	:: broken == MAGIC_FIRST -> d_step { file[n] = MADE; check(n) }
	:: broken != MAGIC_FIRST -> skip
	OR_DIE(n, i)
	fi;
	if
	:: d_step { paused[n] = saw; check(n) }
	OR_DIE(n, i)
	fi;
	if
	:: d_step { file[n] = MADE; check(n) }
	OR_DIE(n, i)
	fi;
	if
	:: d_step { lock[n] = (lock[n] == i + 1 -> 0 : lock[n]) }
	OR_DIE(n, i)
	fi;
gone:
	skip
}

/* ---- an operator: flocklimitctl pause --all, and then resume --all ---- */

#define OPERATOR (N + 1) /* has no lock for longer than one step */

proctype Operator(byte mine)
{
	byte n, born;
	byte walk = 1;
	bit value = 1;
	bit listed[NAMES];

again:
	if
	:: broken == LIST_FIRST -> listed[0] = file[0] != NONE; listed[1] = file[1] != NONE
	:: broken != LIST_FIRST -> skip
	OR_DIE(0, OPERATOR)
	fi;
	if
	:: order = value
	OR_DIE(0, OPERATOR)
	fi;
	if
	:: broken != LIST_FIRST -> listed[0] = file[0] != NONE; listed[1] = file[1] != NONE
	:: broken == LIST_FIRST -> skip
	OR_DIE(0, OPERATOR)
	fi;
	n = 0;
	do
	:: n == NAMES -> break
	:: n < NAMES && !listed[n] -> n++
	:: n < NAMES && listed[n] -> skip;
		/* flk_attach() of what exists */
		if
		:: file[n] == NONE -> goto next
		:: d_step { file[n] == MADE -> born = birth[n] }
		:: file[n] == UNBORN && broken == NO_WAIT -> goto next
		:: file[n] == UNBORN && broken != NO_WAIT ->
			if
			:: lock[n] == 0 ->
				if
				:: d_step { file[n] == MADE -> born = birth[n] }
				:: file[n] != MADE -> goto next
				fi
			OR_DIE(n, OPERATOR)
			fi
		OR_DIE(n, OPERATOR)
		fi;
		/* flk_pause() or flk_resume(): a removed limiter is none */
		if
		:: d_step {
			paused[n] = (birth[n] == born && file[n] == MADE -> value : paused[n])
		}
		OR_DIE(n, OPERATOR)
		fi;
next:
		n++
	od;
	skip;
	d_step {
		ended++;
		done = ended == operators;
		wanted = value;
		check(0);
		check(1)
	};
	if
	:: walk < walks && operators == 1 ->
		d_step { walk++; value = 0; done = 0; ended-- };
		goto again
	:: skip
	fi;
gone:
	skip
}

/* ---- flk_remove() of limiters that nobody uses ---- */

proctype Remover()
{
	byte n;

	do
	:: removals > 0 ->
		if
		:: n = 0
		:: n = 1
		fi;
		d_step {
			if
			:: file[n] == MADE && lock[n] == 0 -> file[n] = NONE; birth[n]++
			:: else
			fi;
			removals--
		}
	:: break
	od
}

init
{
	byte i;

	c_code {
		now.names = flk_from_environment("NAMES", now.names);
		now.kills = flk_from_environment("KILLS", now.kills);
		now.removals = flk_from_environment("REMOVALS", now.removals);
		now.walks = flk_from_environment("WALKS", now.walks);
		now.operators = flk_from_environment("OPERATORS", now.operators);
		now.broken = flk_from_environment("BROKEN", now.broken);
	};
	atomic {
		do
		:: i < N -> run Maker(i); i++
		:: else -> break
		od;
		run Operator(0);
		if
		:: operators == 2 -> run Operator(1)
		:: else
		fi;
		if
		:: removals > 0 -> run Remover()
		:: else
		fi
	}
}
