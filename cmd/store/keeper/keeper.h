/* SPDX-License-Identifier: ISC */
/*
 * keeper.h - the process that has the permits of one wrapper: only it talks to the store.
 */
#ifndef KEEPER_H
#define KEEPER_H

#include <stdbool.h>
#include <sys/types.h>

/* In a child of the wrapper: does not return.  quiet: close stderr. */
_Noreturn void keeper_run(int control, pid_t wrapper, bool quiet);

#endif
