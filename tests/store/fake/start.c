/* SPDX-License-Identifier: ISC */
/*
 * start.c - starts a fake etcd for a test in C: see start.h.
 */
#include "../start.h"

const char *
start_store(void)
{
	static char url[100];

	start_server(&store_server, "store/fake/fake", NULL);
	snprintf(url, sizeof(url), "etcd://127.0.0.1:%s", store_server.first);
	return url;
}
