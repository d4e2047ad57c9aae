/* SPDX-License-Identifier: ISC */
/*
 * store-taker.pml - a taker, in the hands of its keeper.
 */

#define MY LIFE(me)

/* ---- the dead ---- */

#define IS_DEAD(x) (LIFE(x) != MY && l[LIFE(x)] == 0)

/*
 * The dead of life j that it cares for, in d: those that stand right before it, up to the next living
 * one; all waiters, if it does not wait; holders, too, if `first'.
 */
inline find_dead(j, first)
{
	d = 0; a = 0;
	do
	:: a < nline && line[a] != me -> a++
	:: else -> break
	od;
	do
	:: a > 0 && IS_DEAD(line[a - 1]) ->
		a--;
		d = (LIFE(line[a]) == j && broken != NO_RECLAIM_W -> d | (1 << line[a]) : d)
	:: else -> break
	od;
	if
	:: first && j != MY && l[j] == 0 && broken != NO_RECLAIM_H ->
		for (a : 0 .. N - 1) {
			d = (h[a] && LIFE(a) == j -> d | (1 << a) : d)
		}
	:: else
	fi
}

#define EARLY (broken == EARLY_GRACE || broken == NO_WITNESS)

/* Whether there is a next step about a suspect, in d: 1 mark, 2 grace, 3 reclaim, 4 the lease of EARLY_GRACE. */
inline next_deed(j, first)
{
	find_dead(j, first);
	if
	:: d == 0 || victims_life[me] != 0 -> e = 0
	:: else -> if
		:: broken == NO_GRACE -> e = 3
		:: s[j] == 0 && EARLY && early[me] == 0 -> e = 4
		:: s[j] == 0 && !(EARLY && early[me] == 0) && broken != NO_GRACE -> e = 1
		:: s[j] == 1 && broken != NO_GRACE -> e = 2
		:: s[j] == 2 && t[j] == 0 && broken != NO_GRACE -> e = 3
		:: s[j] == 2 && t[j] != 0 && broken != NO_GRACE -> e = 0
		fi
	fi
}

inline do_deed(j)
{
	if
	:: e == 1 ->
		s[j] = 1;
		if
		:: broken == EARLY_GRACE -> s[j] = 2; t[j] = early[me]
		:: else
		fi;
		early[me] = 0
	:: e == 2 -> s[j] = 2; t[j] = 1; new_mark(j)
	:: e == 3 -> victims_life[me] = j + 1; victims[me] = d; reclaim_valid[me] = 1
	:: e == 4 -> early[me] = (broken == EARLY_GRACE -> 1 : j + 1)
	:: else
	fi
}

/* Of the first life that has one. */
inline repair(first)
{
	e = 0; x = 0;
	do
	:: x < N && e == 0 -> next_deed(x, first); x++
	:: else -> break
	od;
	if
	:: e != 0 -> x--; do_deed(x); x = 1
	:: else -> x = 0
	fi
}

/* The same as guards. */
#define DEED_OF(j) (l[j] == 0 && victims_life[me] == 0 && \
	(s[j] < 2 || t[j] == 0 || broken == NO_GRACE))
#define DEAD_BY_1(k) ((k) + 1 < nline && line[(k) + 1] == me && IS_DEAD(line[k]))
#define DEAD_BY_2(k) ((k) + 2 < nline && line[(k) + 2] == me && IS_DEAD(line[(k) + 1]) && IS_DEAD(line[k]))
#define DEAD_BY_3(k) ((k) + 3 < nline && line[(k) + 3] == me && IS_DEAD(line[(k) + 2]) && \
	IS_DEAD(line[(k) + 1]) && IS_DEAD(line[k]))
