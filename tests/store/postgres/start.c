/* SPDX-License-Identifier: ISC */
/*
 * start.c - the contract's store is the PostgreSQL whose URL, without a path, is in $POSTGRES_URL.
 */
#include <stdlib.h>

#include "../../helpers/tap.h"
#include "../start.h"

const char *
start_store(void)
{
	const char *url = getenv("POSTGRES_URL");

	if (url == NULL)
		tap_bail("no POSTGRES_URL: start this by make check-store");
	return url;
}
