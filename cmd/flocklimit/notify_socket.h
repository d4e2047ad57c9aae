/* SPDX-License-Identifier: ISC */
/*
 * notify_socket.h - sockets for reports, as sd_notify(3) has them; and one that only the command and
 * its descendants find.
 */
#ifndef NOTIFY_SOCKET_H
#define NOTIFY_SOCKET_H

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/un.h>

struct notify_socket {
	int fd;
	char dir[40], path[64]; /* the socket, and its directory; empty: not made yet */
};

/* What NOTIFY_SOCKET names: a path, or '@' and a name in the abstract namespace. */
bool notify_address(const char *text, struct sockaddr_un *address, socklen_t *size);

/* A new socket, or -1 and errno. */
int notify_datagrams(void);

/* Makes it, and sets NOTIFY_SOCKET; 0 or an errno value.  Close it after an error as well. */
int notify_open(struct notify_socket *s);
void notify_close(struct notify_socket *s);

#endif