#define DEED_AT(k) (DEED_OF(LIFE(line[k])))
#if N == 2
#define DEED_W (DEAD_BY_1(0) && DEED_AT(0))
#elif N == 3
#define DEED_W ((DEAD_BY_1(0) && DEED_AT(0)) || (DEAD_BY_1(1) && DEED_AT(1)) || (DEAD_BY_2(0) && DEED_AT(0)))
#else
#define DEED_W ((DEAD_BY_1(0) && DEED_AT(0)) || (DEAD_BY_1(1) && DEED_AT(1)) || (DEAD_BY_1(2) && DEED_AT(2)) || \
	(DEAD_BY_2(0) && DEED_AT(0)) || (DEAD_BY_2(1) && DEED_AT(1)) || (DEAD_BY_3(0) && DEED_AT(0)))
#endif
#define DEED_H_OF(x, unused) (h[x] && IS_DEAD(x) && DEED_OF(LIFE(x)))
#define HAS_DEED_W (broken != NO_RECLAIM_W && DEED_W)
#define HAS_DEED_H (broken != NO_RECLAIM_H && ANY(DEED_H_OF, 0))

/* One that waits, and is alive: it repairs. */
#define WAITS_OF(x, unused) (w[x] && l[LIFE(x)] != 0)
#if N == 2
#define WAITERS (WAITS_OF(0, 0) + WAITS_OF(1, 0))
#elif N == 3
#define WAITERS (WAITS_OF(0, 0) + WAITS_OF(1, 0) + WAITS_OF(2, 0))
#else
#define WAITERS (WAITS_OF(0, 0) + WAITS_OF(1, 0) + WAITS_OF(2, 0) + WAITS_OF(3, 0))
#endif

#define IS_CROWDED(i) (IN(modest, i) && nline > queue)
#define IS_FULL(i) (IN(modest, i) && nline >= queue)
#define MAY_WAIT(i) (!IN(triers, i) && !IS_FULL(i))

/* A taker that must not wait marks the dead that are in its way, as nobody else does. */
#define MAY_MARK(i) \
	(nline == 0 || (broken != NO_LIVES && (WAITERS == 0 || \
	(broken != DEAD_FILL && IS_FULL(i) && WAITERS < queue))))

/* ---- room ---- */

inline holders(leaver)
{
	b = 0; c = 0;
	for (a : 0 .. N - 1) {
		if
		:: h[a] && a != leaver -> b = b + WEIGHT(a); c++
		:: else
		fi
	}
}

#define H_OF(x) (h[x] * WEIGHT(x))
#if N == 2
#define USED (H_OF(0) + H_OF(1))
#define HOLDERS (h[0] + h[1])
#elif N == 3
#define USED (H_OF(0) + H_OF(1) + H_OF(2))
#define HOLDERS (h[0] + h[1] + h[2])
#else
#define USED (H_OF(0) + H_OF(1) + H_OF(2) + H_OF(3))
#define HOLDERS (h[0] + h[1] + h[2] + h[3])
#endif

/* A round of the first would grant somebody. */
#define ROOM_FOR_FIRST (nline > 0 && l[LIFE(line[0])] != 0 && FITS(USED, HOLDERS, line[0]))

/*
 * A taker must not be refused for ever because of the dead alone: then they are marked at least.  Nor must
 * one find the line full for ever because of the dead at its end.  What its own keeper has will be adopted.
 */
#define MARKED_OF(x, unused) ((h[x] || w[x]) && s[LIFE(x)] < 2)
#define LIVES_ON(x) (l[LIFE(x)] != 0 || LIFE(x) == MY)
#define ALIVE_OF(x, unused) ((h[x] || w[x]) && LIVES_ON(x))
#define LAST line[nline - 1]
#define check_refusal() \
	assert(closed || ANY(ALIVE_OF, 0) || !ANY(MARKED_OF, 0)); \
	assert(closed || !IS_FULL(me) || WAITERS >= queue || LIVES_ON(LAST) || s[LIFE(LAST)] == 2)

#define LOSS atomic { losses > 0 -> losses--

/* Its claim is not known to be under way any more. */
inline claim_known()
{
	if
	:: claim_is[me] != LATE -> claim_lease[me] = 0; claim_puts[me] = 0
	:: else
	fi;
	open = 0
}

/* It goes by the life that its keeper has shown. */
inline promise()
{
	basis[me] = (basis[me] == 0 && shown[MY] && IN(l[MY], lease[MY]) -> lease[MY] : basis[me])
}

