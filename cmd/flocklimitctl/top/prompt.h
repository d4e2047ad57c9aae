/* SPDX-License-Identifier: ISC */
/*
 * prompt.h - what top asks, and what is done then.
 */
#ifndef PROMPT_H
#define PROMPT_H

#include "screen.h"

/* Shows a message on the last line but one, until the next key. */
void prompt_say(struct screen *v, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The snapshot of the limiter that a key is about; NULL: there is none. */
const struct flk_snapshot *prompt_subject(const struct screen *v);
void prompt_toggle(struct screen *v, int key);
void prompt_open(struct screen *v, enum question about);
void prompt_take(struct screen *v, int key);
void prompt_find(struct screen *v);

#endif
