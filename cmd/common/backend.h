/* SPDX-License-Identifier: ISC */
/*
 * backend.h - where the limiters of a program are kept: in files of this machine, or in a store.
 *
 * Each program links one of two implementations: backend_local.c and cmd/flockmap/map_local.c are for
 * limiter files, cmd/store/ has the other.  It is for what comes before there is an open limiter.
 * With one, the commands use flocklimit.h, whose functions know the implementation by the limiter.
 * tend.h and where.h are divided in the same way.
 */
#ifndef BACKEND_H
#define BACKEND_H

#include <stdbool.h>
#include <stddef.h>

#include "flocklimit.h"

bool backend_is_store(void);

/* As flk_attach(), flk_locate() and flk_map_new() are for limiter files. */
int backend_attach(struct flk **limiter, const char *name, const struct flk_options *options);
int backend_locate(const char *name, char *path, size_t size);
int backend_map_new(struct flk_map **map, const char *name, const struct flk_map_options *options);

/* As flk_strerror(), with a store's own codes: see store_exec.h. */
const char *backend_strerror(int code);

#endif
