/* SPDX-License-Identifier: ISC */
/*
 * laws.pml - what must hold, as assertions.  Nothing here is part of the protocol.
 */

/*
 * While two are inside, by a mistake of the kernel's, a permit may be given that is one too many, or
 * that is another taker's turn.  From the time at which both are out, all of this holds again; what
 * was given stays given.
 *
 * At each grant, from the slots alone: the sum stays within the limit in force and within what
 * every holder was promised, or the newcomer is alone; no taker waits before it; and an older
 * waiter is overtaken no more often than it consented to.
 */
inline check_grant(x)
{
	a = 0; b = 0; c = (override != AUTO -> override : LIMIT(x));
	do
	:: a < N ->
		if
		:: state[a] == HELD ->
			b = b + UNITS(a);
			c = (override == AUTO && LIMIT(a) < c -> LIMIT(a) : c)
		:: else
		fi;
		assert(twice || a == x || state[a] != WAITING || KIND(a) != TAKER ||
		    rank[a] > rank[x]);
		if
		:: !twice && a != x && state[a] == WAITING && KIND(a) == TAKER && ticket[a] < ticket[x] ->
			overtaken[a] = overtaken[a] + 1
		:: else
		fi;
		assert(twice || overtaken[a] <= YIELD(a));
		a++
	:: else -> break
	od;
	excess = excess || twice;
	assert(MOST(x) == 0 || (chosen[x] >= WEIGHT(x) && chosen[x] <= MOST(x)));
	assert(twice || b <= c || (b == UNITS(x) && c > 0));
	assert(!paused)
}

/* A taker runs under a new limiter of this name: then none does here, nor will. */
inline check_elsewhere()
{
	a = 0;
	do
	:: a < N ->
		assert(!runs[a]);
		assert(!alive[a] || (state[a] != WAITING && state[a] != HELD));
		a++
	:: else -> break
	od
}

/* The weights of all takers that were told that they may run. */
inline check_running(x)
{
	assert(state[x] == HELD);
	assert(!elsewhere);
	a = 0; b = 0; c = LIMIT(x);
	do
	:: a < N ->
		if
		:: runs[a] -> b = b + UNITS(a); c = LEAST(LIMIT(a), c)
		:: else
		fi;
		a++
	:: else -> break
	od;
	assert(b <= c || orders != 0 || override != AUTO || excess)
}

/* Whenever a living taker leaves the lock, and was inside alone: I1, I2, I5. */
inline check_invariants()
{
	a = 0; b = 0; c = 0;
	do
	:: a < N ->
		if
		:: state[a] == HELD -> b++; c = c + UNITS(a)
		:: else
		fi;
		assert(state[a] != WAITING || chosen[a] == ATLEAST(a));
		assert(a >= nline || (state[line[a]] == WAITING &&
		    (a == 0 || rank[line[a - 1]] < rank[line[a]])));
		assert(a >= nholders || (state[holders[a]] == HELD &&
		    (a == 0 || ticket[holders[a - 1]] < ticket[holders[a]])));
		a++
	:: else -> break
	od;
	assert(b == nholders && c == used);
	a = 0; b = 0;
	do
	:: a < N ->
		if
		:: state[a] == WAITING -> b++
		:: else
		fi;
		a++
	:: else -> break
	od;
	assert(b == nline);
	assert(nline == 0 || KIND(line[0]) != TAKER || !FITS_WITH(line[0], WEIGHT(line[0])))
}

/*
 * When nothing can happen any more: each living waiter waits for a reason; each living taker that
 * was granted a permit or taken out of the line knows it; and no living taker is inside the lock.
 */
inline check_quiet()
{
	assert(lock == 0 || !alive[lock - 1] || gen[lock - 1] != lock_gen);
	nholders = 0; used = 0; min_limit = 0; a = 0;
	do
	:: a < N ->
		if
		:: alive[a] && state[a] == HELD ->
			assert(runs[a]);
			holders[nholders] = a; nholders++;
			used = used + UNITS(a)
		:: else
		fi;
		assert(!alive[a] || state[a] != OUT);
		assert(!alive[a] || state[a] != WAITING || KIND(a) == BARRIER || !closed);
		a++
	:: else -> break
	od;
	find_min_limit();
	a = 0; b = NIL; /* b: the first who waits, and lives */
	do
	:: a < N ->
		if
		:: alive[a] && state[a] == WAITING && KIND(a) == TAKER &&
		    (b == NIL || rank[a] < rank[(b == NIL -> 0 : b)]) -> b = a
		:: else
		fi;
		a++
	:: else -> break
	od;
	assert(b == NIL || !FITS_WITH((b == NIL -> 0 : b), WEIGHT((b == NIL -> 0 : b))));
	a = 0;
	do
	:: a < N ->
		if
		:: alive[a] && state[a] == WAITING && KIND(a) == BARRIER ->
			c = 0;
			do
			:: c < N && !(alive[c] && KIND(c) == TAKER && ticket[c] > 0 &&
			    ticket[c] < ticket[a]) -> c++
			:: else -> break
			od;
			assert(c < N)
		:: else
		fi;
		a++
	:: else -> break
	od
}
