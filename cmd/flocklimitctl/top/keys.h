/* SPDX-License-Identifier: ISC */
/*
 * keys.h - which key of top does what.
 */
#ifndef KEYS_H
#define KEYS_H

#include <stdbool.h>

#include "screen.h"

/* Does what the key says.  False: the user quits. */
bool keys_take(struct screen *v, int key);

#endif
