/* SPDX-License-Identifier: ISC */
/*
 * passing.h - datagrams of a fixed size between two processes, some with a descriptor.
 */
#ifndef PASSING_H
#define PASSING_H

#include <stddef.h>

/*
 * Never raises SIGPIPE; flags as for sendmsg(2).  fd: -1, or a descriptor to send along, which stays the
 * caller's too.  0, -EPIPE when the other end is closed, or another negative errno value.
 */
int passing_send(int socket, const void *data, size_t size, int fd, int flags);

/*
 * 0; -EAGAIN: nothing has come; -EPIPE: the other end is closed, or says something else; -EMFILE: a
 * datagram came with a descriptor for which there was no room.  *fd is -1, or a descriptor that is now
 * the caller's, close-on-exec.
 */
int passing_receive(int socket, void *data, size_t size, int *fd, int flags);

#endif
