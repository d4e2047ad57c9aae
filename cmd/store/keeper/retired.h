/* SPDX-License-Identifier: ISC */
/*
 * retired.h - takers that are done with, but may have something to tidy up in the store.
 */
#ifndef RETIRED_H
#define RETIRED_H

#include "branch.h"

/* Takes both: they are freed after a while, or when the engine has nothing to do. */
void retired_add(struct branch *b, struct engine_taker *t, struct ear *ear);

/* Frees those whose time has come; when to be asked again (CLOCK_BOOTTIME, ns). */
uint64_t retired_step(uint64_t now_ns);

bool retired_any(void);

#endif
