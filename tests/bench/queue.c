/* SPDX-License-Identifier: ISC */
#include "queue.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "parked.h"
#include "world.h"

#define PATIENCE_S 120

void
queue_open(struct queue *q)
{
	static int opened;
	char name[32];
	int fd;

	memset(q, 0, sizeof(*q));
	snprintf(name, sizeof(name), "marks.%d", opened++);
	world_path(q->file, name);
	fd = open(q->file, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd == -1 || ftruncate(fd, (off_t)sizeof(*q->m)) == -1)
		die("%s: %s", q->file, strerror(errno));
	q->m = mmap(NULL, sizeof(*q->m), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (q->m == MAP_FAILED)
		die("%s: %s", q->file, strerror(errno));
	close(fd);
}

void
queue_close(struct queue *q)
{
	munmap(q->m, sizeof(*q->m));
	unlink(q->file);
}

static void
start(struct queue *q, bool hold)
{
	struct command c = *q->limiter;
	char index[16];

	if (q->count >= MARKS)
		die("%s: too many waiters", c.label);
	snprintf(index, sizeof(index), "%d", q->count);
	c.word[c.words++] = (char *)(uintptr_t)q->mark;
	c.word[c.words++] = q->file;
	c.word[c.words++] = index;
	if (hold)
		c.word[c.words++] = (char *)(uintptr_t) "hold";
	c.word[c.words] = NULL;
	q->pid[q->count++] = command_start(&c, NULL);
}

/* Until the word is `wanted'. */
static void
await(struct queue *q, _Atomic uint32_t *word, uint32_t wanted)
{
	struct timespec patience = { .tv_sec = PATIENCE_S };
	uint32_t seen;

	while ((seen = *word) != wanted)
		if (syscall(SYS_futex, word, FUTEX_WAIT, seen, &patience, NULL, 0) == -1 &&
		    errno == ETIMEDOUT)
			die("%s: stuck: %u of %u commands have ended", q->limiter->label,
			    (unsigned)q->m->done, (unsigned)q->m->all);
}

void
queue_begin(struct queue *q, const struct command *limiter, const char *mark)
{
	q->limiter = limiter;
	q->mark = mark;
	q->count = 0;
	memset(q->m, 0, sizeof(*q->m));
	start(q, true);
	await(q, &q->m->held, 1);
}

void
queue_join(struct queue *q, int n, bool in_order)
{
	int i, first = q->count;

	for (i = 0; i < n; i++) {
		start(q, false);
		if (q->stands != NULL)
			q->stands(q);
		else if (in_order)
			parked_wait(q->pid[first + i], q->limiter->label);
	}
	for (i = 0; i < n && !in_order && q->stands == NULL; i++)
		parked_wait(q->pid[first + i], q->limiter->label);
}

void
queue_release(struct queue *q)
{
	q->m->release = 1;
	syscall(SYS_futex, &q->m->release, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* This process sleeps meanwhile: the last of these commands wakes it. */
void
queue_await(struct queue *q, uint32_t ended)
{
	q->m->all = ended;
	await(q, &q->m->done, ended);
}

/* All are reaped afterwards. */
void
queue_drain(struct queue *q)
{
	int i;

	q->m->all = (uint32_t)q->count;
	queue_release(q);
	queue_await(q, (uint32_t)q->count);
	for (i = 0; i < q->count; i++)
		command_finish(q->pid[i], q->limiter->label);
}
