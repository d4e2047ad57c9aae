/* SPDX-License-Identifier: ISC */
/*
 * api.c - the public functions that take a limiter or a taker: each calls the implementation that
 * the handle belongs to, by the table of ops.h.
 */
#include <errno.h>
#include <string.h>

#include "flocklimit.h"
#include "ops.h"
#include "own.h"
#include "setting.h"
#include "share.h"
#include "state.h"

static const struct flk_ops *
ops(const struct flk *f)
{
	return ((const struct flk_base *)f)->ops;
}

/* A taker begins with its limiter. */
struct flk *
flk_limiter(const struct flk_taker *t)
{
	return *(struct flk *const *)t;
}

static const struct flk_ops *
ops_of(const struct flk_taker *t)
{
	return ops(flk_limiter(t));
}

/* ---- the limiter ---- */

void
flki_share(struct flk *f)
{
	atomic_fetch_add(&((struct flk_base *)f)->users, 1);
}

void
flki_put(struct flk *f)
{
	if (atomic_fetch_sub(&((struct flk_base *)f)->users, 1) == 1)
		ops(f)->close(f);
}

void
flk_detach(struct flk *f)
{
	if (f != NULL)
		flki_put(f);
}

int
flk_taker_new(struct flk_taker **taker, struct flk *f)
{
	return ops(f)->taker_new(taker, f);
}

void
flk_taker_free(struct flk_taker *t)
{
	if (t != NULL)
		ops_of(t)->taker_free(t);
}

/* A caller that describes no request has this one. */
static const struct flk_request plain;

int
flki_queue(struct flk_taker *t, const struct flk_request *want, uint64_t until_ns)
{
	want = want != NULL ? want : &plain;
	return FLKI_IS_KNOWN(want) ? ops_of(t)->queue(t, want, until_ns) : -EINVAL;
}

int
flk_enqueue(struct flk_taker *t, const struct flk_request *want)
{
	want = want != NULL ? want : &plain;
	return FLKI_IS_KNOWN(want) ? ops_of(t)->enqueue(t, want) : -EINVAL;
}

int
flk_try(struct flk_taker *t, const struct flk_request *want)
{
	want = want != NULL ? want : &plain;
	return FLKI_IS_KNOWN(want) ? ops_of(t)->try(t, want) : -EINVAL;
}

/* ---- the namesakes ---- */

/* clang-format off */
#define OF_LIMITER(type, name, parameters, arguments) \
	type flk_##name parameters { return ops(f)->name arguments; }
#define OF_TAKER(type, name, parameters, arguments) \
	type flk_##name parameters { return ops_of(t)->name arguments; }
#define OWN_OF_LIMITER(type, name, parameters, arguments) \
	type flki_##name parameters { return ops(f)->name arguments; }
#define OWN_OF_TAKER(type, name, parameters, arguments) \
	type flki_##name parameters { return ops_of(t)->name arguments; }
#define OF_FILE(type, name, parameters, arguments, none) \
	type flk_##name parameters { return ops(f)->name != NULL ? ops(f)->name arguments : (none); }
#define OF_FILES_TAKER(type, name, parameters, arguments, none) \
	type flk_##name parameters { return ops_of(t)->name != NULL ? ops_of(t)->name arguments : (none); }

FLKI_LIMITER_OPS(OF_LIMITER)
FLKI_TAKER_OPS(OF_TAKER)
FLKI_OWN_OPS_OF_LIMITER(OWN_OF_LIMITER)
FLKI_OWN_OPS_OF_TAKER(OWN_OF_TAKER)
FLKI_FILE_OPS_OF_LIMITER(OF_FILE)
FLKI_FILE_OPS_OF_TAKER(OF_FILES_TAKER)
/* clang-format on */

/* ---- for operators ---- */

static int
check_settings(unsigned which, const struct flk_settings *to)
{
	const struct flki_number *n;
	char why[200];
	int error;

	if (which == 0 || which >= 2 * FLK_SET_FAIR)
		return -EINVAL;
	if ((which & FLK_SET_FAIR) != 0 && to->fair > FLK_FAIR_KEY)
		return -EINVAL;
	for (n = flki_numbers; n < flki_numbers + FLKI_NUMBERS; n++)
		if ((which & n->which) != 0 && !flki_number_is_good(n, flki_number_get(n, to)))
			return -EINVAL;
	if ((which & FLK_SET_PACE) != 0 &&
	    (error = flki_pace_check(&to->pace, which & FLK_SET_PACE)) != 0)
		return error;
	if ((which & FLK_SET_GATE) == 0)
		return 0;
	if (memchr(to->gate.when, '\0', sizeof(to->gate.when)) == NULL)
		return -EINVAL;
	return flk_gate_check(to->gate.when, why, sizeof(why));
}

int
flk_set(struct flk *f, unsigned which, const struct flk_settings *to)
{
	int error = check_settings(which, to);

	return error != 0 ? error : ops(f)->set(f, which, to);
}

int
flk_shrink(struct flk *f, uint64_t ticket, uint32_t units)
{
	if (units < 1)
		return -EINVAL;
	return ops(f)->shrink != NULL ? ops(f)->shrink(f, ticket, units) : -ENOTSUP;
}

int
flk_grow(struct flk *f, uint64_t ticket, uint32_t units)
{
	if (units < 1)
		return -EINVAL;
	return ops(f)->grow != NULL ? ops(f)->grow(f, ticket, units) : -ENOTSUP;
}

int
flk_remove(struct flk *f)
{
	return ops(f)->remove(f, true);
}

int
flk_remove_unused(struct flk *f)
{
	return ops(f)->remove(f, false);
}
