/* SPDX-License-Identifier: ISC */
/*
 * map_local.c - a map over a limiter file of this machine.
 */
#include "backend.h"

int
backend_map_new(struct flk_map **map, const char *name, const struct flk_map_options *options)
{
	return flk_map_new(map, name, options);
}
