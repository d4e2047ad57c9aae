/* SPDX-License-Identifier: ISC */
/*
 * index.pml - the commits, and the index that follows them: what state.c and repair.c do in one
 * go under the lock.  The lists are sequences here: nobody but the lock's owner sees a link, and
 * whether the links are right is what tests/twin/twin.c is about.
 */

/* The slot's weight.  An elastic one waits with its least. */
#define UNITS(x) (MOST(x) == 0 -> WEIGHT(x) : chosen[x])
#define ATLEAST(x) (MOST(x) == 0 -> 0 : WEIGHT(x))

/* chosen_weight(): all that is free, up to its most. */
#define LEFT(x) (IN_FORCE(x) > used -> IN_FORCE(x) - used : 0)
#define CHOICE(x) \
	(broken == CHOICE_OF_ALL || LEFT(x) > MOST(x) -> MOST(x) : \
	    (LEFT(x) < WEIGHT(x) -> WEIGHT(x) : LEFT(x)))

/*
 * Nobody is missing from the index, unless two were inside.  Then what is not there is not taken out:
 * flki_state_at() and st->bad see to that.
 */
inline find_in_line(who)
{
	c = 0;
	do
	:: c < nline && line[c] != who -> c++
	:: else -> break
	od;
	assert(c < nline || twice)
}

inline unline(who)
{
	find_in_line(who);
	if
	:: c < nline ->
		nline--;
		do
		:: c < nline -> line[c] = line[c + 1]; c++
		:: else -> line[c] = 0; break
		od;
		chosen[who] = (state[who] == HELD -> chosen[who] : 0)
	:: else
	fi
}

inline unhold(who)
{
	c = 0;
	do
	:: c < nholders && holders[c] != who -> c++
	:: else -> break
	od;
	assert(c < nholders || twice);
	if
	:: c < nholders ->
		used = used - UNITS(who);
		chosen[who] = 0;
		nholders--;
		do
		:: c < nholders -> holders[c] = holders[c + 1]; c++
		:: else -> holders[c] = 0; break
		od
	:: else
	fi
}

inline find_min_limit()
{
	min_limit = 0; c = 0;
	do
	:: c < nholders ->
		if
		:: min_limit == 0 || LIMIT(holders[c]) < min_limit -> min_limit = LIMIT(holders[c])
		:: else
		fi;
		c++
	:: else -> break
	od
}

inline count_in(x)
{
	assert(nholders < N || twice);
	if
	:: nholders < N ->
		c = nholders; nholders++;
		do
		:: c > 0 && ticket[holders[c - 1]] > ticket[x] -> holders[c] = holders[c - 1]; c--
		:: else -> break
		od;
		holders[c] = x;
		used = used + (broken == CHOICE_NOT_COUNTED -> WEIGHT(x) : UNITS(x))
	:: else
	fi;
	find_min_limit()
}

inline stand_in_line(x)
{
	assert(nline < N || twice);
	if
	:: nline < N ->
		c = nline; nline++;
		do
		:: c > 0 && rank[line[c - 1]] > rank[x] -> line[c] = line[c - 1]; c--
		:: else -> break
		od;
		line[c] = x
	:: else
	fi
}

/*
 * request.c: its place is before the last waiters that consent, and each counts it; else behind all
 * that wait, also those that two takers have torn from the line: the place is its ticket's.
 */
inline find_place(x)
{
	rank[x] = 1; a = 0;
	do
	:: a < N -> rank[x] = (state[a] == WAITING -> rank[x] + 1 : rank[x]); a++
	:: else -> break
	od;
	rank[x] = (broken == PLACE_BY_INDEX -> nline + 1 : rank[x]);
	c = nline;
	do
	:: c > 0 && KIND(x) == TAKER && KIND(line[c - 1]) == TAKER &&
	    passed[line[c - 1]] < YIELD(line[c - 1]) && YIELD(x) < YIELD(line[c - 1]) ->
		c--;
		passed[line[c]] = (broken != PASSED_NOT_COUNTED -> passed[line[c]] + 1 : 0);
		rank[x] = rank[line[c]]
	:: else -> break
	od
}

/* x stands in the line no more, or stands there now: those behind it have other ranks. */
inline move_up(x)
{
	a = 0;
	do
	:: a < N ->
		rank[a] = (a != x && rank[a] > rank[x] && state[a] == WAITING -> rank[a] - 1 : rank[a]);
		a++
	:: else -> break
	od;
	rank[x] = 0
}

