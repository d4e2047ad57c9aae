/* SPDX-License-Identifier: ISC */
#include "capture.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHUNK  65536
#define MEMORY (16u << 20) /* for finished captures that are not printed yet */

/* The file, and its chunks that are free again. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards these */
static int file = -1;
static uint32_t *spare, spares, room_of_spares, chunks;

static _Atomic size_t held; /* bytes in finished captures; nothing else depends on it */

static int
open_file(void)
{
	const char *directory = getenv("TMPDIR");
	char path[4096];
	int fd;

	if (directory == NULL || *directory != '/')
		directory = "/tmp";
	fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd != -1 || (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT))
		return fd;
	if ((size_t)snprintf(path, sizeof(path), "%s/flockmap-XXXXXX", directory) >= sizeof(path))
		return -1;
	fd = mkostemp(path, O_CLOEXEC);
	if (fd != -1)
		unlink(path);
	return fd;
}

static int
take_chunk(uint32_t *chunk)
{
	int error = 0;

	pthread_mutex_lock(&lock);
	if (file == -1 && (file = open_file()) == -1)
		error = -errno;
	else
		*chunk = spares > 0 ? spare[--spares] : chunks++;
	pthread_mutex_unlock(&lock);
	return error;
}

/* If there is no memory to note the chunk, it is not used again: that wastes only its room. */
static void
give_chunk(uint32_t chunk)
{
	uint32_t *grown, room;

	pthread_mutex_lock(&lock);
	if (spares == room_of_spares) {
		room = room_of_spares * 2 + 16;
		grown = realloc(spare, room * sizeof(*spare));
		if (grown != NULL) {
			spare = grown;
			room_of_spares = room;
		}
	}
	if (spares < room_of_spares)
		spare[spares++] = chunk;
	pthread_mutex_unlock(&lock);
}

/* Writes the tail to the file. */
static int
spill(struct capture *c)
{
	uint32_t chunk = 0, *grown;
	size_t done = 0;
	ssize_t n;
	int error;

	grown = realloc(c->chunks, (c->count + 1) * sizeof(*grown));
	if (grown == NULL)
		return -ENOMEM;
	c->chunks = grown;
	if ((error = take_chunk(&chunk)) != 0)
		return error;
	while (done < c->n) {
		n = pwrite(file, c->tail + done, c->n - done, (off_t)chunk * CHUNK + (off_t)done);
		if (n == -1 && errno != EINTR) {
			error = -errno;
			give_chunk(chunk);
			return error;
		}
		done += n > 0 ? (size_t)n : 0;
	}
	c->chunks[c->count++] = chunk;
	return 0;
}

int
capture_read(struct capture *c, int fd)
{
	ssize_t n;
	int error;

	if (c->n == CHUNK) {
		if ((error = spill(c)) != 0)
			return error;
		c->n = 0;
	}
	if (c->tail == NULL && (c->tail = malloc(CHUNK)) == NULL)
		return -ENOMEM;
	do
		n = read(fd, c->tail + c->n, CHUNK - c->n);
	while (n == -1 && errno == EINTR);
	if (n == -1)
		return -errno;
	c->n += (size_t)n;
	c->total += (uint64_t)n;
	return n > 0;
}

void
capture_finish(struct capture *c)
{
	char *less;

	/* The last chunk may be shorter than the others: its size follows from total. */
	if (c->n > 0 && held + c->n > MEMORY && spill(c) == 0)
		c->n = 0;
	if (c->n == 0) {
		free(c->tail);
		c->tail = NULL;
		return;
	}
	less = realloc(c->tail, c->n);
	if (less != NULL)
		c->tail = less;
	c->finished = true;
	held += c->n;
}

/* ---- printing ---- */

struct sink {
	int fd, error;
	const char *tag;
	bool amid; /* in a line */
	size_t n;
	char data[CHUNK];
};

static void
flush(struct sink *k)
{
	size_t at = 0;
	ssize_t n;

	while (at < k->n && k->error == 0) {
		n = write(k->fd, k->data + at, k->n - at);
		if (n == -1 && errno != EINTR)
			k->error = -errno;
		at += n > 0 ? (size_t)n : 0;
	}
	k->n = 0;
}

static void
put(struct sink *k, const char *data, size_t n)
{
	size_t part;

	for (; n > 0; data += part, n -= part) {
		if (k->n == CHUNK)
			flush(k);
		part = n < CHUNK - k->n ? n : CHUNK - k->n;
		memcpy(k->data + k->n, data, part);
		k->n += part;
	}
}

static void
put_lines(struct sink *k, const char *data, size_t n)
{
	const char *end;
	size_t line;

	if (k->tag == NULL) {
		put(k, data, n);
		return;
	}
	for (; n > 0; data += line, n -= line) {
		end = memchr(data, '\n', n);
		line = end != NULL ? (size_t)(end - data) + 1 : n;
		if (!k->amid) {
			put(k, k->tag, strlen(k->tag));
			put(k, "\t", 1);
		}
		put(k, data, line);
		k->amid = end == NULL;
	}
}

/* Its caller has the screen.  The buffers are not on its stack: a thread of musl has 128 KiB. */
int
capture_print(const struct capture *c, int fd, const char *tag)
{
	static struct sink k;
	static char data[CHUNK];
	uint64_t left = c->total - c->n;
	size_t i, size;
	ssize_t n;

	k.fd = fd;
	k.tag = tag;
	k.error = 0;
	k.amid = false;
	k.n = 0;
	for (i = 0; i < c->count && k.error == 0; i++) {
		size = left < CHUNK ? (size_t)left : CHUNK;
		n = pread(file, data, size, (off_t)c->chunks[i] * CHUNK);
		if (n != (ssize_t)size)
			return n == -1 ? -errno : -EIO;
		left -= size;
		put_lines(&k, data, size);
	}
	if (c->n > 0)
		put_lines(&k, c->tail, c->n);
	if (k.amid)
		put(&k, "\n", 1);
	flush(&k);
	return k.error;
}

void
capture_empty(struct capture *c)
{
	size_t i;

	if (c->finished)
		held -= c->n;
	for (i = 0; i < c->count; i++)
		give_chunk(c->chunks[i]);
	free(c->chunks);
	free(c->tail);
	*c = (struct capture){ .tail = NULL };
}
