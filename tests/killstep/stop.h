/* SPDX-License-Identifier: ISC */
/*
 * stop.h - puts a stop() before each change of a word that others read.
 *
 * The compiler reads this before each file of stops.t.  The functions of <stdatomic.h> are macros of
 * GCC's that end in the functions below; clang's end elsewhere, so clang's stops are only those
 * of -fsanitize-coverage, one in each basic block.
 */
#ifndef STOP_H
#define STOP_H

/* Stops this process, if it is an actor that is being stepped. */
void stop(void);

#ifndef __clang__
#define __atomic_store(...)            (stop(), __atomic_store(__VA_ARGS__))
#define __atomic_store_n(...)          (stop(), __atomic_store_n(__VA_ARGS__))
#define __atomic_exchange(...)         (stop(), __atomic_exchange(__VA_ARGS__))
#define __atomic_compare_exchange(...) (stop(), __atomic_compare_exchange(__VA_ARGS__))
#define __atomic_fetch_add(...)        (stop(), __atomic_fetch_add(__VA_ARGS__))
#define __atomic_fetch_sub(...)        (stop(), __atomic_fetch_sub(__VA_ARGS__))
#define __atomic_fetch_and(...)        (stop(), __atomic_fetch_and(__VA_ARGS__))
#endif

#endif
