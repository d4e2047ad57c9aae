/* SPDX-License-Identifier: ISC */
/*
 * fair.h - what a key is in a fair limiter, as a word.
 */
#ifndef FAIR_H
#define FAIR_H

#include <stdbool.h>
#include <stdint.h>

#define FAIR_WRONG "not a kind of key: use user, session, key or off"
bool fair_parse(const char *word, void *kind); /* uint32_t: an enum flk_fair */

/* "off" for what is none of them, as a forged file may have it. */
const char *fair_word(uint32_t kind);

/* Why --key or --share has no effect in such a limiter: a sentence; NULL: those that are given have one. */
const char *fair_without_effect(uint32_t kind, bool key, bool share);

#endif
