/* SPDX-License-Identifier: ISC */
/*
 * parse.h - words into numbers.  Each function reads the whole word, or returns false.  Those with a
 * `void *' can be in a row of options (see option.h).
 */
#ifndef PARSE_H
#define PARSE_H

#include <stdbool.h>
#include <stdint.h>

bool parse_number(const char *word, uint64_t least, uint64_t most, uint64_t *value);
bool parse_octal(const char *word, uint32_t most, uint32_t *value);

/*
 * 90, 1.5h, 2e-3s, 1h30m: decimal numbers with us, ms, s (sec), m (min), h (hr) or d each, into
 * ns.  A number on its own is in seconds.  No duration above 0 becomes 0; a duration above a
 * hundred years becomes a hundred years.
 */
#define PARSE_DURATION "not a duration: use seconds, 500ms, 10m or 1h30m"
bool parse_duration(const char *word, uint64_t *ns);

/* The same, or never, which is UINT64_MAX. */
#define PARSE_PATIENCE PARSE_DURATION "; or never"
bool parse_patience(const char *word, void *ns);

/* 512M, 2G, 2GiB, 4096: bytes, with the binary units K, M, G and T.  Above 0. */
#define PARSE_SIZE "not a size: use bytes, 512M or 2G"
bool parse_size(const char *word, void *bytes); /* uint64_t */

/* TERM, SIGTERM, 15, RTMIN+1; and 0, of which no process hears. */
bool parse_signal(const char *word, void *number); /* int */

#endif
