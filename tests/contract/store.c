/* SPDX-License-Identifier: ISC */
/*
 * store.c - the contract's limiters are in a store: store.t has that of the fake etcd, memory.t that in
 * memory.
 */
#include <stdio.h>

#include "../store/start.h"
#include "contract.h"
#include "settings.h"
#include "wrapper/store.h"

static void
begin_store(void)
{
	static char url[100];
	const char *wrong;

	snprintf(url, sizeof(url), "%s/contract", start_store());
	if ((wrong = url_parse(&settings.url, url)) != NULL)
		tap_bail("%s: %s", url, wrong);
	settings.grace_s = 7;
}

const struct side side = { .which = STORE,
			   .begin = begin_store,
			   .attach = store_attach,
			   .locate = store_locate,
			   .map_new = store_map_new,
			   .strerror = store_strerror };
