/* SPDX-License-Identifier: ISC */
/*
 * setup.c - makes a store ready for its first use.
 */
#include <stdio.h>

#include "option.h"
#include "records/setup.h"
#include "say.h"
#include "session.h"
#include "settings.h"

int
store_setup(bool apply)
{
	const char *const *piece = records_setup();
	char why[RECORDS_TEXT];

	if (piece == NULL) {
		say(NULL,
		    "setup: this store needs none: the first use of flocklimit creates a limiter");
		return 0;
	}
	if (!apply) {
		for (; *piece != NULL; piece++)
			fputs(*piece, stdout);
		return 0;
	}
	if (records_set_up(&settings.url, why) == 0)
		return 0;
	say(NULL, "setup: %s", why);
	return OPTION_BAD;
}
