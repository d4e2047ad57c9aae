/* SPDX-License-Identifier: ISC */
/*
 * orders.h - an operator's orders to each limiter that is made in the limiter directory.
 */
#ifndef FLKI_ORDERS_H
#define FLKI_ORDERS_H

#include "flocklimit.h"

/*
 * Reads the orders of the directory DIRFD; AT_FDCWD has none.  The maker of a limiter calls this
 * after it linked the limiter's name and before it stores `magic': see orders.c.
 */
int flki_orders_read(int dirfd, struct flk_settings *orders);

#endif
