/* SPDX-License-Identifier: ISC */
/*
 * kernel.pml - futexes: futex.c, and the kernel's side of it.
 */

/* flki_futex_wake() on x's wake word: at most x itself sleeps there. */
inline futex_wake(x)
{
	if
	:: queued_self[x] -> queued_self[x] = 0; woken[x] = 1
	:: else
	fi
}

/* The same on x's `alive': any one of those in the queue. */
inline wake_a_watcher(x)
{
	if
	:: N > 0 && IN(queued[0], x) -> queued[0] = queued[0] - (1 << x); woken[0] = 1
	:: N > 1 && IN(queued[1 % N], x) -> queued[1 % N] = queued[1 % N] - (1 << x); woken[1 % N] = 1
	:: N > 2 && IN(queued[2 % N], x) -> queued[2 % N] = queued[2 % N] - (1 << x); woken[2 % N] = 1
	:: N > 3 && IN(queued[3 % N], x) -> queued[3 % N] = queued[3 % N] - (1 << x); woken[3 % N] = 1
	:: N > 4 && IN(queued[4 % N], x) -> queued[4 % N] = queued[4 % N] - (1 << x); woken[4 % N] = 1
	:: else
	fi
}

/* flki_futex_wake() on the lock, where a taker sleeps until it is woken: with no_nap only. */
inline wake_a_lock_sleeper()
{
	if
	:: N > 0 && IN(lock_queue, 0) -> lock_queue = lock_queue - 1; lock_woken[0] = 1
	:: N > 1 && IN(lock_queue, 1) -> lock_queue = lock_queue - 2; lock_woken[1 % N] = 1
	:: N > 2 && IN(lock_queue, 2) -> lock_queue = lock_queue - 4; lock_woken[2 % N] = 1
	:: N > 3 && IN(lock_queue, 3) -> lock_queue = lock_queue - 8; lock_woken[3 % N] = 1
	:: N > 4 && IN(lock_queue, 4) -> lock_queue = lock_queue - 16; lock_woken[4 % N] = 1
	:: else
	fi
}

/* Out of all of them: it runs again, or is killed. */
inline unqueue_futexes()
{
	queued_self[me] = 0; queued[me] = 0; woken[me] = 0
}
