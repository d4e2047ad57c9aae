/* SPDX-License-Identifier: ISC */
/*
 * request.h - the bounds of what a taker asks for, in a file as in a store.
 */
#ifndef FLKI_REQUEST_H
#define FLKI_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "name.h"

/* A key is spelled as a limiter's name is. */
static inline bool
flki_key_is_sane(const char *key)
{
	return key == NULL || *key == '\0' || (strlen(key) < FLK_KEY && flki_is_name(key));
}

static inline bool
flki_request_is_sane(const struct flk_request *want)
{
	uint32_t weight = want->weight != 0 ? want->weight : 1;

	return weight <= FLK_MAX_UNITS && want->limit <= FLK_MAX_UNITS &&
	       want->most <= FLK_MAX_UNITS && (want->most == 0 || want->most >= weight) &&
	       want->yield <= FLK_MAX_UNITS && want->share <= FLK_MAX_SHARE &&
	       flki_key_is_sane(want->key);
}

#endif
