/* SPDX-License-Identifier: ISC */
/*
 * kind.c - kind.h for limiters that are kept in a store.
 */
#include "kind.h"

#include "settings.h"
#include "wrapper/store.h"

const struct kind here = { .choose = settings_choose,
			   .attach = store_attach,
			   .locate = store_locate,
			   .strerror = store_strerror,
			   .map_new = store_map_new,
			   .declares = store_declares,
			   .keep_for = store_keep_for,
			   .tending = &store_tending,
			   .operating = &store_operating };
