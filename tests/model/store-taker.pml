/* SPDX-License-Identifier: ISC */
/*
 * store-taker.pml - a taker: its wrapper, its keeper, and its command.
 */

/* Before any step; and alone, when only the keeper is killed: its heir goes on. */
#define KILLED \
	:: atomic { deaths > 0 -> deaths--; goto died } \
	:: atomic { heirs > 0 -> heirs--; goto heir }

/* Whoever is killed while a txn is under way leaves that behind. */
#define KILLED_IN(txn, number) \
	:: atomic { deaths > 0 -> deaths--; d_step { leave_behind(txn, number); skip }; goto died } \
	:: atomic { heirs > 0 -> heirs--; d_step { leave_behind(txn, number); skip }; goto heir }

inline leave_behind(txn, number)
{
	if
	:: late[me] == NOTHING ->
		late[me] = txn; late_lease[me] = lease[me]; late_number[me] = number;
		late_fits[me] = (txn == CLAIM && fits); late_cfg[me] = new_cfg[me];
		late_h[me] = new_h[me]
	:: else
	fi
}

/* The command is ended, at alive + ttl + grace: by the keeper, or by the wrapper. */
#define TIME_IS_UP (STALE(me) && !wrong)

/* The first has its name, which an heir knows. */
inline have_lease()
{
	if
	:: !LIVES(me, lease[me]) ->
		a = (named -> 2 : 1);
		do
		:: IN(leases[me], a) || a == late_lease[me] || a == basis[me] || a == l[me] ||
		    a == w_lease[me] -> a++
		:: else -> break
		od;
		assert(a <= 7);
		named = 1;
		lease[me] = a;
		leases[me] = leases[me] | (1 << a)
	:: else
	fi
}

inline look()
{
	seen[me] = 0;
	for (a : 0 .. N - 1) {
		seen[me] = seen[me] | ((h[a] != 0) << a)
	}
	new_cfg[me] = 0;
	new_h[me] = 0
}

inline place()
{
	a = 0;
	do
	:: a < nline && line[a] != me -> a++
	:: else -> break
	od
}

/* By what it has seen. */
#if N == 2
#define USED (IN(seen[me], 0) * WEIGHT(0) + IN(seen[me], 1) * WEIGHT(1))
#else
#define USED (IN(seen[me], 0) * WEIGHT(0) + IN(seen[me], 1) * WEIGHT(1) + \
    IN(seen[me], 2) * WEIGHT(2))
#endif
#define FITS (USED + WEIGHT(me) <= LIMIT)

#define DEAD(x) (broken != NO_RECLAIM && (x) != me && IN(seen[me], x) && h[x] != 0 && l[x] == 0)

#define KNOWN(x) mark[OF(me, x)]
#define MUST_HAVE(x) (DEAD(x) && broken == EARLY_GRACE && KNOWN(x) == 0 && early[OF(me, x)] == 0)
#define MUST_MARK(x) (DEAD(x) && KNOWN(x) == 0 && (broken != EARLY_GRACE || early[OF(me, x)] != 0))
#define MUST_PUT(x) (DEAD(x) && KNOWN(x) != 0 && s[x] == KNOWN(x) && !ready[x])
#define MAY_RIPEN(x) (DEAD(x) && KNOWN(x) != 0 && ripe[OF(me, x)] == 0 && \
    (broken == NO_GRACE || s[x] != KNOWN(x) || !STALE(x)))
#define IS_RIPE(x) (DEAD(x) && KNOWN(x) != 0 && ripe[OF(me, x)] == 1)

/* reclaim.c, by the first who does not fit. */
#define CARE(x) \
	:: atomic { !FITS && MUST_HAVE(x) -> early[OF(me, x)] = 1; goto first } \
	:: atomic { !FITS && MUST_MARK(x) -> d_step { put_mark(x); skip }; goto first } \
	:: atomic { !FITS && MUST_PUT(x) -> d_step { put_grace(x); skip }; goto first } \
	:: atomic { !FITS && MAY_RIPEN(x) -> ripe[OF(me, x)] = 1; goto first } \
	:: atomic { !FITS && IS_RIPE(x) -> ripe[OF(me, x)] = 2; goto first }

/* reclaim.c, first txn: s/, or what is there. */
inline put_mark(x)
{
	marked_h[OF(me, x)] = h[x];
	if
	:: s[x] == 0 ->
		made_s[x]++;
		s[x] = made_s[x];
		if
		:: broken == EARLY_GRACE -> ready[x] = 1; t[x] = early[OF(me, x)]
		:: else
		fi
	:: else ->
		ripe[OF(me, x)] = (ready[x] && t[x] == 0)
	fi;
	mark[OF(me, x)] = s[x];
	early[OF(me, x)] = 0
}

/* Second: t/, on a lease as long as the grace; and s/ again, which says so. */
inline put_grace(x)
{
	ready[x] = 1;
	t[x] = 1
}

