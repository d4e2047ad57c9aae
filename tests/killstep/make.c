/* SPDX-License-Identifier: ISC */
/*
 * make.c - killed while a limiter comes to be, or to have more room.
 */
#include "killstep.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>

#include "../helpers/common.h"

static const struct flk_request all_of_it = { .weight = 2, .limit = 2 };

int
be_made(struct part *p)
{
	return flk_attach(&p->f, p->path, NULL);
}

int
grow_it(struct part *p)
{
	return flk_acquire(p->t, &all_of_it, NULL);
}

void
empty_file(struct stage *s)
{
	int fd = open(s->path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);

	if (fd == -1 || close(fd) == -1)
		tap_bail("%s", s->path);
}

/* Somebody inside, somebody's permit, nonsense. */
static struct flk *
in_use(struct stage *s)
{
	struct flk *f = attach(s->path);
	unsigned i;

	atomic_store(&f->file.h->lock, UINT64_C(0x100000005));
	for (i = 0; i < FIRST_SLOTS; i++) {
		atomic_store(&f->file.slots[i].alive.word, 1 + i);
		atomic_store(&f->file.slots[i].state, i % 2 == 0 ? HELD : WAITING);
		f->file.slots[i].weight = 1000;
	}
	return f;
}

/* As a crash of the machine left it. */
void
old_boot(struct stage *s)
{
	struct flk *f = in_use(s);

	f->file.h->boot[0] ^= 1;
	flk_detach(f);
}

/* As cp(1) makes one of a limiter in use. */
void
a_copy(struct stage *s)
{
	struct flk *f = in_use(s);

	f->file.h->bound.born_ns ^= 1;
	flk_detach(f);
}

/* Everybody on the stage has a slot; one of them takes all the others. */
static int
take_every_slot(struct part *p)
{
	struct flk_taker *t;
	struct flk_place place;
	uint32_t have;
	int error;

	for (have = VICTIM; have < FIRST_SLOTS; have++)
		if ((error = flk_taker_new(&t, p->f)) != 0 || (error = flk_place(t, &place)) != 0)
			return error;
	return 0;
}

void
others_fill_it(struct stage *s)
{
	act(s, FOURTH, take_every_slot);
	if (!s->failed && atomic_load(&s->eye->file.h->nslots) != FIRST_SLOTS)
		stage_fail(s, "it has grown before its time");
}

/* The next event but a few needs more room. */
void
history_runs_short(struct stage *s)
{
	struct header *h = s->eye->file.h;

	atomic_store(&h->events, atomic_load(&h->event_room) / 2);
}

/* Nothing lies beside the file, and what has a name is whole or was there before. */
static void
check_directory(struct stage *s)
{
	char dir[sizeof(s->path)];
	char *base;
	struct dirent *e;
	struct stat sb;
	DIR *d;

	strcpy(dir, s->path);
	base = strrchr(dir, '/');
	*base++ = '\0';
	if ((d = opendir(dir)) == NULL)
		tap_bail("%s", dir);
	while ((e = readdir(d)) != NULL)
		if (e->d_name[0] != '.' && strcmp(e->d_name, base) != 0)
			stage_fail(s, "%s is left behind", e->d_name);
	closedir(d);
	if (s->op->before == NULL && stat(s->path, &sb) == 0 && sb.st_size < (off_t)HEADER)
		stage_fail(s, "half a limiter has a name");
}

/* One who comes then needs a slot: where it was to grow, one that was not there. */
void
newcomer_finds_it_whole(struct stage *s)
{
	check_directory(s);
	act(s, VICTIM, idle);
	act(s, STEWARD, idle);
	if (!s->failed && s->eye == NULL)
		s->eye = attach(s->path);
}
