/* SPDX-License-Identifier: ISC */
/*
 * estimate.h - how long the waiters have to wait yet.
 */
#ifndef ESTIMATE_H
#define ESTIMATE_H

#include "flocklimit.h"

/*
 * Estimates how long each of s->waiters has to wait yet, from how long permits were held so far.
 * Negative: it can't be known.
 */
void estimate(const struct flk_snapshot *s, double *wait_s);

#endif
