/* SPDX-License-Identifier: ISC */
/*
 * file.c - a file that lies, and that is told new lies between our steps.
 */
#include "life.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes b = { data, size };

	life_live(&b, NULL);
	return 0;
}
