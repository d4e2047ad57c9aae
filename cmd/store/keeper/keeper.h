/* SPDX-License-Identifier: ISC */
/*
 * keeper.h - the process that has the permits of one wrapper, or of all wrappers of a host that may share
 * it: only it talks to the store.
 */
#ifndef KEEPER_H
#define KEEPER_H

#include <stdbool.h>
#include <sys/types.h>

struct host;

/*
 * In a child of the wrapper: does not return.  life: its name in the store, which is the same for each
 * keeper that the wrapper has, one after the other; heir: it is not the first of them; quiet: close
 * stderr.
 */
_Noreturn void keeper_run(int control, pid_t wrapper, const char *life, bool heir, bool quiet);

/* In a child of the host's deputy. */
_Noreturn void keeper_run_host(struct host *host);

#endif
