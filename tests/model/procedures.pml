/* SPDX-License-Identifier: ISC */
	/*
	 * procedures.pml - what state.c, repair.c and wake_successors_of_dead() do, for the taker that has
	 * CALLed it.  A part of its proctype.
	 */
grant:
	skip;
	do
	:: STEP(grant_next());
		if
		:: act == STOP -> break
		:: act == GRANTED ->
			INDEX_APART(grant_index(x));
			if
			:: broken == WAKE_BEFORE_STATE || broken == WAKE_BEFORE_STATE_INSIDE
			:: else -> wake(x)
			fi
		:: act == GONE -> INDEX_APART(unline(x)); wake(x)
		:: act == WAKE -> wake(x)
		:: act == CHOSEN
		fi
	od;
	x = 0;
	if
	:: BACK(grant, 1)
	:: BACK(grant, 2)
	:: BACK(grant, 3)
	:: BACK(grant, 4)
	:: BACK(grant, 5)
	:: BACK(grant, 6)
	:: BACK(grant, 7)
	:: BACK(grant, 8)
	fi;
leave:
	skip;
	STEP(commit_gone(me, IDLE); INDEX_WITH(unqueue(me)));
	INDEX_APART(unqueue(me));
	if
	:: broken != LEAVER_SILENT -> wake(x)
	:: else
	fi;
	CALL(grant, 4);
	if
	:: BACK(leave, 1)
	:: BACK(leave, 2)
	:: BACK(leave, 3)
	:: BACK(leave, 4)
	fi;
sweep:
	skip;
	do
	:: STEP(sweep_next());
		if
		:: act == STOP -> break
		:: act == GONE -> INDEX_APART(count_out(x))
		:: act == GO_ON
		fi
	od;
	x = 0;
	if
	:: reaped -> reaped = 0; CALL(grant, 5)
	:: else
	fi;
	if
	:: BACK(sweep, 1)
	:: BACK(sweep, 2)
	:: BACK(sweep, 3)
	:: BACK(sweep, 4)
	:: BACK(sweep, 5)
	fi;
reap_watched:	/* We alone stand behind a waiter that it reaps, or before one that we have passed. */
	skip;
	do
	:: yields != 0 && STANDS ->
		d_step { find_passed() };
		if
		:: x == NIL -> break
		:: x != NIL && alive[x] -> break
		:: else ->
			place = x;
			STEP(commit_gone(place, FREE); INDEX_WITH(unqueue(place)));
			INDEX_APART(unqueue(place));
			wake(x)
		fi
	:: else -> break
	od;
	place = 0;
	do
	:: STEP(reap_watched_next());
		if
		:: act == GONE -> INDEX_APART(unline(x))
		:: else -> break
		fi
	od;
	x = 0;
	if
	:: act == FIRST -> swept = 1; CALL(sweep, 3)
	:: else
	fi;
	CALL(grant, 6);
	if
	:: BACK(reap_watched, 1)
	:: BACK(reap_watched, 2)
	:: BACK(reap_watched, 3)
	fi;
evict_all:
	skip;
	do
	:: STEP(evict_next());
		if
		:: act == STOP -> break
		:: act == GONE -> INDEX_APART(unline(x)); wake(x)
		:: act == WAKE -> wake(x)
		fi
	od;
	x = 0;
	CALL(grant, 7);
	if
	:: BACK(evict_all, 1)
	:: BACK(evict_all, 2)
	fi;
wake_successors:	/* wake_successors_of_dead() of wait.c */
	skip;
	do
	:: STEP(wake_successors_next());
		if
		:: act == STOP -> break
		:: else -> wake(x)
		fi
	od;
	x = 0;
	if
	:: BACK(wake_successors, 1)
	:: BACK(wake_successors, 2)
	fi;

	/* ---- repair.c: flki_state_rebuild() ---- */
rebuild:
	skip;
	if
	:: broken != INDEX_TRUSTED -> STEP(build_index())
	:: else
	fi;
	do
	:: broken == REPAIR_SILENT -> break
	:: broken != REPAIR_SILENT ->
		STEP(do
		    :: place < N && state[place] <= IDLE -> place++
		    :: else -> break
		    od;
		    x = (place < N -> place : NIL);
		    place = (place < N -> place + 1 : 0));
		if
		:: x == NIL -> break
		:: else -> wake(x)
		fi
	od;
	CALL(sweep, 5);
	if
	:: closed -> CALL(evict_all, 2)
	:: else
	fi;
	CALL(grant, 8);
	goto inside;
