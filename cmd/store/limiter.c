/*
 * limiter.c - a limiter of a store, as far as it is no question for the store: its name.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "here.h"
#include "internal.h"
#include "settings.h"
#include "share.h"

static _Thread_local char last_trouble[ENGINE_TEXT] = "the store can't be used";

void
trouble(const char *text)
{
	talk_copy(last_trouble, sizeof(last_trouble), text);
}

const char *
flk_strerror(int code)
{
	if (code == -FLK_STORE || code == -FLK_LOST)
		return last_trouble;
	return here_strerror(code);
}

static bool
is_name(const char *name)
{
	static const char good[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				   "0123456789._+@%:-";
	size_t n = strlen(name);

	return n > 0 && n <= FLK_NAME_MAX && name[0] != '.' && name[0] != '-' &&
	       strspn(name, good) == n;
}

int
flk_locate(const char *name, char *path, size_t size)
{
	if (!is_name(name))
		return -FLK_BADNAME;
	if ((size_t)snprintf(path, size, "%s/%s", settings.url.shown, name) >= size)
		return -ENAMETOOLONG;
	return 0;
}

int
flk_attach(struct flk **limiter, const char *name, const struct flk_options *options)
{
	struct flk *f;
	int error;

	if (!is_name(name))
		return -FLK_BADNAME;
	f = calloc(1, sizeof(*f));
	if (f == NULL)
		return -ENOMEM;
	error = flk_locate(name, f->where, sizeof(f->where));
	if (error == 0 && settings.local != 0)
		error = here_open(&f->here, name, settings.local, options);
	if (error != 0) {
		free(f);
		return error;
	}
	talk_copy(f->name, sizeof(f->name), name);
	f->fallback = options != NULL && options->limit != 0 ? options->limit : flk_cpus(100);
	atomic_store(&f->limit, f->fallback);
	atomic_store(&f->users, 1);
	pthread_mutex_init(&f->lock, NULL);
	*limiter = f;
	return 0;
}

void
flki_share(struct flk *f)
{
	atomic_fetch_add(&f->users, 1);
}

void
flki_put(struct flk *f)
{
	struct common_guard *g;

	if (atomic_fetch_sub(&f->users, 1) != 1)
		return;
	while ((g = SLIST_FIRST(&f->guards)) != NULL) {
		SLIST_REMOVE_HEAD(&f->guards, entry);
		close(g->end);
		free(g);
	}
	here_close(f->here);
	pthread_mutex_destroy(&f->lock);
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
	return f->where;
}

/* FNV-1a, of one more piece of text. */
static uint64_t
hashed(uint64_t hash, const char *p)
{
	for (; *p != '\0'; p++)
		hash = (hash ^ (unsigned char)*p) * UINT64_C(1099511628211);
	return hash;
}

/*
 * The same name in the same store, from whatever machine.  A URL without a path hashes as the URL
 * with the default path: the engine keeps both in one place, and a nested taker that took them for
 * two limiters would wait behind the permit that it runs under.
 */
uint64_t
flk_identity(const struct flk *f)
{
	uint64_t hash = hashed(UINT64_C(14695981039346656037), settings.url.shown);

	if (*settings.url.path == '\0')
		hash = hashed(hash, URL_PATH);
	return hashed(hashed(hash, "/"), f->name);
}

int
flk_verify(const struct flk *f)
{
	(void)f;
	return 0;
}

pid_t
flk_stuck_pid(const struct flk *f)
{
	(void)f;
	return 0;
}

uint32_t
flk_declared(const struct flk *f)
{
	return atomic_load(&f->limit);
}
