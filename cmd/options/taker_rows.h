/* SPDX-License-Identifier: ISC */
/*
 * taker_rows.h - the options that flocklimit and flockmap share.
 */
#ifndef TAKER_ROWS_H
#define TAKER_ROWS_H

#include "option.h"

/* Options into the struct taker_options that a command's own options begin with. */
extern const struct option_row taker_rows[];

/* Those of these options that have no effect alone; in a command's own list of rules. */
#define TAKER_RULES                                                \
	{ "ramp-idle", "ramp", NULL }, { "settle", "when", NULL }, \
	{                                                          \
		"gate-patience", "when when-run", NULL             \
	}

#endif
