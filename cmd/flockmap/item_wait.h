/* SPDX-License-Identifier: ISC */
/*
 * item_wait.h - the item that waits in the line for its permit: what people see of the wait, and
 * when the item gives up.
 */
#ifndef ITEM_WAIT_H
#define ITEM_WAIT_H

#include <stdbool.h>
#include <stdint.h>

#include "flocklimit.h"
#include "options.h"

/* The next item is at hand, and has not waited yet. */
void item_wait_reset(void);

/* The item of this thread waits in LIMITER: shows what is due, and returns when to call it again. */
uint64_t item_wait_show(const struct options *o, const char *limiter, struct flk_taker *t);

/* The item of this thread waits no more. */
void item_wait_end(void);

/* When the item of this thread, which waits, gives up; NEVER: it does not. */
uint64_t item_wait_limit(void);

/* Whether the item of this thread has waited as long as --timeout allows. */
bool item_wait_is_over(void);

#endif
