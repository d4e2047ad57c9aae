/* SPDX-License-Identifier: ISC */
/*
 * limiter.c - what a limiter of a store knows without asking the store: above all, its name.
 */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fnv.h"
#include "internal.h"
#include "name.h"
#include "operator/session.h"
#include "settings.h"
#include "share.h"

static _Thread_local char last_trouble[FLEET_TEXT] = "the store can't be used";

int
store_trouble(const char *text)
{
	talk_copy(last_trouble, sizeof(last_trouble), text);
	return -FLK_STORE;
}

const char *
store_strerror(int code)
{
	if (code == -FLK_STORE || code == -FLK_LOST)
		return last_trouble;
	return flk_strerror(code);
}

int
store_locate(const char *name, char *path, size_t size)
{
	if (!flki_is_name(name))
		return -FLK_BADNAME;
	if ((size_t)snprintf(path, size, "%s/%s", settings.url.shown, name) >= size)
		return -ENAMETOOLONG;
	return 0;
}

/* The limiter file of this machine that has the same name: --local. */
static int
local_attach(struct flk **local, const char *name, const struct flk_options *options)
{
	struct flk_options ours = { .mode = 0 };

	if (options != NULL) {
		ours.stuck = options->stuck;
		ours.inside = options->inside;
		ours.context = options->context;
	}
	return flk_attach(local, name, &ours);
}

int
store_attach(struct flk **limiter, const char *name, const struct flk_options *options)
{
	struct store_limiter *f;
	int error;

	if (!flki_is_name(name))
		return -FLK_BADNAME;
	f = calloc(1, sizeof(*f));
	if (f == NULL)
		return -ENOMEM;
	error = store_locate(name, f->where, sizeof(f->where));
	if (error == 0 && settings.local != 0)
		error = local_attach(&f->local, name, options);
	if (error != 0) {
		free(f);
		return error;
	}
	talk_copy(f->name, sizeof(f->name), name);
	f->fallback = options != NULL && options->limit != 0 ? options->limit : flk_cpus(100);
	f->base.ops = &store_ops;
	atomic_store(&f->base.users, 1);
	pthread_mutex_init(&f->lock, NULL);
	*limiter = (struct flk *)f;
	return 0;
}

void
store_declares(struct flk *limiter, unsigned which, const struct flk_settings *to)
{
	struct store_limiter *f = (struct store_limiter *)limiter;

	f->which = which;
	f->pace = to->pace;
	f->fair = to->fair;
}

void
store_close(struct flk *limiter)
{
	struct store_limiter *f = (struct store_limiter *)limiter;
	struct common_guard *g;

	while ((g = SLIST_FIRST(&f->guards)) != NULL) {
		SLIST_REMOVE_HEAD(&f->guards, entry);
		close(g->end);
		free(g);
	}
	session_close(f->session);
	flk_detach(f->local);
	pthread_mutex_destroy(&f->lock);
	free(f);
}

const char *
store_path(const struct flk *f)
{
	return ((const struct store_limiter *)f)->where;
}

static uint64_t
hashed(uint64_t hash, const char *p)
{
	return fnv(hash, p, strlen(p));
}

/*
 * The same for the same name in the same store, on every machine.  A URL without a path hashes as
 * the URL with the default path: the engine keeps both in one place, and a nested taker that took
 * them for two limiters would wait behind the permit that it runs under.
 */
uint64_t
store_identity(const struct flk *f)
{
	uint64_t hash = hashed(FNV_START, settings.url.shown);

	if (*settings.url.path == '\0')
		hash = hashed(hash, URL_PATH);
	return hashed(hashed(hash, "/"), ((const struct store_limiter *)f)->name);
}

int
store_verify(const struct flk *f)
{
	(void)f;
	return 0;
}

pid_t
store_stuck_pid(const struct flk *f)
{
	(void)f;
	return 0;
}

uint32_t
store_declared(const struct flk *f)
{
	return ((const struct store_limiter *)f)->fallback;
}

int
store_map_new(struct flk_map **map, const char *name, const struct flk_map_options *options)
{
	link_begin();
	return flki_map_new(map, name, options, store_attach);
}

/* ---- the table ---- */

_Static_assert(offsetof(struct store_limiter, base) == 0, "lib/api.c finds the table there");
_Static_assert(offsetof(struct store_taker, flk) == 0, "lib/api.c finds the limiter there");

/* clang-format off */
#define ENTRY(type, name, ...) .name = store_##name,
/* clang-format on */

const struct flk_ops store_ops = { FLKI_OPS(ENTRY) };
