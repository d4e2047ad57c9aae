/*
 * limiter.c - opening a limiter, and steering one.
 */
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cancel.h"
#include "place.h"

int
flk_attach(struct flk **limiter, const char *name, const struct flk_options *options)
{
	int cancel FLKI_RESTORED = flki_no_cancel();
	bool is_path = strchr(name, '/') != NULL;
	bool make = options == NULL || !options->existing;
	int dirfd = AT_FDCWD, error;
	struct place place = { .dir = NULL };
	struct flk *f;
	size_t size;

	if (is_path && strlen(name) >= PLACE_MAX)
		return -ENAMETOOLONG;
	if (!is_path && (error = flki_place_open(&place, name, make, &dirfd)) != 0)
		return error;
	size = flki_place_size(&place, name);
	f = calloc(1, sizeof(*f) + size);
	error = f != NULL ? flki_place_join(&place, name, f->path, size) : -ENOMEM;
	if (error != 0)
		goto out;
	atomic_store(&f->users, 1);
	atomic_store(&f->ahead_ns, INT64_MIN);
	if (options != NULL) {
		f->stuck = options->stuck;
		f->inside = options->inside;
		f->context = options->context;
	}
	if (f->inside != NULL)
		f->inside(f->context, true);
	error = flki_file_open(&f->file, dirfd, name, options);
	if (f->inside != NULL)
		f->inside(f->context, false);
out:
	if (error == 0)
		*limiter = f;
	else
		free(f);
	if (dirfd != AT_FDCWD)
		close(dirfd);
	return error;
}

int
flk_locate(const char *name, char *path, size_t size)
{
	struct place place = { .dir = NULL };
	int error = strchr(name, '/') == NULL ? flki_place_choose(&place, name) : 0;

	return error != 0 ? error : flki_place_join(&place, name, path, size);
}

void
flki_share(struct flk *f)
{
	atomic_fetch_add(&f->users, 1);
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
	uint32_t declared = __atomic_load_n(&f->file.h->declared, __ATOMIC_RELAXED);

	return declared != 0 ? declared : flk_cpus(100);
}
