/* SPDX-License-Identifier: ISC */
/*
 * store-keys.pml - what the store does, one txn after the other, and what must hold then.
 */

/* ---- keys ---- */

inline delete_h(x)
{
	h[x] = 0;
	for (a : 0 .. N - 1) {
		new_h[a] = new_h[a] & ~(1 << x);
		late_h[a] = late_h[a] & ~(1 << x);
		seen[a] = seen[a] & ~(1 << x);
		mark[OF(a, x)] = 0;
		marked_h[OF(a, x)] = 0;
		ripe[OF(a, x)] = 0;
		early[OF(a, x)] = 0
	}
}

inline delete_w(x)
{
	if
	:: w[x] != 0 ->
		w[x] = 0; w_lease[x] = 0;
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
		line[nline] = 0
	:: else
	fi
}

inline put_w(x, number)
{
	if
	:: w[x] == 0 ->
		made_w[x]++;
		w[x] = made_w[x];
		line[nline] = x;
		nline++
	:: else
	fi;
	w_lease[x] = number
}

/* h/ and l/ of a new holder: the sum of the permits stays, and nobody is overtaken. */
inline put_h(x, number)
{
	if
	:: h[x] == 0 -> made_h[x]++; h[x] = made_h[x]
	:: else
	fi;
	l[x] = number;
	b = 0; c = 0;
	for (a : 0 .. N - 1) {
		new_h[a] = new_h[a] | (1 << x);
		late_h[a] = late_h[a] | (1 << x);
		if
		:: h[a] != 0 -> b = b + WEIGHT(a); c++
		:: else
		fi
	}
	assert(b <= LIMIT);
	assert(nline == 0 || line[0] == x);
	assert(!closed)
}

inline drop_mark(x)
{
	s[x] = 0; t[x] = 0; ready[x] = 0
}

inline end_lease(i, number)
{
	leases[i] = leases[i] & ~(1 << number);
	if
	:: l[i] == number -> l[i] = 0
	:: else
	fi;
	if
	:: w[i] != 0 && w_lease[i] == number -> delete_w(i)
	:: else
	fi
}

/* ---- txns; got: how it is answered ---- */

inline claim(i, number, fits, cfg, hs)
{
	if
	:: !LIVES(i, number) -> got = NOLEASE
	:: else ->
		if
		:: fits && (broken == NO_COMPARE_CFG || !cfg) &&
		    (broken == NO_COMPARE_W || nline == 0) &&
		    (broken == NO_COMPARE_H || hs == 0) ->
			put_h(i, number);
			got = GRANTED
		:: else ->
			if
			:: IN(triers, i) -> got = FAILED
			:: else ->
				put_w(i, number);
				got = QUEUED
			fi
		fi
	fi
}

inline grant(i, number, created, cfg)
{
	if
	:: !((broken == NO_COMPARE_CFG || !cfg) &&
	    (broken == NO_COMPARE_PLACE || w[i] == created)) -> got = FAILED
	:: else ->
		if
		:: !LIVES(i, number) -> got = NOLEASE
		:: else ->
			put_h(i, number);
			delete_w(i);
			got = GRANTED
		fi
	fi
}

inline attach(i, number, created)
{
	if
	:: (h[i] != created && broken != NO_COMPARE_PERMIT) ||
	    (l[i] != 0 && broken != NO_COMPARE_LIVE) -> got = FAILED
	:: else ->
		if
		:: !LIVES(i, number) -> got = NOLEASE
		:: else ->
			l[i] = number;
			if
			:: broken != MARK_KEPT -> drop_mark(i)
			:: else
			fi;
			for (a : 0 .. N - 1) {
				early[OF(a, i)] = (early[OF(a, i)] != 0 -> 2 : 0)
			}
			got = GRANTED
		fi
	fi
}

inline delete_all(i)
{
	if
	:: h[i] != 0 -> delete_h(i)
	:: else
	fi;
	l[i] = 0;
	drop_mark(i);
	delete_w(i)
}

inline reclaim(i, x)
{
	if
	:: h[x] != 0 && h[x] == marked_h[OF(i, x)] && (broken == NO_COMPARE_ALIVE || l[x] == 0) &&
	    (broken == NO_COMPARE_MARK || s[x] == mark[OF(i, x)]) ->
		delete_h(x);
		drop_mark(x);
		assert(!runs[x])
	:: else
	fi;
	mark[OF(i, x)] = 0;
	marked_h[OF(i, x)] = 0;
	ripe[OF(i, x)] = 0
}

/* ---- late ---- */

inline forget_late(i)
{
	late[i] = NOTHING; late_lease[i] = 0; late_number[i] = 0; late_h[i] = 0;
	late_fits[i] = 0; late_cfg[i] = 0
}

inline come_late(i)
{
	if
	:: late[i] == CLAIM -> claim(i, late_lease[i], late_fits[i], late_cfg[i], late_h[i])
	:: late[i] == GRANT -> grant(i, late_lease[i], late_number[i], late_cfg[i])
	:: late[i] == ATTACH -> attach(i, late_lease[i], late_number[i])
	fi
}

/* ---- laws ---- */

/* What runs adds up to no more than the limit. */
inline check_running(x)
{
	b = 0;
	for (a : 0 .. N - 1) {
		b = b + (runs[a] -> WEIGHT(a) : 0)
	}
	assert(b <= LIMIT)
}

/*
 * When nothing can happen any more: everybody has ended, or was killed; and what is left is what
 * was a killed one's, and nobody came who needed it.
 */
inline check_quiet()
{
	assert(done == N);
	assert(nline == 0);
	for (a : 0 .. N - 1) {
		assert(!runs[a]);
		assert(leases[a] == 0 && l[a] == 0 && w[a] == 0);
		assert(h[a] == 0 || killed[a]);
		assert(h[a] != 0 || (s[a] == 0 && t[a] == 0))
	}
}
