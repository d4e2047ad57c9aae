/* SPDX-License-Identifier: ISC */
/*
 * fnv.h - the hash FNV-1a, of 64 bits: piece after piece, from FNV_START.
 */
#ifndef FNV_H
#define FNV_H

#include <stddef.h>
#include <stdint.h>

#define FNV_START UINT64_C(14695981039346656037)

static inline uint64_t
fnv(uint64_t hash, const char *text, size_t n)
{
	while (n-- > 0)
		hash = (hash ^ (unsigned char)*text++) * UINT64_C(1099511628211);
	return hash;
}

#endif