inline forget_marks()
{
	for (a : 0 .. N - 1) {
		early[OF(me, a)] = 0;
		if
		:: ripe[OF(me, a)] != 2 -> mark[OF(me, a)] = 0; marked_h[OF(me, a)] = 0; ripe[OF(me, a)] = 0
		:: else
		fi
	}
}

inline forget()
{
	forget_marks();
	seen[me] = 0; new_cfg[me] = 0; new_h[me] = 0; basis[me] = 0
}

proctype Taker(byte me)
{
	byte created_w, created_h, before, before_w, x;
	bit named, fits, open, adopted, held, leaves, leaving;

	if
	:: IN(impatient_ones, me) -> leaves = 1
	:: true
	fi;

	/* ASKING: a lease, and a look beside it */
ask:	if
	:: atomic {
		d_step { have_lease(); look(); fits = (nline == 0 && FITS); skip };
		if
		:: closed -> goto gone
		:: !closed && (fits || !IN(triers, me)) -> goto claiming
		:: else -> if
			:: nline == 0 -> goto marking
			:: else -> goto gone
			fi
		fi
	}
	KILLED
	fi;

	/* MARKING */
marking: if
	:: atomic {
		d_step {
			x = 0;
			do
			:: x < N && !DEAD(x) -> x++
			:: else -> break
			od
		};
		if
		:: x == N -> x = 0; goto gone
		:: else -> if
			:: MUST_HAVE(x) -> early[OF(me, x)] = 1; goto marking
			:: MUST_MARK(x) -> d_step { put_mark(x); skip }; goto marking
			:: MUST_PUT(x) -> d_step { put_grace(x); skip }; goto marking
			:: IS_RIPE(x) -> d_step { reclaim(me, x); x = 0; skip }; goto ask
			:: else -> x = 0; goto gone
			fi
		fi
	}
	KILLED
	fi;

	/* CLAIMING */
claiming: if
	:: atomic {
		d_step { claim(me, lease[me], fits, new_cfg[me], new_h[me]); skip };
		if
		:: got == GRANTED -> got = 0; created_h = h[me]; goto hold
		:: got == FAILED -> got = 0; goto ask
		:: got == NOLEASE -> got = 0; lease[me] = 0; goto ask
		:: got == QUEUED && closed -> got = 0; goto leave
		:: got == QUEUED && !closed -> got = 0;
			created_w = w[me];
			if
			:: broken == OLD_LOOK && !fits && line[0] == me -> goto first
			:: else -> goto looking
			fi
		fi
	}
	:: atomic {
		losses > 0 -> losses--;
		if
		:: d_step { claim(me, lease[me], fits, new_cfg[me], new_h[me]); got = 0; skip }
		:: d_step { leave_behind(CLAIM, 0); skip }
		fi;
		open = 1;
		goto doubt
	}
	:: atomic { leaves -> d_step { leave_behind(CLAIM, 0); skip }; open = 1; goto leave }
	KILLED_IN(CLAIM, 0)
	fi;

	/* DOUBT, and FENCING */
doubt:	if
	:: atomic {
		if
		:: h[me] != 0 && w[me] != 0 -> d_step { delete_w(me); skip }; goto doubt
		:: h[me] != 0 && w[me] == 0 ->
			open = 0; adopted = 0;
			created_h = h[me];
			lease[me] = (l[me] != 0 -> l[me] : lease[me]);
			goto hold
		:: h[me] == 0 && w[me] != 0 ->
			open = 0; adopted = 0;
			created_w = w[me];
			lease[me] = w_lease[me];
			goto looking
		:: else
		fi;
		if
		:: open && broken != NO_FENCE -> open = 0; d_step { end_lease(me, lease[me]); skip }; goto doubt
		:: else
		fi;
		/* Lost, or never there; or it queues anew. */
		if
		:: adopted -> runs[me] = 0; goto gone
		:: else -> lease[me] = 0; created_w = 0; goto ask
		fi
	}
	:: atomic { TIME_IS_UP -> runs[me] = 0; goto leave }
	:: atomic { leaves && !held -> goto leave }
	KILLED
	fi;

	/* LOOKING */
looking: if
	:: atomic {
		d_step { look(); place(); x = a; skip };
		if
		:: w[me] != created_w || h[me] != 0 -> x = 0; goto doubt
		:: w[me] == created_w && h[me] == 0 && closed -> x = 0; goto leave
		:: w[me] == created_w && h[me] == 0 && !closed && x == 0 -> goto first
		:: w[me] == created_w && h[me] == 0 && !closed && x > 0 ->
			before = line[x - 1];
			before_w = w[before];
			seen[me] = 0;
			x = 0
		fi
	}
	KILLED
	fi;

	/* BEHIND */
	if
	:: atomic {
		w[me] != created_w || closed || w[before] != before_w ->
		before = 0; before_w = 0;
		goto looking
	}
	:: atomic { leaves -> before = 0; before_w = 0; goto leave }
	KILLED
	fi;

	/* FIRST, and GRANTING */
first:	if
	:: atomic { w[me] != created_w -> goto doubt }
	:: atomic { closed -> goto leave }
	:: atomic {
		FITS && LIVES(me, lease[me]) ->
		d_step { grant(me, lease[me], created_w, new_cfg[me]); skip };
		if
		:: got == GRANTED -> got = 0; created_h = h[me]; goto hold
		:: got == FAILED -> got = 0; goto looking
		:: got == NOLEASE -> got = 0; goto doubt
		fi
	}
	:: atomic {
		FITS && LIVES(me, lease[me]) && losses > 0 -> losses--;
		if
		:: d_step { grant(me, lease[me], created_w, new_cfg[me]); got = 0; skip }
		:: d_step { leave_behind(GRANT, created_w); skip }
		fi;
		goto doubt
	}
	EACH(CARE)
	:: atomic { leaves -> goto leave }
	:: atomic {
		FITS && deaths > 0 ->
		deaths--; d_step { leave_behind(GRANT, created_w); skip };
		goto died
	}
	:: atomic {
		FITS && heirs > 0 ->
		heirs--; d_step { leave_behind(GRANT, created_w); skip };
		goto heir
	}
	KILLED
	fi;

	/* HOLDING, and LOSING */
hold:	if
	:: atomic {
		!runs[me] && h[me] == created_h && l[me] == lease[me] && LIVES(me, lease[me]) ->
		d_step {
			runs[me] = 1; held = 1; basis[me] = lease[me];
			forget_marks(); seen[me] = 0; new_h[me] = 0; new_cfg[me] = 0;
			check_running(me);
			skip
		};
		goto hold
	}
	/* A renewal, of a lease that is not the one before. */
	:: atomic {
		runs[me] && basis[me] != lease[me] && h[me] == created_h && l[me] == lease[me] &&
		LIVES(me, lease[me]) -> basis[me] = lease[me]; goto hold
	}
	:: atomic { runs[me] -> runs[me] = 0; goto leave }
	:: atomic { TIME_IS_UP -> runs[me] = 0; goto leave }
	:: atomic {
		h[me] != created_h ->
lost:		created_h = 0; lease[me] = 0; created_w = 0;
		runs[me] = 0;
		if
		:: held -> goto gone
		:: else -> goto ask
		fi
	}
	:: atomic {
		h[me] == created_h && l[me] != lease[me] && broken != NOBODY_ATTACHES ->
		lease[me] = l[me];
		if
		:: l[me] != 0 -> goto hold
		:: else
		fi
	}
	KILLED
	fi;

	/* ATTACHING */
attaching: if
	:: atomic { d_step { have_lease(); skip } ; goto attached }
	:: atomic { TIME_IS_UP -> runs[me] = 0; goto leave }
	KILLED
	fi;
attached: if
	:: atomic {
		d_step { attach(me, lease[me], created_h); skip };
		if
		:: got == GRANTED -> got = 0;
			d_step {
				runs[me] = 1; held = 1; basis[me] = lease[me];
				check_running(me);
				skip
			};
			goto hold
		/* Lost; or attached, by a txn of its own that came late. */
		:: got == FAILED -> got = 0; if
			:: h[me] != created_h -> goto lost
			:: else -> lease[me] = (l[me] != 0 -> l[me] : lease[me]); goto hold
			fi
		:: got == NOLEASE -> got = 0; goto attaching
		fi
	}
	:: atomic {
		losses > 0 -> losses--;
		if
		:: d_step { attach(me, lease[me], created_h); got = 0; skip }
		:: d_step { leave_behind(ATTACH, created_h); skip }
		fi;
		goto attaching
	}
	:: atomic {
		runs[me] ->
		runs[me] = 0; d_step { leave_behind(ATTACH, created_h); skip };
		goto leave
	}
	:: atomic {
		TIME_IS_UP ->
		runs[me] = 0; d_step { leave_behind(ATTACH, created_h); skip };
		goto leave
	}
	KILLED_IN(ATTACH, created_h)
	fi;

	/* LEAVING, RELEASING */
leave:	leaving = 1;
	if
	:: atomic { open -> open = 0; d_step { end_lease(me, lease[me]); skip }; goto leave }
	:: atomic { !open -> d_step { delete_all(me); skip }; goto gone }
	KILLED
	fi;

	/* The keeper was killed; the command runs on, and the wrapper makes another. */
heir:	atomic {
		killed[me] = 1;
		d_step { forget_marks(); skip };
		adopted = 1; open = !held;
		lease[me] = 1; named = 1;
		created_w = 0; created_h = 0; before = 0; before_w = 0; x = 0;
		if
		:: leaving -> goto leave
		:: else -> goto doubt
		fi
	}

died:	atomic {
		d_step { killed[me] = 1; dead[me] = 1; runs[me] = 0; skip };
	}

gone:	atomic {
		lease[me] = (dead[me] -> lease[me] : 0);
		forget();
		created_w = 0; created_h = 0; before = 0; before_w = 0; x = 0;
		fits = 0; open = 0; adopted = 0; held = 0; leaves = 0; leaving = 0; named = 0;
		done++
	}
}
