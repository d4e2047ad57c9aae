/* SPDX-License-Identifier: ISC */
/*
 * steering.h - how a limiter's settings are changed: by an operator, or by a taker that declares a pace.
 */
#ifndef STEERING_H
#define STEERING_H

#include "look.h"

/*
 * Sets those that `which' names, if nobody has set any since that look, and remembers who did.  NULL if
 * that changes nothing: *code is 0; or for want of memory.  A pace that is set begins anew, as on one
 * machine.
 */
struct txn *steering_txn(const struct look *look, unsigned which, const struct flk_settings *to,
			 const struct person *by, int *code);

/* Which of those are not so, of FLK_SET_FAIR and the parts of FLK_SET_PACE. */
unsigned steering_differs(const struct flk_settings *is, unsigned which,
			  const struct flk_settings *to);

#endif
