/* SPDX-License-Identifier: ISC */
#include "passing.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>
#include <sys/socket.h>

union passing {
	struct cmsghdr head;
	char room[CMSG_SPACE(sizeof(int))];
};

int
passing_send(int socket, const void *data, size_t size, int fd, int flags)
{
	struct iovec part = { (void *)(uintptr_t)data, size };
	struct msghdr m = { .msg_iov = &part, .msg_iovlen = 1 };
	union passing along;

	if (fd != -1) {
		memset(&along, 0, sizeof(along));
		m.msg_control = &along;
		m.msg_controllen = sizeof(along.room);
		along.head.cmsg_level = SOL_SOCKET;
		along.head.cmsg_type = SCM_RIGHTS;
		along.head.cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(&along.head), &fd, sizeof(fd));
	}
	while (sendmsg(socket, &m, MSG_NOSIGNAL | flags) == -1) {
		if (errno == ECONNRESET || errno == EBADF || errno == ENOTCONN)
			return -EPIPE;
		if (errno != EINTR)
			return -errno;
	}
	return 0;
}

int
passing_receive(int socket, void *data, size_t size, int *fd, int flags)
{
	struct iovec part = { data, size };
	union passing along;
	/*
	 * Room for one descriptor.  The padding of `along' would fit another, which we would never
	 * close.
	 */
	struct msghdr m = { .msg_iov = &part,
			    .msg_iovlen = 1,
			    .msg_control = &along,
			    .msg_controllen = CMSG_LEN(sizeof(int)) };
	struct cmsghdr *c;
	bool cut;
	ssize_t n;

	*fd = -1;
	do
		n = recvmsg(socket, &m, MSG_CMSG_CLOEXEC | flags);
	while (n == -1 && errno == EINTR);
	if (n == -1)
		return errno == ECONNRESET || errno == EBADF ? -EPIPE : -errno;
	c = CMSG_FIRSTHDR(&m);
	if (c != NULL && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
		memcpy(fd, CMSG_DATA(c), sizeof(*fd));
	cut = (m.msg_flags & MSG_CTRUNC) != 0;
	if (n == (ssize_t)size && !cut)
		return 0;
	if (*fd != -1)
		close(*fd);
	*fd = -1;
	return cut ? -EMFILE : -EPIPE;
}
