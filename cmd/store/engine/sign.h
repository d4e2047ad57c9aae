/*
 * sign.h - who wrote a limiter's cfg: beside what record.h knows of it, for people.  What a taker
 * writes there is not signed.
 */
#ifndef SIGN_H
#define SIGN_H

#include <stdbool.h>
#include <stddef.h>

#include "record.h"

/* This process and machine. */
void sign_me(struct culprit *me);

/* A config with our name on it: to be freed; NULL for want of memory. */
char *sign_config(const struct config *c);

/* Who signed that; false: nobody. */
bool sign_read(struct culprit *by, const char *value, size_t size);

#endif
