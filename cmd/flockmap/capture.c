/* SPDX-License-Identifier: ISC */
#include "capture.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/sendfile.h>

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
		k->amid = data[n - 1] != '\n';
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

/* Where in the output the tail begins. */
static uint64_t
tail_at(const struct capture *c)
{
	return c->total - c->n;
}

/*
 * What stands in one piece of the output between FROM and TO: its bytes, or a negative errno value.  Its
 * caller has the screen.  The room is not on the stack: a thread of musl has 128 KiB.
 */
static ssize_t
piece(const struct capture *c, uint64_t from, uint64_t to, const char **data)
{
	static char room[CHUNK];
	uint64_t at = from - c->gone;
	size_t n = CHUNK - (size_t)(at % CHUNK);
	ssize_t got;

	if (from >= tail_at(c)) {
		*data = c->tail + (from - tail_at(c));
		return (ssize_t)(to - from);
	}
	to = to < tail_at(c) ? to : tail_at(c);
	n = to - from < n ? (size_t)(to - from) : n;
	*data = room;
	got = pread(file, room, n, (off_t)c->chunks[at / CHUNK] * CHUNK + (off_t)(at % CHUNK));
	if (got == -1)
		return -errno;
	return got == (ssize_t)n ? got : -EIO;
}

/* As piece(). */
static int
print_to(struct capture *c, uint64_t to, int fd, const char *tag, bool whole)
{
	static struct sink k;
	const char *data;
	ssize_t n;

	k.fd = fd;
	k.tag = tag;
	k.error = 0;
	k.amid = false;
	k.n = 0;
	for (; c->printed < to && k.error == 0; c->printed += (uint64_t)n) {
		if ((n = piece(c, c->printed, to, &data)) < 0)
			return (int)n;
		put_lines(&k, data, (size_t)n);
	}
	if (k.amid && whole)
		put(&k, "\n", 1);
	flush(&k);
	return k.error;
}

int
capture_print(struct capture *c, int fd, const char *tag)
{
	return print_to(c, c->total, fd, tag, tag != NULL || c->lines);
}

static void
give_chunks(struct capture *c)
{
	size_t i;

	for (i = 0; i < c->count; i++)
		give_chunk(c->chunks[i]);
	c->count = 0;
}

/* A line ends in the tail, or it was printed before: capture_read() fills no more than that. */
int
capture_print_lines(struct capture *c, int fd, const char *tag, bool keep)
{
	const char *end = c->n > 0 ? memrchr(c->tail, '\n', c->n) : NULL;
	uint64_t to = end != NULL ? tail_at(c) + (uint64_t)(end - c->tail) + 1 : 0;
	size_t n;
	int error;

	c->lines = true;
	if (to <= c->printed)
		return 0;
	error = print_to(c, to, fd, tag, false);
	if (error != 0 || keep)
		return error;
	n = (size_t)(to - tail_at(c));
	give_chunks(c);
	memmove(c->tail, c->tail + n, c->n - n);
	c->n -= n;
	c->gone = to;
	return 0;
}

static int
copy_chunk(uint32_t chunk, size_t n, int fd)
{
	off_t at = (off_t)chunk * CHUNK;
	ssize_t got;

	while (n > 0) {
		got = sendfile(fd, file, &at, n);
		if (got == 0 || (got == -1 && errno != EINTR))
			return got == 0 ? -EIO : -errno;
		n -= got > 0 ? (size_t)got : 0;
	}
	return 0;
}

int
capture_copy(const struct capture *c, int fd)
{
	uint64_t left = tail_at(c) - c->gone;
	size_t i, n, done;
	ssize_t got;
	int error;

	for (i = 0; i < c->count; i++, left -= n) {
		n = left < CHUNK ? (size_t)left : CHUNK;
		if ((error = copy_chunk(c->chunks[i], n, fd)) != 0)
			return error;
	}
	for (done = 0; done<c->n; done += got> 0 ? (size_t)got : 0) {
		got = write(fd, c->tail + done, c->n - done);
		if (got == -1 && errno != EINTR)
			return -errno;
	}
	return 0;
}

void
capture_empty(struct capture *c)
{
	if (c->finished)
		held -= c->n;
	give_chunks(c);
	free(c->chunks);
	free(c->tail);
	*c = (struct capture){ .tail = NULL };
}
