/* SPDX-License-Identifier: ISC */
/*
 * store-life.pml - a keeper: the life that its takers share, its rounds in the background, and its end.
 */

/* A claim puts l/ itself. */
#define RECORDED_OF(i, j) (LIFE(i) == (j) && state[i] != GONE && state[i] != BEFORE)
#define HAS_RECORDS(j) ANY(RECORDED_OF, j)

/* A keeper that takes over knows such a lease. */
#define IS_KNOWN(j) (shown[j] || lease[j] == 1)
#define MAY_CLAIM(j) \
	(lease[j] != 0 && LIVES(j, lease[j]) && !heir[j] && (IS_KNOWN(j) || broken == ANY_LEASE))
#define MUST_PUT(j) \
	(lease[j] != 0 && !shown[j] && (HAS_RECORDS(j) || (lease[j] != 1 && broken != ANY_LEASE)))

/* A taker that has begun nothing in the keeper before: it may be the first to come to the next one. */
#define IS_NEW(i) (state[i] == BEFORE && claim_is[i] == 0)
#define NEW_OF(i, j) (LIFE(i) == (j) && IS_NEW(i))

/* What a renewal proves, and its check. */
#define PROVABLE_OF(i, j) \
	(LIFE(i) == (j) && state[i] == INSIDE && (w[i] || h[i]) && signal[i] == 0 && \
	(basis[i] != lease[j] || (h[i] && unsure[i])))
#define HAS_NEWS(j) ANY(PROVABLE_OF, j)

#define IS_SETTLED(j) (!heir[j] && old[j] == 0)

/* Numbers rise, so a lower one is an older one. */
inline take_lease(j)
{
	leased[j]++;
	assert(leased[j] <= 7);
	lease[j] = leased[j];
	leases[j] = leases[j] | (1 << lease[j])
}

/* It has lost the lease, or finds that it is too old: what no claim can be on ends by itself. */
inline lose_lease(j)
{
	old[j] = old[j] | (IS_KNOWN(j) -> 1 << lease[j] : 0);
	lease[j] = 0; shown[j] = 0
}

inline prove(j)
{
	for (a : 0 .. N - 1) {
		if
		:: LIFE(a) == j && state[a] == INSIDE && (w[a] || h[a]) ->
			basis[a] = lease[j];
			unsure[a] = unsure[a] && !h[a]
		:: else
		fi
	}
}

/* Comes after its keeper has given up. */
inline put_late(j)
{
	if
	:: LIVES(j, late_put[j]) -> put_l(j, late_put[j])
	:: else
	fi;
	late_put[j] = 0
}

/* The keeper is killed: what it has sent may be done, or not; and its machine is dead, or has an heir. */
inline kill(j, how)
{
	for (a : 0 .. N - 1) {
		if
		:: LIFE(a) == j ->
			if
			:: round[a] == MUST_LOOK -> forget_round(a)
			:: round[a] == PASS -> round[a] = LATE_PASS
			:: round[a] == FIRST || round[a] == RUN -> round[a] = LATE_ROUND
			:: else
			fi;
			if
			:: state[a] != GONE && !(how == 2 && IS_NEW(a)) ->
				killed[a] = killed[a] || how == 1;
				signal[a] = how;
				before[a] = 0;
				claim_is[a] = (claim_is[a] == AWAITED -> LATE : claim_is[a]);
				if
				:: how == 1 -> basis[a] = 0; runs[a] = 0; over[a] = 0
				:: else
				fi
			:: else
			fi
		:: else
		fi
	}
	if
	:: late_put[j] == 0 && MUST_PUT(j) -> late_put[j] = lease[j]
	:: else
	fi;
	lease[j] = 0; shown[j] = 0; old[j] = 0;
	heir[j] = (how == 2);
	dead[j] = (how == 1)
}

#define RUNNER(i) \
	:: d_step { LIFE(i) == j && round[i] == RUN -> \
		do_round(i); \
		a = more[i] || rang[i]; \
		forget_round(i); \
		round[i] = (a -> MUST_LOOK : 0); \
		skip \
	} \
	:: d_step { LIFE(i) == j && round[i] == MUST_LOOK -> make_plan(i, NIL, 0, RUN); skip } \
	/* Its keeper has ended, or got no answer. */ \
	:: d_step { LIFE(i) == j && (round[i] == RUN || round[i] == MUST_LOOK) && !headless -> \
		forget_round(i); skip }

proctype Keeper(byte j)
{
	byte x;

end:	do
	/* It knows of the first lease, and of those with an l/; and takes none that the one before may have had. */
	:: d_step { heir[j] && IS_USED(j) ->
		a = 1;
		do
		:: broken == ONE_L_READ && a < 7 && !IN(l[j], a) -> a++
		:: else -> break
		od;
		old[j] = (broken == NO_HEIR_FENCE -> 0 : 2 | (broken == ONE_L_READ -> (l[j] & (1 << a)) : l[j]));
		heir[j] = 0;
		leased[j] = (leased[j] == 0 -> 1 : leased[j]);
		skip
	}
	/* The first that comes to it is new: README.md. */
	:: d_step { heir[j] && broken == NEW_FIRST && ANY(NEW_OF, j) ->
		heir[j] = 0;
		leased[j] = (leased[j] == 0 -> 1 : leased[j]);
		skip
	}
	:: d_step { !dead[j] && !heir[j] && lease[j] == 0 && IS_USED(j) -> take_lease(j); skip }
	:: d_step { (lease[j] != 0 || old[j] != 0) && !IS_USED(j) ->
		heir[j] = (old[j] != 0 && broken != FORGETS_OLD);
		lease[j] = 0; shown[j] = 0; old[j] = 0;
		skip
	}

	/* l/, and the marks go with that. */
	:: d_step { MUST_PUT(j) && LIVES(j, lease[j]) -> put_l(j, lease[j]); shown[j] = 1; skip }
	:: atomic { losses > 0 && MUST_PUT(j) && LIVES(j, lease[j]) ->
		losses--;
		if
		:: d_step { put_l(j, lease[j]); skip }
		:: d_step { late_put[j] == 0 -> late_put[j] = lease[j]; skip }
		fi;
		/* It tries again; or half the ttl is over. */
		if
		:: d_step { lose_lease(j); skip }
		:: skip
		fi
	}
	/* Half the ttl was over before that. */
	:: d_step { slow > 0 && lease[j] != 0 && !shown[j] && LIVES(j, lease[j]) ->
		slow--; lose_lease(j); skip }
	/* The lease has ended, or l/ is gone. */
	:: d_step { lease[j] != 0 && (!LIVES(j, lease[j]) || (shown[j] && !IN(l[j], lease[j]))) &&
		(broken != NOBODY_ATTACHES || !shown[j]) ->
		lose_lease(j); skip }
	:: d_step { shown[j] && IN(l[j], lease[j]) && HAS_NEWS(j) -> prove(j); skip }

	/* The leases that it has left end, the oldest first, as soon as l/ is on another. */
	:: atomic { (shown[j] || broken == EARLY_END) && old[j] != 0 ->
		d_step {
			a = 1;
			do
			:: IN(old[j], a) -> break
			:: else -> a++
			od;
			old[j] = old[j] & ~(1 << a);
			b = a;
			revoke(j, b);
			skip
		}
	}

	EACH(RUNNER)

	:: d_step { deaths > 0 && IS_NEEDED(j) && !dead[j] -> deaths--; kill(j, 1); skip }
	:: d_step { heirs > 0 && IS_NEEDED(j) && !dead[j] -> heirs--; kill(j, 2); skip }
	od
}
