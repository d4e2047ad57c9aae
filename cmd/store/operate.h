/*
 * operate.h - what operators can do in a store, beyond flocklimit.h.
 */
#ifndef OPERATE_H
#define OPERATE_H

#include <stdint.h>

#include "flocklimit.h"

/* Takes the permit away from whoever holds it, alive or not; -FLK_NOPERMIT if nobody does. */
int operate_break(struct flk *f, uint64_t ticket);

#endif
