/* SPDX-License-Identifier: ISC */
/*
 * thread.h - threads of the library's own.
 */
#ifndef FLKI_THREAD_H
#define FLKI_THREAD_H

#include <stddef.h>

/* Starts a detached thread; stack: its size in bytes, or 0.  0, or a negative errno value. */
int flki_thread_start(void *(*run)(void *), void *arg, size_t stack);

#endif
