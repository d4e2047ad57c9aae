/* SPDX-License-Identifier: ISC */
/*
 * store.h - a limiter that is kept in a store: its operations (lib/ops.h), and what opens it.
 */
#ifndef STORE_H
#define STORE_H

#include "ops.h"

extern const struct flk_ops store_ops; /* limiter.c */

/* limiter.c: as flk_attach(), flk_locate(), flk_strerror() and flk_map_new() */
int store_attach(struct flk **limiter, const char *name, const struct flk_options *options);
int store_locate(const char *name, char *path, size_t size);
const char *store_strerror(int code);
void store_declares(struct flk *limiter, unsigned which, const struct flk_settings *to);
int store_map_new(struct flk_map **map, const char *name, const struct flk_map_options *options);

/* tend.c, operator/where.c, guard.c: see kind.h. */
struct tending;
struct operating;
extern const struct tending store_tending;
extern const struct operating store_operating;
void store_keep_for(struct flk_taker *t, pid_t pid, int pidfd);

/* clang-format off */
#define STORE_OP(type, name, parameters, ...) type store_##name parameters;
/* clang-format on */
FLKI_OPS(STORE_OP)

/* Takes the permit away from its holder, alive or not; -FLK_NOPERMIT if no holder has the ticket. */
int store_break(struct flk *f, uint64_t ticket);

#endif
