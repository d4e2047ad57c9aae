/* SPDX-License-Identifier: ISC */
/*
 * instrument.h - put before each source of lib/ by the compiler's -include: its atomics become calls
 * of the explorer, each with a record of its place and its order.  Its plain accesses do so, too, by
 * -fsanitize=thread, whose calls memory.c answers instead of the thread sanitizer.
 */
#ifndef INSTRUMENT_H
#define INSTRUMENT_H

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/stat.h>

#include "site.h"
#include "small.h"

#define WEAK_SITE(KIND, WORD, ORDER)                                             \
	({                                                                       \
		static struct site weak_here                                     \
		    __attribute__((section("weak_sites"), used, aligned(8))) = { \
			    .file = __FILE__,                                    \
			    .function = __func__,                                \
			    .line = __LINE__,                                    \
			    .word = (WORD),                                      \
			    .kind = (KIND),                                      \
			    .order = (ORDER),                                    \
		    };                                                           \
		&weak_here;                                                      \
	})
#define WEAK_TYPE(p)    __typeof__((void)0, *(p))
#define WEAK_LOAD(p, o) ((WEAK_TYPE(p))weak_load((p), sizeof(*(p)), WEAK_SITE(LOAD, #p, (o))))
#define WEAK_STORE(p, v, o) \
	weak_store((p), sizeof(*(p)), (uint64_t)(WEAK_TYPE(p))(v), WEAK_SITE(STORE, #p, (o)))
#define WEAK_RMW(op, p, v)                                                                       \
	({                                                                                       \
		WEAK_TYPE(p)                                                                     \
		weak_was =                                                                       \
		    (WEAK_TYPE(p))weak_rmw((p), sizeof(*(p)), (op), (uint64_t)(WEAK_TYPE(p))(v), \
					   WEAK_SITE(RMW, #p, memory_order_seq_cst));            \
		weak_was;                                                                        \
	})
#define WEAK_CAS(p, e, v, spurious)                                               \
	weak_cas((p), sizeof(*(p)), (e), (uint64_t)(WEAK_TYPE(p))(v), (spurious), \
		 WEAK_SITE(RMW, #p, memory_order_seq_cst))
#define WEAK_FENCE(o) weak_fence(WEAK_SITE(FENCE, "", (o)))

#undef atomic_load
#undef atomic_load_explicit
#undef atomic_store
#undef atomic_store_explicit
#undef atomic_exchange
#undef atomic_compare_exchange_strong
#undef atomic_compare_exchange_weak
#undef atomic_fetch_add
#undef atomic_fetch_sub
#undef atomic_fetch_and
#undef atomic_thread_fence
#undef atomic_signal_fence
#define atomic_load(p)                          WEAK_LOAD(p, memory_order_seq_cst)
#define atomic_load_explicit(p, o)              WEAK_LOAD(p, o)
#define atomic_store(p, v)                      WEAK_STORE(p, v, memory_order_seq_cst)
#define atomic_store_explicit(p, v, o)          WEAK_STORE(p, v, o)
#define atomic_exchange(p, v)                   WEAK_RMW(EXCHANGE, p, v)
#define atomic_compare_exchange_strong(p, e, v) WEAK_CAS(p, e, v, false)
#define atomic_compare_exchange_weak(p, e, v)   WEAK_CAS(p, e, v, true)
#define atomic_fetch_add(p, v)                  WEAK_RMW(ADD, p, v)
#define atomic_fetch_sub(p, v)                  WEAK_RMW(SUBTRACT, p, v)
#define atomic_fetch_and(p, v)                  WEAK_RMW(AND, p, v)
#define atomic_thread_fence(o)                  WEAK_FENCE(o)
#define __atomic_load_n(p, o)                   WEAK_LOAD(p, o)
#define __atomic_store_n(p, v, o)               WEAK_STORE(p, v, o)
#define __atomic_thread_fence(o)                WEAK_FENCE(o)

/* In lock.c both are the pause of a taker that spins. */
#define atomic_signal_fence(o) weak_pause()
#define __builtin_ia32_pause() weak_pause()

#define memcpy(to, from, n)     weak_memcpy((to), (from), (n))
#define memset(to, byte, n)     weak_memset((to), (byte), (n))
#define clock_gettime(clock, t) weak_clock((clock), (t))
#define fstat(fd, sb)           weak_fstat((fd), (sb))

/* Each thread of the explorer has these variables of its own: see schedule.c. */
#define _Thread_local __attribute__((section("weak_own")))

/* One look before a nap: each more is the same. */
#define SPINS 1

#endif
