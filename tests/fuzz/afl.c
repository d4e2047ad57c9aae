/* SPDX-License-Identifier: ISC */
/*
 * afl.c - drives a harness by AFL++, many inputs in one process.
 */
#include "fuzz.h"

#include <unistd.h>

__AFL_FUZZ_INIT();

int
main(void)
{
	const uint8_t *data = __AFL_FUZZ_TESTCASE_BUF;

	fuzz_dir();
	while (__AFL_LOOP(1000))
		LLVMFuzzerTestOneInput(data, (size_t)__AFL_FUZZ_TESTCASE_LEN);
	return 0;
}
