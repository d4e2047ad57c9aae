/* SPDX-License-Identifier: ISC */
/*
 * store_exec.h - from --store to the program of that store.
 *
 * Limiters for many machines are kept in a store.  For each kind of store there is a program,
 * store-SCHEME, which contains the same commands, but for limiters of that store.  store_exec()
 * finds it, and executes it in this process.
 */
#ifndef STORE_EXEC_H
#define STORE_EXEC_H

struct taker_options;

/*
 * Executes the program of the store that the options or the environment name, with the same
 * arguments.  Returns -1 if the limiter is kept on this machine; else, after a line, the status to
 * exit with.
 */
int store_exec(const struct taker_options *w, char **argv);

#endif
