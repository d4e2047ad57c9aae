/* SPDX-License-Identifier: ISC */
/*
 * backend.c - backend.h for limiters that are kept in a store.
 */
#include "backend.h"

#include "link.h"
#include "share.h"
#include "store.h"

bool
backend_is_store(void)
{
	return true;
}

int
backend_attach(struct flk **limiter, const char *name, const struct flk_options *options)
{
	return store_attach(limiter, name, options);
}

int
backend_locate(const char *name, char *path, size_t size)
{
	return store_locate(name, path, size);
}

int
backend_map_new(struct flk_map **map, const char *name, const struct flk_map_options *options)
{
	link_begin();
	return flki_map_new(map, name, options, store_attach);
}

const char *
backend_strerror(int code)
{
	return store_strerror(code);
}
