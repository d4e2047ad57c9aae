/*
 * index.pml - the commits, and the index that follows them: what state.c and repair.c do in one
 * go under the lock.  The lists are sequences here: nobody but the lock's owner sees a link, and
 * whether the links are right is what tests/twin.c is about.
 */

inline unline(who)
{
	c = 0;
	do
	:: line[c] != who -> c++
	:: else -> break
	od;
	nline--;
	do
	:: c < nline -> line[c] = line[c + 1]; c++
	:: else -> line[c] = 0; break
	od
}

inline unhold(who)
{
	c = 0;
	do
	:: holders[c] != who -> c++
	:: else -> break
	od;
	nholders--;
	do
	:: c < nholders -> holders[c] = holders[c + 1]; c++
	:: else -> holders[c] = 0; break
	od
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
	holders[nholders] = x; nholders++;
	used = used + WEIGHT(x);
	find_min_limit()
}

inline count_out(x)
{
	unhold(x);
	used = used - WEIGHT(x);
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
	b = 1; /* by rising ticket */
	do
	:: b <= N ->
		a = 0;
		do
		:: a < N ->
			if
			:: ticket[a] == b && state[a] == WAITING -> line[nline] = a; nline++
			:: ticket[a] == b && state[a] == HELD ->
				holders[nholders] = a; nholders++;
				used = used + WEIGHT(a)
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

/* The commit of whoever leaves the line or gives its permit back. */
inline commit_gone(x, to)
{
	a = 0;
	do
	:: a < N ->
		if
		:: ticket[a] > ticket[x] -> ticket[a] = ticket[a] - 1
		:: else
		fi;
		a++
	:: else -> break
	od;
	ticket[x] = 0;
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
	state[x] = WAITING
}

#define LEAST(x, y) ((x) < (y) -> (x) : (y))
#define IN_FORCE(x) \
	(override != AUTO -> override : (nholders > 0 -> LEAST(min_limit, LIMIT(x)) : LIMIT(x)))
#define FITS(x) \
	(!paused && IN_FORCE(x) > 0 && (nholders == 0 || used + WEIGHT(x) <= IN_FORCE(x)))
#define BARRIER_DONE(x) (nholders == 0 || ticket[holders[0]] > ticket[x])

/* unqueue(): the index, and x becomes its successor, who is told. */
inline unqueue(who)
{
	x = NIL; c = 0;
	do
	:: line[c] != who -> c++
	:: else -> break
	od;
	if
	:: c + 1 < nline -> x = line[c + 1]
	:: else
	fi;
	unline(who)
}
