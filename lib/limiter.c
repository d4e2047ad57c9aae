/* SPDX-License-Identifier: ISC */
/*
 * limiter.c - opening a limiter and closing it, and what is known of an open one without the lock.
 */
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cancel.h"
#include "directory.h"
#include "reader.h"
#include "share.h"

int
flk_attach(struct flk **limiter, const char *name, const struct flk_options *options)
{
	int cancel FLKI_RESTORED = flki_no_cancel();
	bool is_path = strchr(name, '/') != NULL;
	bool make = options == NULL || !(options->existing || options->reading);
	int dirfd = AT_FDCWD, error;
	struct directory directory = { .dir = NULL };
	struct flk *f;
	size_t size;

	if (options != NULL && !FLKI_IS_KNOWN(options))
		return -EINVAL;
	if (is_path && strlen(name) >= PATH_ROOM)
		return -ENAMETOOLONG;
	if (!is_path && (error = flki_directory_open(&directory, name, make, &dirfd)) != 0)
		return error;
	size = flki_directory_size(&directory, name);
	f = calloc(1, sizeof(*f) + size);
	error = f != NULL ? flki_directory_join(&directory, name, f->path, size) : -ENOMEM;
	if (error != 0)
		goto out;
	f->base.ops = &flki_local;
	atomic_store(&f->base.users, 1);
	atomic_store(&f->ahead_ns, INT64_MIN);
	if (options != NULL) {
		f->stuck = options->stuck;
		f->inside = options->inside;
		f->context = options->context;
	}
	if (f->inside != NULL)
		f->inside(f->context, true);
	error = options != NULL && options->reading
		    ? flki_reader_open(f, dirfd, name)
		    : flki_file_open(&f->file, dirfd, name, options);
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
	struct directory directory = { .dir = NULL };
	int error = strchr(name, '/') == NULL ? flki_directory_choose(&directory, name) : 0;

	return error != 0 ? error : flki_directory_join(&directory, name, path, size);
}

void
flki_local_close(struct flk *f)
{
	flki_file_close(&f->file);
	free(f);
}

const char *
flki_local_path(const struct flk *f)
{
	return f->path;
}

uint64_t
flki_local_identity(const struct flk *f)
{
	return f->file.h->birth;
}

int
flki_local_verify(const struct flk *f)
{
	return flki_file_verify(&f->file);
}

pid_t
flki_local_stuck_pid(const struct flk *f)
{
	return (pid_t)atomic_load(&f->stuck_pid);
}

uint32_t
flki_local_declared(const struct flk *f)
{
	uint32_t declared = __atomic_load_n(&f->file.h->declared, __ATOMIC_RELAXED);

	return declared != 0 ? declared : flk_cpus(100);
}

/* ---- the table ---- */

_Static_assert(offsetof(struct flk, base) == 0, "api.c finds the table there");
_Static_assert(offsetof(struct flk_taker, flk) == 0, "api.c finds the limiter there");

/* clang-format off */
#define ENTRY(type, name, ...) .name = flki_local_##name,
/* clang-format on */

const struct flk_ops flki_local = { FLKI_OPS(ENTRY) FLKI_OPS_OF_FILES(ENTRY) };
