/* SPDX-License-Identifier: ISC */
/*
 * store-keys.pml - what the store does, one transaction after the other, and what must hold then.
 *
 * A transaction compares that certain records have not changed since a look.  So its owner has a bit
 * "nothing that it compares has changed", and whatever changes such a record clears the bit.
 */

/* ---- what is compared ---- */

inline no_round(i)
{
	valid[i] = 0; plan[i] = 0; whole[i] = 0; came[i] = 0; more[i] = 0; rang[i] = 0
}

inline forget_round(i)
{
	round[i] = 0; no_round(i)
}

inline new_h()
{
	for (a : 0 .. N - 1) {
		if
		:: broken != NO_COMPARE_H -> no_round(a)
		:: else
		fi;
		claim_fits[a] = claim_fits[a] && broken == NO_COMPARE_NEWS
	}
}

inline new_cfg()
{
	for (a : 0 .. N - 1) {
		if
		:: broken != NO_COMPARE_CFG -> no_round(a)
		:: else
		fi;
		claim_fits[a] = claim_fits[a] && broken == NO_COMPARE_CFG
	}
}

/* A place, or the permit, of x is not as it was. */
inline new_record(x)
{
	for (a : 0 .. N - 1) {
		if
		:: IN(plan[a], x) && broken != NO_COMPARE_PLACE -> no_round(a)
		:: else
		fi;
		reclaim_valid[a] = reclaim_valid[a] && !IN(victims[a], x)
	}
}

inline new_mark(j)
{
	for (a : 0 .. N - 1) {
		reclaim_valid[a] = reclaim_valid[a] && (victims_life[a] != j + 1 || broken == NO_COMPARE_MARK)
	}
}

/* ---- keys ---- */

inline delete_h(x)
{
	if
	:: h[x] -> h[x] = 0; new_record(x)
	:: else
	fi
}

inline delete_w(x)
{
	if
	:: w[x] ->
		w[x] = 0;
		a = 0;
		do
		:: line[a] != x -> a++
		:: else -> break
		od;
		nline--;
		do
		:: a < nline -> line[a] = line[a + 1]; a++
		:: else -> break
		od;
		line[nline] = 0;
		for (a : 0 .. N - 1) {
			before[a] = (before[a] == x + 1 && broken != NO_WATCH -> 0 : before[a])
		}
		new_record(x)
	:: else
	fi
}

/* Each deletion of a place, but that of a round, deletes the tail if it names that taker. */
inline delete_tail(x)
{
	if
	:: tail == x + 1 ->
		tail = 0;
		for (a : 0 .. N - 1) {
			came[a] = 0
		}
	:: else
	fi
}

/* In one transaction with the look whether anybody waits. */
inline silence()
{
	tail = (nline == 0 -> 0 : tail)
}

inline put_w(x)
{
	assert(!w[x] && !h[x]);
	w[x] = 1;
	line[nline] = x;
	nline++;
	/* One that is alone in the line stands behind nobody. */
	was_tail = (nline == 1 && broken != STALE_TAIL -> 0 : tail);
	tail = x + 1;
	for (a : 0 .. N - 1) {
		came[a] = whole[a]
	}
}

/* The permits stay within the limit in force; a heavy one is alone. */
inline put_h(x)
{
	assert(!h[x]);
	assert(!closed);
	b = 0; c = 0;
	for (a : 0 .. N - 1) {
		if
		:: h[a] -> b = b + WEIGHT(a); c++
		:: else
		fi
	}
	assert(limit > 0 && (c == 0 || b + WEIGHT(x) <= limit));
	h[x] = 1;
	unsure[x] = 0;
	new_h()
}

/* A keeper that puts l/ deletes the marks. */
inline unmark(j)
{
	if
	:: s[j] != 0 -> s[j] = 0; t[j] = 0; new_mark(j)
	:: else
	fi
}