inline life_was_put()
{
	if
	:: claim_lease[me] == lease[MY] -> shown[MY] = 1
	:: else
	fi
}

proctype Taker(byte me)
{
	byte x;
	bit open, held, leaves, rel, alone, knows;

{
	if
	:: IN(impatient_ones, me) -> leaves = 1
	:: true
	fi;

	/* ASKING: the life's lease, and a look beside it */
ask:	if
	:: atomic {
		MAY_CLAIM(MY) && claim_is[me] == 0 ->
		d_step {
			state[me] = BEFORE;
			holders(NIL);
			alone = (nline == 0);
			claim_fits[me] = (alone && FITS(b, c, me));
			skip
		};
		if
		:: closed -> claim_fits[me] = 0; goto gone
		:: !closed && (claim_fits[me] || MAY_WAIT(me)) ->
			claim_is[me] = AWAITED;
			claim_lease[me] = lease[MY];
			claim_puts[me] = (broken == NO_TOKEN && !shown[MY]);
			goto claiming
		/* It looks once more, with the lives. */
		:: else -> if
			:: MAY_MARK(me) -> goto marking
			:: else -> check_refusal(); goto gone
			fi
		fi
	}
	fi;

	/* MARKING */
marking: if
	:: atomic {
		victims_life[me] == 0 ->
		d_step { repair(1); skip };
		/* Once taken back, it looks again. */
		if
		:: x && victims_life[me] != 0 -> d_step { reclaim(me); x = 0; skip }; goto ask
		:: x && victims_life[me] == 0 -> x = 0; goto marking
		:: else -> check_refusal(); goto gone
		fi
	}
	fi;

	/* CLAIMING */
claiming: if
	:: atomic {
		d_step { claim(me); claim_is[me] = 0; skip };
		if
		:: got == GRANTED -> got = 0;
			d_step {
				life_was_put();
				basis[me] = claim_lease[me];
				claim_known();
				state[me] = INSIDE;
				skip
			};
			goto end_hold
		:: got == FAILED -> got = 0; claim_known(); goto ask
		:: got == NOLEASE -> got = 0;
			d_step {
				if
				:: claim_lease[me] == lease[MY] -> lose_lease(MY)
				:: else
				fi;
				claim_known();
				skip
			};
			goto ask
		:: got == QUEUED -> got = 0;
			d_step {
				life_was_put();
				basis[me] = claim_lease[me];
				claim_known();
				state[me] = INSIDE;
				before[me] = was_tail;
				knows = 0;
				x = (nline == 1 && alone);
				alone = 0;
				if
				:: x && !closed && round[me] == 0 -> make_plan(me, NIL, 0, FIRST)
				:: else
				fi;
				skip
			};
			/* The claim's answer is a look, if nobody waited before. */
			if
			:: closed || IS_CROWDED(me) -> x = 0; goto leave
			:: !closed && !IS_CROWDED(me) && round[me] == FIRST -> x = 0; goto granting
			:: !closed && !IS_CROWDED(me) && round[me] != FIRST && (x || before[me] != 0) -> x = 0; goto end_behind
			:: else -> x = 0; goto looking
			fi
		fi
	}
	:: LOSS;
		state[me] = INSIDE;
		open = 1;
		if
		:: d_step { claim(me); claim_is[me] = 0; got = 0; skip }
		:: claim_is[me] = LATE
		fi;
		goto doubt
	}
	:: atomic { leaves -> claim_is[me] = LATE; open = 1; goto leave }
	fi;

	/* RECONCILE */
doubt:	if
	:: atomic {
		(state[me] != ADOPTED || IS_SETTLED(MY) || broken == HEIR_EARLY) && !over[me] ->
		if
		:: h[me] -> claim_known(); state[me] = INSIDE; promise(); goto end_hold
		:: w[me] -> claim_known(); state[me] = INSIDE; promise(); before[me] = 0; goto looking
		:: else
		fi;
		if
		:: open && broken != NO_FENCE -> goto fencing
		:: else
		fi;
		claim_known();
		runs[me] = 0; basis[me] = 0;
		/* Lost, or never there; or it queues anew. */
		if
		:: state[me] == ADOPTED || held -> goto gone
		:: else -> state[me] = BEFORE; goto ask
		fi
	}
	:: atomic { over[me] -> goto leave }
	:: atomic { leaves && !held -> goto leave }
	fi;

	/* FENCING: the keeper takes another lease, shows it, and then ends that of the claim */
fencing: if
	:: atomic { claim_lease[me] == lease[MY] ->
		d_step { old[MY] = old[MY] | (1 << lease[MY]); lease[MY] = 0; shown[MY] = 0; skip };
		goto fencing
	}
	:: atomic {
		claim_lease[me] != lease[MY] && !IN(old[MY], claim_lease[me]) ->
		d_step {
			/* What is late can't be done any more, if that lease has ended. */
			if
			:: !LIVES(MY, claim_lease[me]) && PUTS_L(me) ->
				claim_is[me] = 0; claim_fits[me] = 0
			:: else
			fi;
			claim_known();
			skip
		};
		if
		:: state[me] == LEAVES -> goto leave
		:: else -> goto doubt
		fi
	}
	:: atomic { leaves && state[me] != LEAVES -> goto leave }
	fi;

	/* LOOKING: the next living one before it */
looking: if
	:: atomic {
		if
		:: h[me] || !w[me] -> goto doubt
		:: w[me] && closed -> goto leave
		:: else
		fi;
		d_step {
			a = 0;
			do
			:: line[a] != me -> a++
			:: else -> break
			od;
			do
			:: a > 0 && IS_DEAD(line[a - 1]) -> a--
			:: else -> break
			od;
			before[me] = (a > 0 -> line[a - 1] + 1 : 0);
			knows = 1;
			skip
		};
		if
		:: before[me] != 0 -> goto end_behind
		:: else -> goto end_first
		fi
	}
	fi;

end_behind:	if
	:: atomic { h[me] -> before[me] = 0; goto end_hold }
	:: atomic { !h[me] && !w[me] -> before[me] = 0; goto doubt }
	:: atomic { w[me] && closed -> before[me] = 0; goto leave }
	/* What it stood behind is gone, as the watch says; or it looks by itself after a while. */
	:: atomic { w[me] && !closed && before[me] == 0 && !headless -> goto looking }
	:: atomic {
		w[me] && !closed && broken != NO_LOOK_BY_TIME && broken != NO_WATCH && before[me] != 0 &&
		IS_DEAD(before[me] - 1) -> before[me] = 0; goto looking
	}
	:: d_step { w[me] && !closed && before[me] != 0 && knows && HAS_DEED_W -> repair(0); assert(x); x = 0; skip }; goto end_behind
	:: atomic { leaves -> before[me] = 0; goto leave }
	fi;

	/* FIRST; the look of one that has just come to an empty line is that of its claim */
end_first:	if
	:: atomic { h[me] -> goto end_hold }
	:: atomic { !h[me] && !w[me] -> goto doubt }
	:: atomic { w[me] && closed -> goto leave }
	:: atomic {
		w[me] && !closed && ROOM_FOR_FIRST && round[me] == 0 ->
		d_step { make_plan(me, NIL, 1, FIRST); skip };
		goto granting
	}
	:: d_step { w[me] && !closed && !ROOM_FOR_FIRST && (HAS_DEED_W || HAS_DEED_H) -> repair(1); assert(x); x = 0; skip }; goto end_first
	:: d_step { broken == NO_WITNESS && early[me] != 0 ->
		x = early[me] - 1;
		s[x] = (s[x] == 0 && l[x] == 0 -> 1 : s[x]);
		early[me] = 0; x = 0; skip }; goto end_first
	:: atomic { leaves -> goto leave }
	fi;

granting: if
	:: atomic {
		d_step { x = valid[me]; do_round(me); skip };
		if
		:: x && h[me] ->
			d_step { x = more[me] | rang[me]; forget_round(me); round[me] = (x -> MUST_LOOK : 0); x = 0; skip };
			goto end_hold
		:: else -> d_step { x = 0; forget_round(me); skip }; goto looking
		fi
	}
	:: LOSS;
		if
		:: d_step { do_round(me); forget_round(me); skip }
		:: round[me] = LATE_ROUND
		fi;
		goto doubt
	}
	:: atomic { leaves -> round[me] = LATE_ROUND; goto leave }
	fi;

	/* HOLDING */
