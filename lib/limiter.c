/*
 * limiter.c - opening a limiter, and steering one.
 */
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "place.h"

int
flk_attach(struct flk **limiter, const char *name, const struct flk_options *options)
{
	bool is_path = strchr(name, '/') != NULL;
	char path[PLACE_MAX];
	int dirfd = AT_FDCWD, error;
	struct flk *f;

	if (is_path && strlen(name) >= sizeof(path))
		return -ENAMETOOLONG;
	if (is_path)
		memcpy(path, name, strlen(name) + 1);
	else if ((error = flki_place_find(name, &dirfd, path)) != 0)
		return error;
	f = calloc(1, sizeof(*f) + strlen(path) + 1);
	if (f == NULL) {
		error = -ENOMEM;
		goto out;
	}
	memcpy(f->path, path, strlen(path) + 1);
	atomic_store(&f->users, 1);
	error = flki_file_open(&f->file, dirfd, is_path ? path : name, options);
	if (error == 0)
		*limiter = f;
	else
		free(f);
out:
	if (dirfd != AT_FDCWD)
		close(dirfd);
	return error;
}

int
flk_locate(const char *name, char *path, size_t size)
{
	char found[PLACE_MAX];
	int error;

	if (strchr(name, '/') == NULL) {
		if ((error = flki_place_path(name, found)) != 0)
			return error;
		name = found;
	}
	if (strlen(name) >= size)
		return -ENAMETOOLONG;
	memcpy(path, name, strlen(name) + 1);
	return 0;
}

void
flki_put(struct flk *f)
{
	if (atomic_fetch_sub(&f->users, 1) != 1)
		return;
	flki_file_close(&f->file);
	free(f);
}

void
flk_detach(struct flk *f)
{
	if (f != NULL)
		flki_put(f);
}

const char *
flk_path(const struct flk *f)
{
	return f->path;
}

uint64_t
flk_identity(const struct flk *f)
{
	return f->file.h->birth;
}

int
flk_verify(const struct flk *f)
{
	return flki_file_verify(&f->file);
}

pid_t
flk_stuck_pid(const struct flk *f)
{
	return (pid_t)atomic_load(&f->stuck_pid);
}

uint32_t
flk_declared(const struct flk *f)
{
	return __atomic_load_n(&f->file.h->declared, __ATOMIC_RELAXED);
}

/* ---- steering ---- */

/*
 * The head of the line is woken before anything changes: if we are killed after the change and
 * before its consequences, it is already on its way to the lock, and carries on.
 */
static int
steer(struct flk *f, int (*change)(struct state *, int64_t), int64_t value)
{
	struct flk_taker me = { .flk = f, .slot = NIL, .guard_fd = -1 };
	struct state st;
	int error, damage;

	error = flki_enter(&me, &st, true);
	if (error == 0) {
		flki_state_rouse(&st);
		error = change(&st, value);
		if (error == 0)
			flki_state_grant(&st);
		damage = flki_quit(&me, &st);
		error = damage != 0 ? damage : error;
	}
	flki_drop_slot(&me);
	return error;
}

static int
change_limit(struct state *st, int64_t limit)
{
	st->h->declared = (uint32_t)limit;
	return 0;
}

static int
change_override(struct state *st, int64_t limit)
{
	st->h->override = limit;
	return 0;
}

static int
change_paused(struct state *st, int64_t paused)
{
	st->h->paused = paused != 0;
	return 0;
}

static int
change_closed(struct state *st, int64_t closed)
{
	st->h->closed = closed != 0;
	if (closed)
		flki_state_evict_all(st, -FLK_CLOSED);
	return 0;
}

static int
change_withheld(struct state *st, int64_t units)
{
	if ((uint64_t)units > st->h->withheld)
		return -FLK_OVERRELEASE;
	st->h->withheld -= (uint64_t)units;
	return 0;
}

int
flk_set_limit(struct flk *f, uint32_t limit)
{
	return limit < 1 || limit > FLK_MAX_UNITS ? -EINVAL : steer(f, change_limit, limit);
}

int
flk_override(struct flk *f, int64_t limit)
{
	if (limit != FLK_AUTO && (limit < 0 || limit > FLK_MAX_UNITS))
		return -EINVAL;
	return steer(f, change_override, limit);
}

int
flk_pause(struct flk *f)
{
	return steer(f, change_paused, 1);
}

int
flk_resume(struct flk *f)
{
	return steer(f, change_paused, 0);
}

int
flk_close(struct flk *f)
{
	return steer(f, change_closed, 1);
}

int
flk_reopen(struct flk *f)
{
	return steer(f, change_closed, 0);
}

int
flk_restore(struct flk *f, uint32_t units)
{
	return steer(f, change_withheld, units);
}
