/* SPDX-License-Identifier: ISC */
/*
 * taker.pml - a process: its life, and its visits to the lock.  Every visit is the same: in, one
 * thing that it wants, out, and on to where `then' says.
 */

/* want */
#define QUEUE_UP 1
#define LOOK 2
#define PASS_ON 3
#define END 4
#define STEER 5

/* then */
#define TO_WAIT 1
#define TO_SLEEP 2
#define TO_HOLD 3
#define TO_LEAVE 4
#define TO_REST 5
#define TO_DROP 6
#define TO_UNLINK 7
#define TO_ELSEWHERE 8

#define OWNER (lock == 0 -> 0 : lock - 1)
#define OWNER_IS_DEAD (!alive[OWNER] || (gen[OWNER] != lock_gen && broken != NO_GENERATION))
#define LOCK_IS_AS_SEEN (lock == seen && (lock_gen == seen_gen || broken == NO_GENERATION))

#define SOMEBODY_DIED \
	((watch[me] & (alive[0] | alive[1 % N] << (1 % N) | alive[2 % N] << (2 % N) | \
	    alive[3 % N] << (3 % N) | alive[4 % N] << (4 % N))) != watch[me])

inline forget_watch()
{
	watch[me] = 0; renewed[me] = 0
}

inline watch_one(who)
{
	if
	:: alive[who] ->
		watched[who] = (broken == NO_WAITERS_BIT -> watched[who] : 1);
		watch[me] = watch[me] | (1 << who)
	:: else -> again = 1
	fi
}

