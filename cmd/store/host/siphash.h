/* SPDX-License-Identifier: ISC */
/*
 * siphash.h - SipHash-2-4, by Aumasson and Bernstein: without the key, nobody learns what was hashed.
 */
#ifndef SIPHASH_H
#define SIPHASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t siphash(const uint64_t key[2], const void *data, size_t size);

#endif
