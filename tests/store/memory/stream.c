/* SPDX-License-Identifier: ISC */
/*
 * stream.c - see stream.h.
 */
#include "stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/socket.h>

#define LENGTH sizeof(uint64_t)
#define MOST   (UINT64_C(64) << 20) /* bytes of a message */
#define PIECE  65536

void
stream_open(struct stream *s, int fd)
{
	*s = (struct stream){ .fd = fd };
}

void
stream_close(struct stream *s)
{
	if (s->fd != -1)
		close(s->fd);
	free(s->in.at);
	free(s->out.at);
	stream_open(s, -1);
}

void
stream_begin(struct stream *s)
{
	uint64_t length = 0;

	s->begun = s->out.n;
	pack_number(&s->out, &length);
}

void
stream_end(struct stream *s)
{
	uint64_t length = s->out.n - s->begun - LENGTH;

	if (length == 0)
		s->out.n = s->begun;
	else
		memcpy(s->out.at + s->begun, &length, LENGTH);
	stream_write(s);
}

/* After a call that moved no bytes. */
static void
judge(struct stream *s, ssize_t n)
{
	s->broken |= n == 0 || (errno != EAGAIN && errno != EINTR);
}

void
stream_write(struct stream *s)
{
	struct pack *out = &s->out;
	ssize_t n;

	while (out->next < out->n && !s->broken) {
		n = send(s->fd, out->at + out->next, out->n - out->next, MSG_NOSIGNAL);
		if (n <= 0) {
			judge(s, n);
			return;
		}
		out->next += (size_t)n;
	}
	out->n = out->next = 0;
}

void
stream_read(struct stream *s)
{
	struct pack *in = &s->in;
	ssize_t n;

	stream_write(s);
	if (in->next > 0)
		memmove(in->at, in->at + in->next, in->n - in->next);
	in->n -= in->next;
	in->next = 0;
	do {
		pack_room(in, PIECE);
		n = recv(s->fd, in->at + in->n, in->room - in->n, 0);
		in->n += n > 0 ? (size_t)n : 0;
	} while (n > 0);
	judge(s, n);
}

bool
stream_next(struct stream *s, struct pack *message)
{
	struct pack *in = &s->in;
	uint64_t length;

	if (in->n - in->next < LENGTH)
		return false;
	memcpy(&length, in->at + in->next, LENGTH);
	s->broken |= length > MOST;
	if (length > in->n - in->next - LENGTH)
		return false;
	in->next += LENGTH;
	*message = (struct pack){ .at = in->at + in->next, .n = (size_t)length, .reads = true };
	in->next += message->n;
	return true;
}
