/* SPDX-License-Identifier: ISC */
/*
 * fair.pml - the turns of keys in a fair limiter: lib/fair.c as a model.  README.md says which line is
 * which function; check-fair runs it.
 *
 * The limit is 2.  Takers arrive in any of N slots that are free, with any key and weight; holders
 * release, waiters leave; in any order, and each is one step, as all happen under the lock.  Keys are
 * those of users who stay, 1 and 2, of which the first has a share of its own; and, with FRESH, keys that
 * nobody has had before.
 *
 * The laws:
 *  - within a key nobody is overtaken;
 *  - of each other key no more units ever stand before a waiter that came after it than
 *    share x (S - T), and one taker more: S is its tag, T was the turn when it came;
 *  - of all keys together no more than that for each slot, so that new keys gain nothing either;
 *  - so nobody is kept out for ever.
 */

#define UNIT 6   /* of cost: a unit of weight at the share 1 */
#define LIMIT 2  /* and the largest weight */
#define KEYS 12  /* 0 is none */
#define USERS 2

/* ---- a configuration: from the environment, so that one compiled checker runs them all ---- */

local byte ops = 8;       /* so many steps */
local byte share = 1;     /* of key 1 */
local byte fresh = 0;     /* 1: there are keys that nobody has had before, too; 2: and key 1 alone */
local byte broken = 0;    /* the protocol without one of its parts */

c_decl {
	static int flk_from_environment(const char *name, int otherwise)
	{
		const char *value = getenv(name);
		return value != 0 && *value != 0 ? atoi(value) : otherwise;
	}
}

/* BROKEN */
#define NO_MOVE 1  /* what was given to a key is forgotten with its slot, and the turn stays */
#define NO_PAY 2   /* who leaves has had nothing, whomever it has passed */
#define NO_END 3   /* a key counts only while it has takers, as start-time fair queueing has it */

/* ---- the file ---- */

#define FREE 0
#define WAITING 1
#define HELD 2

byte state[N], key[N], weight[N], ticket[N];
byte tag[N], given[N];
byte turn;
byte tickets, keys;

/* ---- the laws ---- */

byte tag_ahead[N];                 /* of a waiter: S - T */
byte by_key[N * KEYS], by_all[N]; /* units of those that came later, and stand before it */

inline zero_laws(i)
{
	k = 0;
	do
	:: k < KEYS -> by_key[i * KEYS + k] = 0; k++
	:: else -> break
	od;
	by_all[i] = 0
}

#define SHARE(a_key) ((a_key) == 1 -> share : 1)
#define COST(a_key, units) (((units) * UNIT + SHARE(a_key) - 1) / SHARE(a_key))
#define END(i) (tag[i] + COST(key[i], weight[i]))
#define BOUND(i, a_share) ((a_share) * tag_ahead[i] / UNIT + LIMIT)

/* i is about to stand in the line. */
inline judge_arrival(i)
{
	j = 0;
	do
	:: j < N ->
		if
		:: j != i && state[j] == WAITING && tag[j] > tag[i] && key[j] != key[i] ->
			by_key[j * KEYS + key[i]] = by_key[j * KEYS + key[i]] + weight[i];
			by_all[j] = by_all[j] + weight[i];
			assert(by_key[j * KEYS + key[i]] <= BOUND(j, SHARE(key[i])));
			assert(by_all[j] <= N * BOUND(j, share))
		:: else
		fi;
		j++
	:: else -> break
	od
}

/* i is about to be granted. */
inline judge_grant(i)
{
	j = 0;
	do
	:: j < N ->
		assert(!(j != i && state[j] == WAITING && key[j] == key[i] &&
			 ticket[j] < ticket[i]));
		j++
	:: else -> break
	od
}

/* ---- fair.c ---- */

