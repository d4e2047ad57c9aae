/* SPDX-License-Identifier: ISC */
/*
 * store_codes.h - what only a store returns.
 */
#ifndef STORE_CODES_H
#define STORE_CODES_H

/* Codes beyond those of flocklimit.h, which only a store returns. */
enum {
	FLK_STORE = 4352, /* what is wrong with the store: flk_strerror() has just the sentence */
	FLK_LOST          /* the permit was lost while it was held */
};

#define LOST_STATUS 76 /* the exit status when a command lost its permit */

#endif
