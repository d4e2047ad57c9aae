/* SPDX-License-Identifier: ISC */
/*
 * state.pml - what the lock's owner does, cut into steps: each finds out what comes next and does it
 * as far as the commit, together with the index that follows.  Those who call them do the rest.
 */

/* Before any step its taker may be killed; but not the mistaken one: README.md says why. */
#define KILLED atomic { kills > 0 && !(mistaken_inside && me == mistaken_one) -> kills--; goto died }
#define STEP(what) if :: d_step { what; skip } :: KILLED fi

/* The index is changed in the step of the commit, or if `fine' in one of its own. */
#define INDEX_WITH(what) if :: !fine -> what :: else fi
#define INDEX_APART(what) if :: fine -> STEP(what) :: else fi

/* Promela has no procedures: CALL(grant, 3) goes to `grant', which comes BACK to behind it. */
#define CALL(what, from) back_##what = from; goto what; what##_##from: skip
#define BACK(what, to) back_##what == to -> back_##what = 0; goto what##_##to

/* act: what a step found to be done next, to slot x */
#define STOP 0
#define GO_ON 1
#define WAKE 2
#define GRANTED 3
#define GONE 4
#define FIRST 5
#define CHOSEN 6

#define STANDS (state[me] == WAITING)

/* flki_state_wake() */
inline wake(who)
{
	if
	:: who != NIL && who != me ->
		STEP(changed[who] = (broken == WORD_NOT_CHANGED -> changed[who] : 1));
		STEP(futex_wake(who))
	:: else
	fi
}

/* It fits, and if it is elastic, what it gets has been chosen. */
#define READY(x) (KIND(x) == TAKER && FITS(x) && (MOST(x) == 0 || choice_made))

/* One turn of flki_state_grant()'s loop, as far as the next commit or wake. */
inline grant_next()
{
	act = GO_ON;
	do
	:: act != GO_ON -> break
	:: act == GO_ON && place >= nline ->
		if
		:: new_holders && !first_knows && nline > 0 && broken != HEAD_NOT_WOKEN ->
			x = line[0]; act = WAKE
		:: else -> act = STOP; place = 0; new_predecessor = 0; first_knows = 0
		fi;
		new_holders = 0
	:: act == GO_ON && place < nline ->
		x = line[place];
		if
		:: KIND(x) == BARRIER && BARRIER_DONE(x) ->
			commit_gone(x, OUT);
			INDEX_WITH(unline(x));
			new_predecessor = 1;
			act = GONE
		:: KIND(x) == TAKER && FITS(x) && !READY(x) ->
			chosen[x] = CHOICE(x);
			choice_made = 1;
			act = CHOSEN
		:: READY(x) && broken == WAKE_BEFORE_STATE_INSIDE && !woken_early ->
			woken_early = 1;
			act = WAKE
		:: READY(x) && (broken != WAKE_BEFORE_STATE_INSIDE || woken_early) ->
			state[x] = HELD;
			check_grant(x);
			move_up(x);
			unsee(x);
			saw[x] = 0;
			INDEX_WITH(grant_index(x));
			new_holders = 1; new_predecessor = 1; woken_early = 0; choice_made = 0;
			act = GRANTED
		:: else ->
			if
			:: new_predecessor && broken != HEAD_NOT_WOKEN ->
				act = WAKE;
				first_knows = first_knows || place == 0
			:: else
			fi;
			new_predecessor = 0;
			place = (KIND(x) == TAKER && broken != LINE_NOT_HELD -> nline : place + 1)
		fi
	od
}

/* One look of flki_state_sweep_holders() at one holder. */
inline sweep_next()
{
	act = GO_ON;
	if
	:: place < nholders ->
		x = holders[place];
		if
		:: x != me && !alive[x] ->
			commit_gone(x, FREE);
			INDEX_WITH(count_out(x));
			act = GONE;
			reaped = 1
		:: else -> place++
		fi
	:: else
	fi;
	act = (act == GO_ON && place >= nholders -> STOP : act);
	place = (act == STOP -> 0 : place)
}

/* One look of flki_state_reap_watched() at the predecessor. */
inline reap_watched_next()
{
	c = 0;
	do
	:: c < nline && line[c] != me -> c++ /* who does not stand in it looks from its end on */
	:: else -> break
	od;
	if
	:: c == 0 -> act = FIRST
	:: else ->
		x = line[c - 1];
		if
		:: alive[x] -> act = STOP
		:: else ->
			commit_gone(x, FREE);
			INDEX_WITH(unline(x));
			act = GONE
		fi
	fi
}

/* flki_state_evict_all(), as far as the next commit or wake */
inline evict_next()
{
	act = STOP;
	do
	:: act != STOP || place >= nline -> break
	:: else ->
		x = line[place];
		if
		:: KIND(x) == TAKER ->
			commit_gone(x, OUT);
			INDEX_WITH(unline(x));
			act = GONE;
			new_predecessor = 1
		:: else ->
			act = (new_predecessor -> WAKE : STOP);
			new_predecessor = 0;
			place++
		fi
	od;
	new_predecessor = (act == STOP -> 0 : new_predecessor);
	place = (act == STOP -> 0 : place)
}

/* wake_successors_of_dead(): x becomes the next who stands behind a dead one that we watched, or NIL. */
inline wake_successors_next()
{
	x = NIL;
	do
	:: place < N && !(IN(watch[me], place) && !alive[place] && state[place] == WAITING) ->
		place++
	:: else -> break
	od;
	act = (place < N -> GO_ON : STOP);
	c = 0;
	do
	:: act == GO_ON && c < nline && line[c] != place -> c++
	:: else -> break
	od;
	if
	:: act == GO_ON && c + 1 < nline -> x = line[c + 1]
	:: else
	fi;
	place = (place < N -> place + 1 : 0)
}
