/* SPDX-License-Identifier: ISC */
/*
 * limit_word.h - a limit as an operator types it.
 */
#ifndef LIMIT_WORD_H
#define LIMIT_WORD_H

#include <stdbool.h>
#include <stdint.h>

/* N, N% of the CPUs, or auto (FLK_AUTO). */
bool parse_limit(const char *word, int64_t *limit);

#endif
