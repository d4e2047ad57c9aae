/*
 * orders.h - what an operator wants of each limiter that is made in the limiter directory.
 */
#ifndef FLKI_ORDERS_H
#define FLKI_ORDERS_H

#include "flocklimit.h"

/*
 * Reads the orders of the directory DIRFD; AT_FDCWD has none.  A maker calls it after its limiter
 * has its name and before the limiter can be used, see orders.c.
 */
int flki_orders_read(int dirfd, struct flk_orders *orders);

#endif