/* Of that lease. */
inline put_l(j, number)
{
	l[j] = (broken == ONE_L -> 0 : l[j]) | (1 << number);
	if
	:: broken != MARK_KEPT -> unmark(j)
	:: else
	fi;
	for (a : 0 .. N - 1) {
		basis[a] = (wrong && LIFE(a) == j && basis[a] != 0 && basis[a] < number -> number : basis[a]);
		unsure[a] = unsure[a] || (LIFE(a) == j && (state[a] == INSIDE || state[a] == ADOPTED) &&
			number == lease[j] && !shown[j]);
		early[a] = (early[a] != 0 && LIFE(a) != j && broken == EARLY_GRACE -> 2 : early[a])
	}
}

/* Those that stand behind a taker of that life hear of it. */
inline end_l(j, number)
{
	l[j] = l[j] & ~(1 << number);
	for (a : 0 .. N - 1) {
		before[a] = (before[a] != 0 && LIFE(before[a] - 1) == j && broken != NO_WATCH -> 0 : before[a])
	}
}

inline end_lease(j, number)
{
	if
	:: IN(leases[j], number) ->
		leases[j] = leases[j] & ~(1 << number);
		if
		:: IN(l[j], number) -> end_l(j, number)
		:: else
		fi
	:: else
	fi
}

/*
 * Its keeper ends it, and no time has passed.  What was proved by it stays true as long as the lease whose
 * l/ the keeper has shown since; without such, nobody who marks that life knows how long.
 */
inline revoke(j, number)
{
	for (a : 0 .. N - 1) {
		basis[a] = (LIFE(a) == j && LIVES(j, number) && basis[a] == number ->
			(shown[j] -> lease[j] : NIL) : basis[a])
	}
	end_lease(j, number)
}

/* ---- a claim; got: how it is answered ---- */

#define PUTS_L(i) (broken != NO_TOKEN || claim_puts[i])

inline claim(i)
{
	if
	:: !LIVES(LIFE(i), claim_lease[i]) && PUTS_L(i) -> got = NOLEASE
	:: else ->
		if
		:: claim_fits[i] && (broken == NO_COMPARE_W || nline == 0) ->
			assert(nline == 0);
			put_h(i);
			got = GRANTED
		:: else ->
			if
			:: IN(triers, i) -> got = FAILED
			:: else -> put_w(i); got = QUEUED
			fi
		fi;
		if
		:: got != FAILED && PUTS_L(i) -> put_l(LIFE(i), claim_lease[i])
		:: else
		fi;
		if
		:: got == GRANTED -> unsure[i] = 0
		:: else
		fi;
		/* A keeper that is connected notices within the grace what a server has ended. */
		basis[i] = (wrong && got != FAILED && state[i] != GONE && basis[i] < claim_lease[i] ->
			claim_lease[i] : basis[i])
	fi;
	claim_fits[i] = 0;
	check_keys()
}

/* ---- a round ---- */

#define FITS(used, holders, x) \
	(limit > 0 && !closed && ((holders) == 0 || (used) + WEIGHT(x) <= limit))

/* All that fit, in the order of the line; leaver: whose permit is counted as gone; lives: the look has them. */
inline make_plan(i, leaver, lives, kind)
{
	no_round(i);
	b = 0; c = 0; d = 0;
	for (a : 0 .. N - 1) {
		if
		:: h[a] && a != leaver -> b = b + WEIGHT(a); c++
		:: else
		fi
	}
	a = (broken == OUT_OF_ORDER && kind != FIRST && nline > 1);
	do
	:: broken == NO_ROUNDS && kind != FIRST -> break
	:: else ->
	if
	:: a == nline -> whole[i] = 1; break
	:: a < nline && lives && l[LIFE(line[a])] == 0 -> break
	:: a < nline && !(lives && l[LIFE(line[a])] == 0) ->
		if
		:: FITS(b, c, line[a]) ->
			if
			:: d == most -> more[i] = (broken != NO_MORE); break
			:: else
			fi;
			plan[i] = plan[i] | (1 << line[a]);
			b = b + WEIGHT(line[a]); c++; d++;
			a++
		:: else -> break
		fi
	fi
	od;
	if
	:: plan[i] != 0 -> round[i] = kind; valid[i] = 1
	:: else -> forget_round(i); round[i] = (kind == RUN && nline == 0 && tail != 0 -> SILENCE : 0)
	fi
}

