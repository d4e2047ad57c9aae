/* SPDX-License-Identifier: ISC */
/*
 * sign.h - the operator that last wrote a limiter's cfg: for people, beside what record.h reads of
 * it.  A taker does not sign the limit that it declares there.
 */
#ifndef SIGN_H
#define SIGN_H

#include <stdbool.h>
#include <stddef.h>

#include "record.h"

/* This process and machine. */
void sign_me(struct culprit *me);

/* A config with our name on it; the caller frees it; NULL for want of memory. */
char *sign_config(const struct flk_settings *c);

/* The operator that signed the config; false: nobody signed it. */
bool sign_read(struct culprit *by, const char *value, size_t size);

#endif
