/*
 * parse.h - words into numbers; strictly: all of the word, or false.
 */
#ifndef PARSE_H
#define PARSE_H

#include <stdbool.h>
#include <stdint.h>

bool parse_number(const char *word, uint64_t least, uint64_t most, uint64_t *value);
bool parse_octal(const char *word, uint32_t most, uint32_t *value);

/* A decimal number with ms, s (default), m, h or d, into ns; what is not 0 does not become 0. */
bool parse_duration(const char *word, uint64_t *ns);

/* TERM, SIGTERM, 15, RTMIN+1. */
bool parse_signal(const char *word, int *number);

#endif