/* The permits of its plan. */
inline do_round(i)
{
	if
	:: valid[i] ->
		f = plan[i];
		g = rang[i] | (more[i] << 1) | (came[i] && broken != NO_TAIL -> 1 : 0);
		valid[i] = 0; plan[i] = 0;
		k = 0;
		do
		:: k < nline && IN(f, line[k]) ->
			/* Nobody is passed. */
			assert(k == 0);
			y = line[k];
			f = f & ~(1 << y);
			delete_w(y);
			put_h(y)
		:: k < nline && !IN(f, line[k]) -> k++
		:: else -> break
		od;
		/* NO_COMPARE_PLACE: those that have left. */
		for (y : 0 .. N - 1) {
			if
			:: IN(f, y) -> put_h(y)
			:: else
			fi
		}
		no_round(i);
		more[i] = g >> 1; rang[i] = g & 1;
		check_keys()
	:: else
	fi
}

/* ---- what a leaver does ---- */

inline ring()
{
	for (a : 0 .. N - 1) {
		rang[a] = (valid[a] && broken != NO_BELL)
	}
}

inline delete_all(i)
{
	delete_h(i);
	if
	:: w[i] -> delete_tail(i); delete_w(i)
	:: else
	fi;
	if
	:: broken != LEAVER_KEEPS_MARK -> unmark(LIFE(i))
	:: else
	fi
}

/* What is read with the deletion is the look of a round in the background. */
inline depart(i)
{
	delete_all(i);
	forget_round(i);
	ring();
	make_plan(i, NIL, 0, RUN);
	check_keys()
}

inline pass_late(i)
{
	if
	:: valid[i] -> delete_all(i); do_round(i)
	:: else -> delete_all(i); ring(); check_keys()
	fi
}

/* ---- taking back ---- */

inline reclaim(i)
{
	e = victims_life[i] - 1;
	if
	:: reclaim_valid[i] && (broken == NO_COMPARE_ALIVE || l[e] == 0) ->
		d = victims[i];
		for (c : 0 .. N - 1) {
			if
			:: IN(d, c) ->
				/* It was silent for its ttl and grace: its command has ended. */
				assert(basis[c] == 0 && !runs[c]);
				if
				:: w[c] -> delete_tail(c); delete_w(c)
				:: else -> delete_h(c)
				fi
			:: else
			fi
		}
		unmark(e);
		check_keys()
	:: else
	fi;
	victims_life[i] = 0; victims[i] = 0; reclaim_valid[i] = 0
}

/* ---- laws ---- */

#define HAS_RECORD(i, j) (LIFE(i) == (j) && (h[i] || w[i]))

/* No taker both waits and holds; the tail, if it is there and anybody waits, is the last that waits. */
inline check_keys()
{
	for (a : 0 .. N - 1) {
		assert(!(w[a] && h[a]))
	}
	assert(tail == 0 || nline == 0 || tail == line[nline - 1] + 1)
}

/* What runs adds up to no more than the limit, or was started under another, or is a heavy one alone. */
inline check_running(x)
{
	b = 0; c = 0;
	for (a : 0 .. N - 1) {
		if
		:: runs[a] -> b = b + WEIGHT(a); c++
		:: else
		fi
	}
	assert(b <= limit_first || b <= limit || c <= 1)
}

/*
 * When nothing can happen any more: every taker has ended, or was killed, or its command stays, or it
 * waits and the head does not fit; and what is left is what a dead taker had, and no other came that
 * needed it.
 */
inline check_quiet()
{
	b = 0; c = 0;
	for (a : 0 .. N - 1) {
		if
		:: h[a] -> b = b + WEIGHT(a); c++
		:: else
		fi
	}
	d = 0;
	for (a : 0 .. N - 1) {
		if
		:: state[a] == GONE ->
			assert(!runs[a] && ((!h[a] && !w[a]) || killed[a]))
		:: else ->
			assert(stayers != 0 && !dead[LIFE(a)]);
			assert((runs[a] && IN(stayers, a) && h[a]) || (w[a] && !FITS(b, c, line[0])))
		fi;
		assert(round[a] == 0 && victims_life[a] == 0);
		assert(IS_NEEDED(a) || (leases[a] == 0 && l[a] == 0));
		assert(s[a] == 0 || ANY(HAS_RECORD, a))
	}
}
