/* SPDX-License-Identifier: ISC */
#include "sockets.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <time.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* Closes a socket of which something did not work, and returns -1 with the reason in errno. */
static int
give_up(int fd)
{
	int error = errno;

	if (fd != -1)
		close(fd);
	errno = error;
	return -1;
}

int
reserve_port(int *port)
{
	struct sockaddr_in in = { .sin_family = AF_INET };
	socklen_t len = sizeof(in);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), on = 1;

	in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	in.sin_port = htons((uint16_t)*port);
	/* With it on both, two sockets may have the port as long as one of them listens. */
	if (fd == -1 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == -1 ||
	    bind(fd, (const struct sockaddr *)&in, len) == -1 ||
	    getsockname(fd, (struct sockaddr *)&in, &len) == -1)
		return give_up(fd);
	*port = ntohs(in.sin_port);
	return fd;
}

int
listen_on_port(int *port)
{
	int fd = reserve_port(port);

	return fd == -1 || listen(fd, 4096) == -1 ? give_up(fd) : fd;
}

int
listen_on_path(const char *path)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	int fd;

	if (strlen(path) >= sizeof(un.sun_path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	strcpy(un.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd == -1 || bind(fd, (const struct sockaddr *)&un, sizeof(un)) == -1 ||
	    listen(fd, 64) == -1)
		return give_up(fd);
	return fd;
}

int64_t
now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}
