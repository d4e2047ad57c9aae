/* SPDX-License-Identifier: ISC */
/*
 * sockets.h - where servers of tests listen, and their clock.  All on 127.0.0.1; none blocks.
 */
#ifndef SOCKETS_H
#define SOCKETS_H

#include <stdint.h>

/* A socket that listens; 0: on a port that is free, which is put into *port.  -1: errno. */
int listen_on_port(int *port);
int listen_on_path(const char *path);

/* A socket that keeps the port from being given to anybody else, though not from us: as long as it
 * is there, listen_on_port() has this port.  Who connects meanwhile is refused. */
int reserve_port(int *port);

int64_t now_ms(void); /* CLOCK_BOOTTIME */

#endif
