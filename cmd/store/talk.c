/* SPDX-License-Identifier: ISC */
#include "passing.h"
#include "close_fd.h"
#include "talk.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include <sys/socket.h>

void
talk_copy(char *to, size_t size, const char *from)
{
	size_t n = from != NULL ? strnlen(from, size - 1) : 0;

	if (n > 0)
		memcpy(to, from, n);
	to[n] = '\0';
}

int
talk_pair(int ends[2])
{
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) == -1)
		return -errno;
	return pair_above_stdio(ends);
}

int
talk_send(int socket, const struct talk *t, int fd)
{
	return passing_send(socket, t, sizeof(*t), fd, MSG_DONTWAIT);
}

int
talk_receive(int socket, struct talk *t, int *fd)
{
	return passing_receive(socket, t, sizeof(*t), fd, MSG_DONTWAIT);
}
