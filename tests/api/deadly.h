/* SPDX-License-Identifier: ISC */
/*
 * deadly.h - for tests that include parts of lib: the taker that has the lock is killed before or after
 * a store that counts, after places_left of these places.
 */
#ifndef DEADLY_H
#define DEADLY_H

#include <setjmp.h>

static jmp_buf death;
static long places_left = -1; /* until it is killed; -1: it lives */

static void
may_die(void)
{
	if (places_left != -1 && places_left-- == 0)
		longjmp(death, 1);
}

#include "state.h"

#undef atomic_store
#undef atomic_store_explicit
#define atomic_store(p, v)                 (may_die(), (void)(*(p) = (v)), may_die())
#define atomic_store_explicit(p, v, order) atomic_store(p, v)
#define __atomic_store_n(p, v, order)      atomic_store(p, v)

#endif
