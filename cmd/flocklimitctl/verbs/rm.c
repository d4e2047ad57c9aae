/* SPDX-License-Identifier: ISC */
/*
 * rm.c - the verb rm: removes limiters that no taker uses.
 */
#include "ctl.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "explain.h"
#include "limiters.h"
#include "processes.h"
#include "say.h"
#include "kind.h"

static int
in_use(const char *name, const char *path)
{
	char pids[200] = "";
	pid_t pid[HEIRS];
	struct stat file;
	size_t n = 0, i, at = 0;

	if (stat(path, &file) == 0)
		n = processes_with_open(&file, pid, HEIRS);
	for (i = 0; i < n && at + 20 < sizeof(pids); i++)
		at += (size_t)snprintf(pids + at, sizeof(pids) - at, " %d", (int)pid[i]);
	say(name, "%s: it can't be used any more, but processes have it open%s%s: let them end",
	    path, n > 0 ? ":" : "", pids);
	return NO;
}

/*
 * A file that can't be opened as a limiter has no list of takers: the kernel is asked whether a
 * process has it open.
 */
static int
discard(const struct ctl *c, const char *name, const char *path, int opening)
{
	int error = here.operating->discard(strchr(path, '/') != NULL ? path : name);

	if (error == 0)
		return DONE;
	if (c->idle && (error == -FLK_BUSY || error == -ENOENT || error == -FLK_NOTLIMITER))
		return DONE;
	if (error == -FLK_BUSY)
		return in_use(name, path);
	if (error == -ENOTSUP || error == -EACCES) {
		say(name,
		    "%s: %s; flocklimitctl can't tell here whether a process has it open (%s): "
		    "remove it with rm(1) when none has",
		    path, explain(opening), strerror(-error));
		return FAILED;
	}
	return error;
}

static int
remove_one(const struct ctl *c, const struct visit *v, void *ctx)
{
	int error = v->error;

	(void)ctx;
	if (v->f != NULL)
		error = c->idle ? flk_remove_unused(v->f) : flk_remove(v->f);
	switch (-error) {
	case 0:
		return DONE;
	case FLK_BUSY:
	case FLK_GONE:
		if (c->idle)
			return DONE;
		break;
	case FLK_NOTLIMITER:
	case FLK_NOTFILE:
	case FLK_SYMLINK:
	case FLK_FOREIGN: /* not a limiter of this user */
		if (c->idle && c->words + c->files == 0)
			return DONE;
		break;
	case FLK_DAMAGED:
	case FLK_VERSION:
	case ENOENT: /* an empty file, or one of another boot */
		if (v->f == NULL)
			return discard(c, v->name, v->path, error);
		break;
	default:
		break;
	}
	if (error != -FLK_BUSY)
		return error;
	say(v->name, "it is in use: flocklimitctl show lists its holders and waiters");
	return NO;
}

int
remove_it(const struct ctl *c)
{
	if (!c->idle && c->words + c->files == 0) {
		say(NULL, "rm: which limiters? NAME..., or --idle for all unused limiters");
		return FAILED;
	}
	return for_each(c, remove_one, NULL);
}
