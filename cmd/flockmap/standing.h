/*
 * standing.h - the item that stands in the line for its permit: what people see of that, and when it
 * gives up.
 */
#ifndef STANDING_H
#define STANDING_H

#include <stdbool.h>
#include <stdint.h>

#include "flocklimit.h"
#include "options.h"

/* There is another item, which has not waited yet. */
void standing_begin(void);

/* In the thread whose item has to wait: shows what is due, and returns when to call it again. */
uint64_t standing_wait(const struct options *o, struct flk_taker *t);

/* In the same thread: the item waits no more. */
void standing_end(void);

/* Whether the item of this thread has waited for as long as --timeout says. */
bool standing_is_over(void);

#endif
