/* SPDX-License-Identifier: ISC */
/*
 * local.h - the operations of a limiter file: see ops.h.
 */
#ifndef FLKI_LOCAL_H
#define FLKI_LOCAL_H

#include "ops.h"

/* clang-format off */
#define FLKI_LOCAL(type, name, parameters, ...) type flki_local_##name parameters;
/* clang-format on */
FLKI_OPS(FLKI_LOCAL)
FLKI_OPS_OF_FILES(FLKI_LOCAL)

extern const struct flk_ops flki_local; /* limiter.c */

#endif