inline move_back(x)
{
	a = 0;
	do
	:: a < N ->
		rank[a] = (a != x && rank[a] >= rank[x] && state[a] == WAITING -> rank[a] + 1 : rank[a]);
		a++
	:: else -> break
	od
}

inline count_out(x)
{
	unhold(x);
	find_min_limit()
}

inline grant_index(who)
{
	unline(who);
	count_in(who)
}

/* repair.c: collect(), build_holders(), build_line() */
inline build_index()
{
	nline = 0; nholders = 0; used = 0; a = 0;
	do
	:: a < N -> line[a] = 0; holders[a] = 0; a++
	:: else -> break
	od;
	b = 1; /* the line by rank, the holders by ticket */
	do
	:: b <= N ->
		a = 0;
		do
		:: a < N ->
			if
			:: rank[a] == b && state[a] == WAITING ->
				line[nline] = a; nline++;
				chosen[a] = (broken == CHOICE_KEPT -> chosen[a] : ATLEAST(a))
			:: state[a] != WAITING && state[a] != HELD -> chosen[a] = 0
			:: ticket[a] == b && state[a] == HELD ->
				holders[nholders] = a; nholders++;
				used = used + UNITS(a)
			:: else
			fi;
			a++
		:: else -> break
		od;
		b++
	:: else -> break
	od;
	find_min_limit()
}

/* x stands in the line no more: who watches it, watches no predecessor. */
inline unsee(x)
{
	a = 0;
	do
	:: a < N && yields != 0 -> saw[a] = (saw[a] == x + 1 -> NIL : saw[a]); a++
	:: else -> break
	od
}

/* The commit of a taker that leaves the line or releases its permit. */
inline commit_gone(x, to)
{
	unsee(x);
	saw[x] = 0;
	a = 0;
	do
	:: a < N ->
		if
		:: ticket[x] > 0 && ticket[a] > ticket[x] -> ticket[a] = ticket[a] - 1
		:: else
		fi;
		a++
	:: else -> break
	od;
	ticket[x] = 0;
	if
	:: state[x] == WAITING -> move_up(x)
	:: else
	fi;
	state[x] = to
}

inline commit_waiting(x)
{
	a = 0; b = 1;
	do
	:: a < N ->
		if
		:: state[a] == WAITING || state[a] == HELD -> b++
		:: else
		fi;
		a++
	:: else -> break
	od;
	ticket[x] = b;
	passed[x] = 0; overtaken[x] = 0;
	saw[x] = (yields != 0 -> NIL : 0);
	move_back(x);
	chosen[x] = ATLEAST(x);
	state[x] = WAITING
}

#define LEAST(x, y) ((x) < (y) -> (x) : (y))
#define IN_FORCE(x) \
	(override != AUTO -> override : (nholders > 0 -> LEAST(min_limit, LIMIT(x)) : LIMIT(x)))
#define FITS_WITH(x, units) \
	(!paused && IN_FORCE(x) > 0 && (nholders == 0 || used + (units) <= IN_FORCE(x)))
#define FITS(x) FITS_WITH(x, UNITS(x))
#define BARRIER_DONE(x) (nholders == 0 || ticket[holders[0]] > ticket[x])

#define OLDER(x, y) (ticket[x] < ticket[y])

/* x becomes the waiter behind me, if it came before me, or NIL. */
inline find_passed()
{
	x = NIL;
	find_in_line(me);
	if
	:: c + 1 < nline && OLDER(line[c + 1], me) -> x = line[c + 1]
	:: else
	fi
}

/* may_miss_a_death(): has me passed one that has not looked since its predecessor is another? */
inline find_ticks()
{
	find_in_line(me);
	ticks = 0;
	do
	:: c + 1 < nline && !ticks && broken != PASSED_NO_TICK ->
		ticks = OLDER(line[c + 1], me) && saw[line[c + 1]] != line[c] + 1;
		c++
	:: else -> break
	od
}

/* unqueue(): the index, and x becomes its successor, which must be woken. */
inline unqueue(who)
{
	x = NIL;
	find_in_line(who);
	if
	:: c + 1 < nline -> x = line[c + 1]
	:: else
	fi;
	unline(who)
}
