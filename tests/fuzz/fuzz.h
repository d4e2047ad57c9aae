/* SPDX-License-Identifier: ISC */
/*
 * fuzz.h - what the harnesses share.  A harness is one LLVMFuzzerTestOneInput; three mains drive
 * it: libFuzzer's, afl.c's, and that of replay.c, which runs committed inputs as tests.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What is left of the input; beyond its end there are zeros. */
struct bytes {
	const uint8_t *p;
	size_t left;
};

uint8_t take8(struct bytes *b);
uint16_t take16(struct bytes *b);
uint32_t take32(struct bytes *b);
uint64_t take64(struct bytes *b);

/* The input up to the next newline or its end, as a string to be freed; NULL at the end. */
char *take_line(struct bytes *b);

/* What must hold whatever the input is: else the input is a find. */
#define require(condition) fuzz_require((condition), #condition, __FILE__, __LINE__)
void fuzz_require(bool so, const char *condition, const char *file, int line);

/* A directory of this process's own, removed at its end. */
const char *fuzz_dir(void);

#endif
