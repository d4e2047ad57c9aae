/* SPDX-License-Identifier: ISC */
/*
 * start.c - starts the store in memory for a test in C: see start.h.
 */
#include "../start.h"

const char *
start_store(void)
{
	static char url[100];

	start_server(&store_server, "store/memory/serve", NULL);
	snprintf(url, sizeof(url), "memory://%s", store_server.first);
	return url;
}
