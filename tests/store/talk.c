/* SPDX-License-Identifier: ISC */
/*
 * talk.c - what a wrapper and its keeper say to each other, where descriptors are few.
 */
#include "talk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "../helpers/tap.h"

/* No descriptor of that number or above. */
static void
allow(rlim_t n)
{
	struct rlimit limit;

	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = n;
	setrlimit(RLIMIT_NOFILE, &limit);
}

/* Two descriptors with one message, which talk_send() never sends. */
static void
send_two(int socket, const struct talk *t, int fd)
{
	struct iovec part = { (void *)(uintptr_t)t, sizeof(*t) };
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(2 * sizeof(int))];
	} along = { .head = { .cmsg_level = SOL_SOCKET,
			      .cmsg_type = SCM_RIGHTS,
			      .cmsg_len = CMSG_LEN(2 * sizeof(int)) } };
	struct msghdr m = { .msg_iov = &part,
			    .msg_iovlen = 1,
			    .msg_control = &along,
			    .msg_controllen = sizeof(along) };
	int two[2] = { fd, fd };

	memcpy(CMSG_DATA(&along.head), two, sizeof(two));
	if (sendmsg(socket, &m, 0) == -1)
		tap_bail("sendmsg: %s", strerror(errno));
}

/* The lowest number of a descriptor that is not open. */
static int
lowest_free(void)
{
	int fd = 0;

	while (fcntl(fd, F_GETFD) != -1)
		fd++;
	return fd;
}

int
main(void)
{
	struct talk sent = { .kind = TALK_GUARD, .pid = 7 }, got = { .kind = TALK_NEW };
	int ends[2], free_fd, fd = -1, null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	ok(talk_pair(ends) == 0 && ends[0] > 2 && ends[1] > 2, "a pair above stdio");
	ok(talk_send(ends[0], &sent, null) == 0 && talk_receive(ends[1], &got, &fd) == 0 &&
	       got.pid == 7 && fd > 2,
	   "a descriptor goes along");
	ok(fcntl(fd, F_GETFD) == FD_CLOEXEC, "and is not for what is executed");
	close(fd);
	talk_send(ends[0], &sent, null);
	allow((rlim_t)fd);
	ok(talk_receive(ends[1], &got, &fd) == -EMFILE && fd == -1,
	   "one that there is no room for is not missed in silence");
	allow(256);
	ok(talk_receive(ends[1], &got, &fd) == -EAGAIN, "and then there is nothing more");
	free_fd = lowest_free();
	send_two(ends[0], &sent, null);
	ok(talk_receive(ends[1], &got, &fd) == -EMFILE && fd == -1 && lowest_free() == free_fd,
	   "a message with two is refused, and neither stays open");
	talk_send(ends[0], &sent, -1);
	ok(talk_receive(ends[1], &got, &fd) == 0 && fd == -1, "none went along");
	close(ends[0]);
	ok(talk_receive(ends[1], &got, &fd) == -EPIPE, "nobody is there");
	return tap_done();
}
