/* SPDX-License-Identifier: ISC */
#include "descriptor.h"
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
	int error;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) == -1)
		return -errno;
	ends[0] = flki_above_stdio(ends[0]);
	ends[1] = flki_above_stdio(ends[1]);
	if (ends[0] != -1 && ends[1] != -1)
		return 0;
	error = -errno;
	if (ends[0] != -1)
		close(ends[0]);
	if (ends[1] != -1)
		close(ends[1]);
	return error;
}

union passing {
	struct cmsghdr head;
	char room[CMSG_SPACE(sizeof(int))];
};

int
talk_send(int socket, const struct talk *t, int fd)
{
	struct iovec part = { (void *)(uintptr_t)t, sizeof(*t) };
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
	while (sendmsg(socket, &m, MSG_NOSIGNAL | MSG_DONTWAIT) == -1) {
		if (errno == ECONNRESET || errno == EBADF || errno == ENOTCONN)
			return -EPIPE;
		if (errno != EINTR)
			return -errno;
	}
	return 0;
}

int
talk_receive(int socket, struct talk *t, int *fd)
{
	struct iovec part = { t, sizeof(*t) };
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
		n = recvmsg(socket, &m, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
	while (n == -1 && errno == EINTR);
	if (n == -1)
		return errno == ECONNRESET || errno == EBADF ? -EPIPE : -errno;
	c = CMSG_FIRSTHDR(&m);
	if (c != NULL && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
		memcpy(fd, CMSG_DATA(c), sizeof(*fd));
	cut = (m.msg_flags & MSG_CTRUNC) != 0;
	if (n == sizeof(*t) && !cut)
		return 0;
	if (*fd != -1)
		close(*fd);
	*fd = -1;
	return cut ? -EMFILE : -EPIPE;
}
