/* SPDX-License-Identifier: ISC */
/*
 * siphash.c - SipHash against vectors of its authors: the key is 00 to 0f, the data 00, 01, 02, ...
 */
#include "host/siphash.h"

#include "../helpers/tap.h"

int
main(void)
{
	static const uint64_t key[2] = { UINT64_C(0x0706050403020100),
					 UINT64_C(0x0f0e0d0c0b0a0908) };
	static const struct {
		size_t size;
		uint64_t hash;
	} vector[] = { { 0, UINT64_C(0x726fdb47dd0e0e31) },
		       { 1, UINT64_C(0x74f839c593dc67fd) },
		       { 8, UINT64_C(0x93f5f5799a932462) },
		       { 15, UINT64_C(0xa129ca6149be45e5) } };
	unsigned char data[16];
	size_t i;

	for (i = 0; i < sizeof(data); i++)
		data[i] = (unsigned char)i;
	for (i = 0; i < sizeof(vector) / sizeof(vector[0]); i++)
		ok(siphash(key, data, vector[i].size) == vector[i].hash, "%zu bytes",
		   vector[i].size);
	return tap_done();
}
