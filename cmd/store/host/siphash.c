/* SPDX-License-Identifier: ISC */
#include "siphash.h"

static uint64_t
turn(uint64_t x, int bits)
{
	return x << bits | x >> (64 - bits);
}

static void
rounds(uint64_t v[4], int n)
{
	while (n-- > 0) {
		v[0] += v[1];
		v[2] += v[3];
		v[1] = turn(v[1], 13) ^ v[0];
		v[3] = turn(v[3], 16) ^ v[2];
		v[0] = turn(v[0], 32);
		v[2] += v[1];
		v[0] += v[3];
		v[1] = turn(v[1], 17) ^ v[2];
		v[3] = turn(v[3], 21) ^ v[0];
		v[2] = turn(v[2], 32);
	}
}

static void
absorb(uint64_t v[4], uint64_t word)
{
	v[3] ^= word;
	rounds(v, 2);
	v[0] ^= word;
}

uint64_t
siphash(const uint64_t key[2], const void *data, size_t size)
{
	uint64_t v[4] = { key[0] ^ UINT64_C(0x736f6d6570736575),
			  key[1] ^ UINT64_C(0x646f72616e646f6d),
			  key[0] ^ UINT64_C(0x6c7967656e657261),
			  key[1] ^ UINT64_C(0x7465646279746573) };
	const unsigned char *c = data;
	uint64_t word = 0;
	size_t i;

	for (i = 0; i < size; i++) {
		word |= (uint64_t)c[i] << 8 * (i % 8);
		if (i % 8 == 7) {
			absorb(v, word);
			word = 0;
		}
	}
	absorb(v, word | (uint64_t)size << 56);
	v[2] ^= 0xff;
	rounds(v, 4);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}
