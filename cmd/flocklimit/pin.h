/* SPDX-License-Identifier: ISC */
/*
 * pin.h - --pin: the command runs on the CPUs of its permit's seats, and on no others.
 *
 * Seat 0 is the first CPU that flocklimit itself may use, seat 1 the second, and so on.  A seat above
 * them is no CPU.
 *
 * With an elastic weight the command gives CPUs back while others wait or a lower limit of an operator's
 * asks for them (give.h), down to the least that it asked for, and takes CPUs again when nobody has waited
 * for a while.  What runs is never stopped: only where it runs changes.
 *
 *	STANDS   -> NARROWS	something is wanted, and the permit has more than its least
 *	NARROWS  -> STANDS	no task of the command may run on the CPUs that it gives: they are given back
 *	STANDS   -> STANDS	nobody has waited for QUIET_NS: takes what is free, and widens the command
 */
#ifndef PIN_H
#define PIN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "flocklimit.h"

struct options;
struct pin;

/* Whether each unit of the limiter can be a CPU: 0; or 125, after a line. */
int pin_check(const struct options *o, struct flk *limiter);

/* Of this permit; NULL for want of memory, or where the CPUs can't be read. */
struct pin *pin_new(const struct options *o, struct flk *limiter, const struct flk_permit *permit);

/* What we start between these two runs on the permit's CPUs.  An errno value, or 0. */
int pin_enter(const struct pin *p);
void pin_leave(const struct pin *p);

/*
 * What there is to do now that the command runs.  OURS is a process of our own below us, or 0.  Returns
 * when to call it again; NEVER.
 */
uint64_t pin_look(struct pin *p, pid_t ours);

/* Whether processes that lose their parent become our children: we have to reap them. */
bool pin_adopts(const struct pin *p);

void pin_free(struct pin *p);

#endif
