/* SPDX-License-Identifier: ISC */
/*
 * same.h - which takers may share a keeper: a name for all that decides what it does.  That is the store
 * with its parameters and credentials, the times, the program, and the namespaces, without which another
 * process can't reach the same store, read the same files or signal the same commands.
 */
#ifndef SAME_H
#define SAME_H

#include <stdint.h>

#define SAME_NAME 17

/* The secrets of the environment are in it, too: so the key is the user's secret. */
void same_name(const uint64_t key[2], char name[SAME_NAME]);

#endif