inline move_end(i, next)
{
	j = 0;
	do
	:: j < N && j != i && state[j] == FREE &&
	   (key[j] == 0 || given[j] <= turn || key[j] == next) -> break
	:: j < N && !(j != i && state[j] == FREE &&
		      (key[j] == 0 || given[j] <= turn || key[j] == next)) -> j++
	:: j == N -> break
	od;
	if
	:: broken == NO_MOVE
	:: broken != NO_MOVE && j < N -> key[j] = key[i]; given[j] = given[i]
	:: broken != NO_MOVE && j == N -> turn = given[i]
	fi
}

inline arrive(i, its_key, units)
{
	busy = 0;
	had = 0;
	end = 0;
	j = 0;
	do
	:: j < N ->
		busy = busy + (state[j] != FREE);
		if
		:: key[j] == its_key && (broken != NO_END || state[j] != FREE) ->
			had = (given[j] > had -> given[j] : had);
			end = (state[j] == WAITING && END(j) > end -> END(j) : end)
		:: else
		fi;
		j++
	:: else -> break
	od;
	if
	:: busy == 0 ->
		j = 0;
		do
		:: j < N -> key[j] = 0; given[j] = 0; j++
		:: else -> break
		od;
		turn = 0;
		had = 0;
		end = 0
	:: else
	fi;
	end = (had > end -> had : end);
	if
	:: key[i] != 0 && key[i] != its_key && given[i] > turn && broken != NO_END ->
		move_end(i, its_key)
	:: else
	fi;
	key[i] = its_key;
	given[i] = had;
	weight[i] = units;
	tag[i] = (end > turn -> end : turn);
	tag_ahead[i] = tag[i] - turn;
	tickets++;
	ticket[i] = tickets;
	zero_laws(i);
	judge_arrival(i);
	state[i] = WAITING
}

inline leave(i)
{
	j = 0;
	do
	:: j < N ->
		if
		:: state[j] == WAITING && ticket[j] < ticket[i] && tag[j] > tag[i] &&
		   broken != NO_PAY -> given[i] = END(i)
		:: else
		fi;
		j++
	:: else -> break
	od;
	state[i] = FREE
}

/* ---- state.c ---- */

inline grant_all()
{
	do
	:: true ->
		used = 0;
		first = N;
		j = 0;
		do
		:: j < N ->
			used = used + (state[j] == HELD -> weight[j] : 0);
			if
			:: state[j] == WAITING && (first == N || tag[j] < tag[first] ||
			   (tag[j] == tag[first] && ticket[j] < ticket[first])) -> first = j
			:: else
			fi;
			j++
		:: else -> break
		od;
		if
		:: first < N && used + weight[first] <= LIMIT ->
			judge_grant(first);
			given[first] = END(first);
			turn = (tag[first] > turn -> tag[first] : turn);
			state[first] = HELD
		:: else -> break
		fi
	od
}

active proctype World()
{
	byte i, j, k, step, a_key, units, busy, had, end, used, first;

	d_step {
		c_code {
			now.ops = flk_from_environment("OPS", now.ops);
			now.share = flk_from_environment("SHARE", now.share);
			now.fresh = flk_from_environment("FRESH", now.fresh);
			now.broken = flk_from_environment("BROKEN", now.broken);
		};
		keys = USERS
	};
	do
	:: step < ops ->
		step++;
		atomic {
			i = 0;
			do
			:: i < N - 1 -> i++
			:: break
			od;
			if
			:: state[i] == FREE ->
				if
				:: a_key = 1
				:: fresh != 2 -> a_key = 2
				:: fresh != 0 && keys < KEYS - 1 -> keys++; a_key = keys
				fi;
				if
				:: units = 1
				:: units = LIMIT
				fi;
				d_step { arrive(i, a_key, units) }
			:: state[i] == HELD -> state[i] = FREE
			:: state[i] == WAITING -> d_step { leave(i) }
			fi;
			d_step { grant_all(); j = 0; k = 0; busy = 0; had = 0; end = 0; used = 0; first = 0; i = 0; a_key = 0; units = 0 }
		}
	:: else -> break
	od
}
