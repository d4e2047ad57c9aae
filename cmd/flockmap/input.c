/* SPDX-License-Identifier: ISC */
#include "input.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>

#include "conduct.h"
#include "screen.h"

#define CHUNK 65536

/* The words after one :::, and which of them comes next. */
struct list {
	char **items;
	size_t n, at;
};

struct input {
	const struct options *o;
	const char *name;  /* for people */
	struct list *list; /* or NULL; a command gets an item of each */
	size_t which;      /* of the lists the next item is of */
	int fd, wake_fd;
	bool ended;
	size_t at, n;
	char chunk[CHUNK];
};

/* An empty list has nothing to go with the items of the others: then no item comes at all. */
static bool
open_lists(struct input *in)
{
	char **p = in->o->items;
	struct list *l;
	bool empty = false;
	size_t i;

	in->list = calloc(in->o->lists, sizeof(*in->list));
	for (i = 0; in->list != NULL && i < in->o->lists; i++) {
		l = &in->list[i];
		l->items = p;
		while (p[l->n] != NULL)
			l->n++;
		p += l->n + 1;
		empty = empty || l->n == 0;
	}
	if (empty)
		in->list[0].n = 0;
	return in->list != NULL;
}

struct input *
input_open(const struct options *o, int wake_fd)
{
	struct input *in = calloc(1, sizeof(*in));

	if (in != NULL)
		in->o = o;
	if (in == NULL || (o->lists > 0 && !open_lists(in))) {
		screen_say(NULL, "no memory to read items");
		free(in);
		return NULL;
	}
	in->wake_fd = wake_fd;
	in->name = "stdin";
	if (o->arg_file != NULL && strcmp(o->arg_file, "-") != 0) {
		in->name = o->arg_file;
		/* O_NONBLOCK: the wait for a FIFO's writer is in poll(2), which wake_fd ends. */
		in->fd = open(o->arg_file, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
		if (in->fd == -1) {
			screen_say(NULL, "--arg-file %s: %s", o->arg_file, strerror(errno));
			free(in);
			return NULL;
		}
	}
	return in;
}

/* The next item of the lists; NULL at the end.  The last list goes round first. */
static const char *
list_next(struct input *in)
{
	struct list *l = &in->list[in->which];
	const char *item;
	size_t i;

	if (in->list[0].at == in->list[0].n)
		return NULL;
	item = l->items[l->at];
	if (++in->which < in->o->lists)
		return item;
	in->which = 0;
	for (i = in->o->lists; i-- > 0 && ++in->list[i].at == in->list[i].n && i > 0;)
		in->list[i].at = 0;
	return item;
}

/* After a read that failed: whether to try it again.  Keeps errno. */
static bool
is_background(int fd)
{
	int error = errno;
	bool again = error == EIO && conduct_await_terminal(fd, SIGTTIN);

	errno = error;
	return again;
}

/* False at the end, after an error, or when no more items are wanted. */
static bool
read_chunk(struct input *in, bool *failed)
{
	struct pollfd ready[] = { { .fd = in->fd, .events = POLLIN },
				  { .fd = in->wake_fd, .events = POLLIN } };
	ssize_t n = -1;

	do {
		if (poll(ready, 2, -1) == -1 && errno != EINTR)
			break;
		if (ready[1].revents != 0)
			return false;
		n = read(in->fd, in->chunk, CHUNK);
	} while (n == -1 && (errno == EINTR || errno == EAGAIN || is_background(in->fd)));
	if (n == -1) {
		screen_say(NULL, "%s: %s", in->name, strerror(errno));
		*failed = true;
	}
	in->at = 0;
	in->n = n > 0 ? (size_t)n : 0;
	in->ended = n <= 0;
	return n > 0;
}

static bool
append(char **item, size_t *size, const char *from, size_t n)
{
	char *grown = realloc(*item, *size + n + 1);

	if (grown == NULL)
		return false;
	memcpy(grown + *size, from, n);
	*size += n;
	grown[*size] = '\0';
	*item = grown;
	return true;
}

/* The bytes up to the next delimiter or the end; NULL if no item is left. */
static char *
read_item(struct input *in, bool *failed)
{
	const char *from, *end;
	char *item = NULL;
	size_t size = 0, n;

	while (in->at < in->n || (!in->ended && read_chunk(in, failed))) {
		from = in->chunk + in->at;
		n = in->n - in->at;
		end = memchr(from, in->o->delimiter, n);
		if (end != NULL)
			n = (size_t)(end - from);
		in->at += n + (end != NULL);
		if (in->o->delimiter != '\0' && memchr(from, '\0', n) != NULL) {
			screen_say(NULL, "%s contains a NUL: for items that end with a NUL use -0",
				   in->name);
			*failed = true;
		} else if (size + n > LONGEST_WORD) {
			screen_say(NULL,
				   "%s: an item has more than %d bytes: the kernel accepts no "
				   "longer argument",
				   in->name, LONGEST_WORD);
			*failed = true;
		} else if (!append(&item, &size, from, n)) {
			screen_say(NULL, "no memory for an item");
			*failed = true;
		}
		if (*failed)
			break;
		if (end != NULL)
			return item;
	}
	if (*failed || !in->ended) {
		free(item);
		item = NULL;
	}
	return item;
}

char *
input_next(struct input *in, bool *failed)
{
	const char *given;
	char *item;

	*failed = false;
	if (in->list != NULL) {
		given = list_next(in);
		item = given != NULL ? strdup(given) : NULL;
		*failed = given != NULL && item == NULL;
		if (*failed)
			screen_say(NULL, "no memory for an item");
		return item;
	}
	do {
		item = read_item(in, failed);
		if (item == NULL || *item != '\0' || !in->o->lines)
			return item;
		free(item);
	} while (true);
}

/* Counts the items of a regular file, without moving its offset. */
static uint64_t
count_items(const struct input *in)
{
	char text[CHUNK], last = in->o->delimiter;
	off_t at = lseek(in->fd, 0, SEEK_CUR);
	uint64_t total = 0;
	ssize_t n, i;

	for (; (n = pread(in->fd, text, sizeof(text), at)) > 0; at += n) {
		for (i = 0; i < n; i++) {
			if (text[i] == in->o->delimiter && (!in->o->lines || last != text[i]))
				total++;
			last = text[i];
		}
	}
	return total + (last != in->o->delimiter);
}

/* How many items the lists make, which are an item of each list for a command; 0: too many to count. */
static uint64_t
count_lists(const struct input *in)
{
	uint64_t total = in->o->lists;
	size_t i;

	for (i = 0; i < in->o->lists; i++)
		if (__builtin_mul_overflow(total, in->list[i].n, &total))
			return 0;
	return total;
}

uint64_t
input_total(const struct input *in)
{
	uint64_t total = 0;
	struct stat st;

	if (in->list != NULL)
		total = count_lists(in);
	else if (fstat(in->fd, &st) == 0 && S_ISREG(st.st_mode))
		total = count_items(in);
	return total / in->o->per_command + (total % in->o->per_command > 0);
}

void
input_close(struct input *in)
{
	if (in == NULL)
		return;
	if (in->fd > 0)
		close(in->fd);
	free(in->list);
	free(in);
}
