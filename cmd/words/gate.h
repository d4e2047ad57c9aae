/* SPDX-License-Identifier: ISC */
/*
 * gate.h - how people read a gate, and what it waits for.
 */
#ifndef GATE_H
#define GATE_H

#include "flocklimit.h"

#define GATE_TEXT  (FLK_GATE_TEXT + 64)
#define GATED_TEXT (FLK_GATE_TEXT + 64)

/* As it would be typed: "mem>4G psi.io<20, settle 5s, patience never"; "" if there is no gate. */
const char *gate_text(const struct flk_gate *g, char room[GATE_TEXT]);

/* "4 GiB free, 2.1 now"; "psi.io below 20 %, 43 now"; what keeps the head of the line. */
const char *gated_text(const struct flk_gated *g, char room[GATED_TEXT]);

#endif