proctype Taker(byte me)
{
	byte rounds, ordered; /* so many are done */
	byte want, then, seen, seen_gen, x, place, act;
	byte back_grant, back_sweep, back_reap_watched, back_evict_all, back_wake_successors, back_leave;
	bit inherited, lost, slept, new_holders, new_predecessor, first_knows, woken_early, choice_made, reaped;
	bit again, impatient, timed_out, dead_seen, swept, ticks;

	if
	:: DIGIT(weights, me) == 0 -> goto gone /* not in this configuration */
	:: else
	fi;

	/* file.c: flki_file_open() */
	if
	:: removable && KIND(me) != OPERATOR ->
end_unopened:
		if
		:: d_step { !removed && !unlinked -> skip }
		:: d_step { born == me && (removed || unlinked) -> born++ };
			goto somewhere_else
		:: d_step { born == me -> born = N };
			goto gone
		fi
	:: else
	fi;

	/*
	 * The first to come is 0, and so on; or nobody comes any more.  Nobody can see a first
	 * claim before its taker was inside the lock, so it is one step, and made when there is
	 * a way in.
	 */
end_unborn:
	if
	:: atomic { (born == me || KIND(me) == OPERATOR) && (lock == 0 || OWNER_IS_DEAD) ->
		born = (KIND(me) == OPERATOR -> born : born + 1);
		alive[me] = 1; gen[me] = 1; state[me] = IDLE;
		if
		:: d_step { lock == 0 -> lock = me + 1; lock_gen = 1; twice = mistaken_inside };
			want = (KIND(me) == OPERATOR -> STEER : QUEUE_UP);
			goto entered
		:: else -> goto next
		fi }
	:: d_step { born == me && KIND(me) != OPERATOR -> born = N };
		goto gone
	fi;

	/* ---- slot.c: claim(); inside.c: flki_enter(), flki_quit() ---- */
claim:
	skip;
	STEP(alive[me] = 1; watched[me] = 0; a = 0;
	    do
	    :: a < N -> renewed[a] = renewed[a] | (watch[a] & (1 << me)); a++
	    :: else -> break
	    od);
	STEP(gen[me] = gen[me] + 1);
	STEP(state[me] = IDLE; changed[me] = 0; cancelled[me] = 0);
next:
	want = (KIND(me) == OPERATOR -> STEER : QUEUE_UP);

visit:	/* flki_lock_take().  A taker that finds a living owner inside tries again at some time: the nap. */
	skip;
	do
	:: d_step { lock == 0 ->
		lock = me + 1; lock_gen = gen[me]; twice = mistaken_inside;
		sleepers = slept; slept = 0 };
		break
	:: d_step { lock != 0 && OWNER_IS_DEAD -> seen = lock; seen_gen = lock_gen };
		STEP(if
		    :: LOCK_IS_AS_SEEN ->
			lock = me + 1; lock_gen = gen[me]; inherited = 1;
			twice = mistaken_inside;
			sleepers = no_nap; slept = 0
		    :: else
		    fi;
		    seen = 0; seen_gen = 0);
		if
		:: inherited -> break
		:: else
		fi
	:: d_step { no_nap && lock != 0 && !OWNER_IS_DEAD ->
		sleepers = 1; slept = 1;
		lock_queue = lock_queue | (1 << me) };
		if
		:: d_step { lock_woken[me] -> lock_woken[me] = 0 }
		:: KILLED
		fi
	:: KILLED
	od;
entered:
	if
	:: inherited || (doubted && broken != NOT_DOUBTED) ->
		inherited = 0;
		STEP(doubted = 0);
		goto rebuild
	:: else
	fi;
inside:
	if
	:: !alive[me] -> goto quit /* taker_has_slot() */
	:: else
	fi;
	if
	:: removed && broken != GONE_NOT_ASKED ->
		if
		:: want == QUEUE_UP -> then = TO_ELSEWHERE
		:: want == STEER -> then = TO_DROP; ordered++
		:: else ->
			if
			:: state[me] == OUT -> STEP(state[me] = IDLE)
			:: else
			fi;
			then = TO_REST
		fi;
		goto quit
	:: else
	fi;
	if
	:: want == QUEUE_UP -> goto queue_up
	:: want == LOOK -> goto look
	:: want == PASS_ON -> goto pass_on
	:: want == END -> goto end
	:: want == STEER -> goto steer
	fi;

quit:	/* One that has lost the lock may have torn the index before it notices. */
	if
	:: lock != me + 1 -> nline = 0
	:: lock != me + 1 -> nholders = 0; used = 0; min_limit = 0
	:: skip
	fi;

	/* flki_lock_drop() */
	STEP(if
	    :: lock == me + 1 && lock_gen == gen[me] ->
		if
		:: !twice && alive[me] -> check_invariants()
		:: else
		fi;
		lock = 0; lock_gen = 0;
		act = sleepers; sleepers = 0
	    :: else ->
		assert(!alive[me]); /* nobody takes the lock from one whose word says that it lives */
		lost = 1;
		lock = (broken == DROP_UNCHECKED -> 0 : lock);
		lock_gen = (broken == DROP_UNCHECKED -> 0 : lock_gen)
	    fi;
	    x = 0; want = 0; dead_seen = 0; swept = 0);
	if
	:: act ->
		if
		:: atomic { act = 0; wake_a_lock_sleeper() }
		:: KILLED
		fi
	:: else
	fi;
	/* inside.c: doubt(), and its caller hears -FLK_MISTAKEN; or from its next call, when it was not lost */
	if
	:: lost ->
		STEP(doubted = 1);
		do
		:: broken == DOUBT_SILENT -> break
		:: broken != DOUBT_SILENT ->
			STEP(do
			    :: place < N && (state[place] <= IDLE ||
				(broken == DOUBT_WAKES_WAITERS_ALONE && state[place] != WAITING)) ->
				place++
			    :: else -> break
			    od;
			    x = (place < N -> place : NIL);
			    place = (place < N -> place + 1 : 0));
			if
			:: x == NIL -> break
			:: else -> wake(x)
			fi
		od;
		x = 0
	:: else
	fi;
	if
	:: !alive[me] -> goto died
	:: else
	fi;
	if
	:: then == TO_WAIT -> then = 0; goto wait
	:: then == TO_SLEEP -> then = 0; goto sleep
	:: then == TO_HOLD -> then = 0; goto hold
	:: then == TO_LEAVE -> then = 0; goto leave_it
	:: then == TO_REST -> then = 0; goto rest
	:: then == TO_DROP -> then = 0; goto drop
	:: then == TO_UNLINK -> then = 0; goto unlink
	:: then == TO_ELSEWHERE -> then = 0; goto somewhere_else
	fi;

	/* ---- taker.c: queue_up(), flk_wait_idle() ---- */
queue_up:
	if
	:: closed && KIND(me) == TAKER -> then = TO_LEAVE; goto quit
	:: else
	fi;
	if /* A ticket and its place are drawn together: where two may be inside, both in the commit's step. */
	:: mistaken_one == NIL -> STEP(find_place(me))
	:: else
	fi;
	STEP(if
	    :: mistaken_one != NIL -> find_place(me)
	    :: else
	    fi;
	    commit_waiting(me); INDEX_WITH(stand_in_line(me)));
	INDEX_APART(stand_in_line(me));
	if
	:: yields != 0 && broken != PASSED_NOT_WOKEN ->
		d_step {
			x = NIL;
			find_in_line(me);
			if
			:: c + 1 < nline -> x = line[c + 1]
			:: else
			fi
		};
		wake(x)
	:: else
	fi;
	CALL(grant, 1);
	if
	:: STANDS && broken != NO_REAP_BY_NEWCOMER -> CALL(reap_watched, 1)
	:: else
	fi;
	if
	:: STANDS && KIND(me) == TAKER && !swept && broken != NO_SWEEP_BY_NEWCOMER -> CALL(sweep, 1)
	:: else
	fi;
	if
	:: state[me] == HELD -> then = TO_HOLD
	:: STANDS && IN(triers, me) -> CALL(leave, 1); then = TO_REST
	:: STANDS && !IN(triers, me) -> then = TO_WAIT
	:: STANDS && IN(impatient_ones, me) -> then = TO_WAIT; impatient = 1
	:: state[me] == OUT -> then = TO_WAIT /* a barrier that is done */
	:: state[me] == FREE -> then = TO_WAIT /* marked as dead by mistake, and reaped */
	fi;
	goto quit;

	/* ---- wait.c: flk_wait() ---- */
wait:
	want = LOOK;
	STEP(changed[me] = (broken == WORD_READ_LATE -> changed[me] : 0));
	goto visit;
look:
	if
	:: SOMEBODY_DIED && broken != DEATHS_NOT_SEEN_TO && broken != DEATHS_NOT_SEEN_TO_IN_LINE ->
		dead_seen = 1;
		CALL(wake_successors, 1)
	:: else
	fi;
	if
	:: STANDS -> CALL(reap_watched, 2)
	:: else
	fi;
	if
	:: !swept && (dead_seen || (STANDS && timed_out)) -> CALL(sweep, 2)
	:: else
	fi;
	if
	:: STANDS && closed && KIND(me) == TAKER -> CALL(leave, 2)
	:: STANDS && !(closed && KIND(me) == TAKER) && cancelled[me] ->
		cancelled[me] = 0;
		CALL(leave, 3)
	:: else
	fi;
	if
	:: state[me] == HELD -> then = TO_HOLD; goto quit
	:: STANDS
	:: else ->
		STEP(state[me] = IDLE; forget_watch());
		STEP(watched[me] = (broken == NO_UNWATCH -> watched[me] : 0));
		then = (KIND(me) == BARRIER -> TO_REST : TO_LEAVE);
		timed_out = 0; impatient = 0;
		goto quit
	fi;

	/* flki_watch_all() */
	if
	:: yields != 0 -> STEP(forget_watch(); again = 0; find_ticks())
	:: else -> STEP(forget_watch(); again = 0)
	fi;
	STEP(c = 0;
	    do
	    :: c < nline && line[c] != me -> c++
	    :: else -> break
	    od;
	    x = (c == 0 || c >= nline -> NIL : line[c - 1]);
	    saw[me] = (yields == 0 || x == NIL -> 0 : x + 1));
	if
	:: x != NIL && broken != PREDECESSOR_NOT_WATCHED -> STEP(watch_one(x))
	:: x == NIL && broken != HOLDERS_NOT_WATCHED ->
		do
		:: place < nholders -> STEP(watch_one(holders[place]); place++)
		:: else -> break
		od;
		place = 0
	:: else
	fi;
	if
	:: timed_out || impatient -> then = TO_LEAVE
	:: !timed_out && again -> then = TO_WAIT
	:: !timed_out && !again -> then = TO_SLEEP
	fi;
	again = 0;
	goto quit;

sleep:	/* futex_waitv(): each word is looked at and queued for, one after the other */
	skip;
	if
	:: broken == WORD_READ_LATE -> STEP(changed[me] = 0)
	:: else
	fi;
	STEP(act = (changed[me] -> STOP : GO_ON);
	    queued_self[me] = !changed[me]);
	do
	:: act == GO_ON && place < N ->
		if
		:: d_step { !IN(watch[me], place) -> place++ }
		:: d_step { IN(watch[me], place) && alive[place] &&
			(watched[place] || broken == NO_WAITERS_BIT) ->
			queued[me] = queued[me] | (1 << place);
			place++ }
		:: d_step { IN(watch[me], place) &&
			(!alive[place] || IN(renewed[me], place) ||
			(!watched[place] && broken != NO_WAITERS_BIT)) ->
			act = STOP }
		:: KILLED
		fi
	:: else -> break
	od;
	place = 0;
	if
	:: act == STOP -> goto awake
	:: else -> act = 0
	fi;
end_asleep:
	if
	:: woken[me]
	:: impatient -> timed_out = 1
	:: ticks && SOMEBODY_DIED /* a tick that finds no dead changes nothing */
	:: KILLED
	fi;
awake:
	skip;
	STEP(unqueue_futexes());
	if
	:: state[me] != HELD && broken != NO_RECHECK -> goto wait
	:: state[me] == HELD || broken == NO_RECHECK
	:: KILLED
	fi;

	/* pass_on(): flki_lock_is_left() may take one who is slow for one who stays */
	if
	:: broken == NO_PASS_ON || broken == NO_RECHECK -> goto hold
	:: else
	fi;
	if
	:: d_step { lock == 0 || broken == LOCK_NOT_ASKED -> act = STOP }
	:: d_step { lock != 0 && broken != LOCK_NOT_ASKED ->
		seen = lock; seen_gen = lock_gen; act = GO_ON }
	:: KILLED
	fi;
	if
	:: act == GO_ON ->
		if
		:: d_step { lock != seen || lock_gen != seen_gen -> act = STOP }
		:: skip
		:: KILLED
		fi
	:: else
	fi;
	seen = 0; seen_gen = 0;
	if
	:: d_step { act == STOP && (!SOMEBODY_DIED || broken == DEATHS_NOT_ASKED) -> act = 0 };
		goto hold
	:: d_step { act != STOP || (SOMEBODY_DIED && broken != DEATHS_NOT_ASKED) -> act = 0 };
		want = PASS_ON;
		goto visit
	:: KILLED
	fi;
pass_on:
	if
	:: SOMEBODY_DIED && broken != DEATHS_NOT_SEEN_TO -> CALL(wake_successors, 2); CALL(sweep, 4)
	:: else
	fi;
	then = TO_HOLD;
	goto quit;

hold:	/* The caller has its permit.  It may keep it for ever. */
	skip;
	STEP(runs[me] = 1;
	    check_running(me);
	    timed_out = 0; impatient = 0;
	    forget_watch());
	if
	:: skip ->
end_for_ever:
		if
		:: KILLED
		fi
	:: skip
	fi;
	STEP(runs[me] = 0);

	/* ---- taker.c: flk_leave(), end() ---- */
leave_it:
	want = END;
	timed_out = 0; impatient = 0;
	if
	:: broken == WAKE_BEFORE_STATE -> STEP(x = (nline > 0 -> line[0] : NIL)); wake(x); x = 0
	:: else
	fi;
	goto visit;
end:
	if
	:: STANDS -> CALL(leave, 4)
	:: state[me] == HELD && broken != GRANT_KEPT ->
		STEP(commit_gone(me, IDLE); INDEX_WITH(count_out(me)));
		INDEX_APART(count_out(me));
		CALL(grant, 2)
	:: state[me] == OUT -> STEP(state[me] = IDLE)
	:: else
	fi;
	STEP(watched[me] = (broken == NO_UNWATCH -> watched[me] : 0); forget_watch());
	then = TO_REST;
	goto quit;
rest:
	rounds++;
	if
	:: rounds < rounds_each -> goto next
	:: skip ->
end_at_rest:
		if
		:: KILLED
		fi
	:: skip
	fi;

	/* ---- slot.c: flki_slot_drop() ---- */
drop:
	skip;
	STEP(state[me] = (state[me] == IDLE || state[me] == OUT -> FREE : state[me]));
	if
	:: d_step { act = watched[me]; alive[me] = 0; watched[me] = 0 }
	:: KILLED
	fi;
	if
	:: act ->
		if
		:: atomic { act = 0; wake_a_watcher(me) }
		:: KILLED
		fi
	:: else
	fi;
	if
	:: KIND(me) == OPERATOR && DIGIT(orders, ordered) != 0 -> goto claim
	:: goto gone
	fi;

somewhere_else: /* another attaches, and finds a limiter that nobody uses */
	skip;
	STEP(unlinked = 1; elsewhere = 1; check_elsewhere());
	goto rest;

	/* ---- steer.c: flk_remove(), flki_file_bury() ---- */
unlink:
	if
	:: broken == REMOVED_LATE -> STEP(removed = 1)
	:: else
	fi;
	STEP(unlinked = 1);
	goto drop;

	/* ---- steer.c: steer() ---- */
steer:
	if
	:: broken != HEAD_NOT_WOKEN_FIRST -> STEP(x = (nline > 0 -> line[0] : NIL)); wake(x)
	:: else
	fi;
	STEP(x = DIGIT(orders, ordered);
	    ordered++;
	    if
	    :: x < REMOVE -> override = x
	    :: x == 5 -> override = AUTO
	    :: x == PAUSE -> paused = 1
	    :: x == RESUME -> paused = 0
	    :: x == CLOSE -> closed = 1
	    :: x == EVICT || x == REMOVE
	    fi);
	if
	:: x == CLOSE -> CALL(evict_all, 1)
	:: x == EVICT && state[evicted_one] == WAITING ->
		STEP(commit_gone(evicted_one, OUT); INDEX_WITH(unqueue(evicted_one)));
		INDEX_APART(unqueue(evicted_one));
		if
		:: broken != EVICTED_NOT_WOKEN -> wake(evicted_one)
		:: else
		fi;
		if
		:: broken != EVICT_SILENT -> wake(x)
		:: else
		fi
	:: x == EVICT && state[evicted_one] == HELD && broken == EVICT_UNCHECKED ->
		STEP(commit_gone(evicted_one, OUT); INDEX_WITH(count_out(evicted_one)));
		wake(evicted_one)
	:: x == REMOVE ->
		if
		:: broken == UNLINKED_FIRST -> STEP(unlinked = 1)
		:: else
		fi;
		CALL(reap_watched, 3);
		if
		:: nline == 0 && nholders == 0 ->
			STEP(removed = (broken != REMOVED_LATE));
			then = TO_UNLINK;
			goto quit
		:: else
		fi
	:: else
	fi;
	CALL(grant, 3);
	then = TO_DROP;
	goto quit;

#include "procedures.pml"

	/*
	 * Killed.  The kernel takes a thread out of its futexes' queues first; then it goes
	 * through its robust list: it marks the word, and wakes one who watches it.
	 */
died:
	skip;
	d_step {
		unqueue_futexes(); forget_watch();
		lock_queue = lock_queue & (255 - (1 << me)); lock_woken[me] = 0;
		runs[me] = 0; rounds = 0; want = 0; then = 0; seen = 0; seen_gen = 0;
		x = 0; place = 0; act = 0;
		back_grant = 0; back_sweep = 0; back_reap_watched = 0;
		back_evict_all = 0; back_wake_successors = 0; back_leave = 0;
		mistaken_inside = (me == mistaken_one -> 0 : mistaken_inside);
		inherited = 0; lost = 0; slept = 0; new_holders = 0; new_predecessor = 0; first_knows = 0;
		woken_early = 0; choice_made = 0; reaped = 0; again = 0; impatient = 0; timed_out = 0; dead_seen = 0; swept = 0;
		ticks = 0
	};
	d_step { act = alive[me] && watched[me]; alive[me] = 0 };
	if
	:: act -> atomic { act = 0; wake_a_watcher(me) }
	:: else
	fi;
gone:
	if
	:: KIND(me) != OPERATOR && lives_at_most > 0 ->
end_claim:
		d_step { lives > 0 && state[me] != WAITING && state[me] != HELD ->
			lives--; rounds = rounds_each - 1 };
		goto claim
	:: else
	fi
}