end_hold:	if
	:: atomic {
		!runs[me] && !over[me] && shown[MY] && (wrong || LIVES(MY, lease[MY])) &&
		(!unsure[me] || broken == NO_CHECK) ->
		d_step { runs[me] = 1; held = 1; basis[me] = lease[MY]; check_running(me); skip };
		goto end_hold
	}
	:: atomic { runs[me] && h[me] && !IN(stayers, me) -> rel = 1; goto leave }
	:: atomic { over[me] -> rel = 1; goto leave }
	:: atomic { leaves && !held -> goto leave }
	/* LOSING */
	:: atomic {
		!h[me] && !over[me] ->
		runs[me] = 0; basis[me] = 0;
		if
		:: held -> goto gone
		:: else -> goto ask
		fi
	}
	fi;

	/* LEAVING, RELEASING */
leave:	atomic {
		d_step {
			runs[me] = 0; over[me] = 0; basis[me] = 0; before[me] = 0; leaves = 0;
			state[me] = (state[me] == ADOPTED -> ADOPTED_LEAVES : LEAVES);
			skip
		}
	};
left:	if
	:: atomic { open && broken != NO_FENCE -> goto fencing }
	:: atomic {
		(!open || broken == NO_FENCE) && (state[me] != ADOPTED_LEAVES || IS_SETTLED(MY)) && round[me] == 0 ->
		state[me] = LEAVES;
		if
		:: rel && nline == 0 -> d_step { delete_all(me); silence(); check_keys(); skip }; goto gone
		:: rel && nline > 0 -> d_step { make_plan(me, me, 0, PASS); skip };
			if
			:: round[me] == PASS -> goto passing
			:: else
			fi
		:: else
		fi;
	}
	fi;
