/* SPDX-License-Identifier: ISC */
/*
 * tickets.h - verbs that take the name of one limiter, and then tickets.
 */
#ifndef TICKETS_H
#define TICKETS_H

#include <stdint.h>

#include "flocklimit.h"

struct ctl;

/*
 * Calls it for each ticket of the command line; returns the largest status, or FAILED after a line.
 * It returns a status, or a negative code, which is refused.
 */
typedef int each_ticket(const struct ctl *c, struct flk *f, uint64_t ticket, void *ctx);
int for_tickets(const struct ctl *c, each_ticket *one, void *ctx);

#endif