departing: if
	:: atomic { d_step { depart(me); skip }; goto gone }
	:: LOSS; d_step { delete_all(me); ring(); check_keys(); skip }; goto departing }
	fi;

passing: if
	:: atomic {
		if
		:: valid[me] ->
			d_step {
				delete_all(me);
				do_round(me);
				x = more[me] | rang[me];
				forget_round(me);
				round[me] = (x -> MUST_LOOK : 0);
				x = 0;
				skip
			};
			goto gone
		:: else -> d_step { depart(me); skip }; goto gone
		fi
	}
	/* It is sent again, and then has nothing to grant. */
	:: LOSS; d_step { pass_late(me); no_round(me); skip }; goto passing }
	fi
}
	unless {
		atomic {
			signal[me] != 0 -> x = signal[me]; signal[me] = 0;
			if
			:: x == 2 -> x = 0; goto heired
			:: else -> x = 0; goto gone
			fi
		}
	};

	/* The command runs on, and the wrapper makes another keeper. */
heired:	atomic {
		claim_known();
		if
		:: state[me] == BEFORE || state[me] == INSIDE -> state[me] = ADOPTED; goto doubt
		:: state[me] == ADOPTED -> goto doubt
		:: state[me] == LEAVES || state[me] == ADOPTED_LEAVES -> state[me] = ADOPTED_LEAVES; goto left
		fi
	};

gone:	atomic {
		d_step {
			state[me] = GONE;
			runs[me] = 0; basis[me] = 0; over[me] = 0; before[me] = 0;
			claim_known();
			claim_fits[me] = (claim_is[me] == LATE && claim_fits[me]);
			early[me] = 0;
			held = 0; leaves = 0; rel = 0; alone = 0; knows = 0;
			skip
		}
	}
}
