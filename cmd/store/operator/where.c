/* SPDX-License-Identifier: ISC */
/*
 * where.c - what an operator asks of limiters that are kept in a store.
 */
#include "kind.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "explain.h"
#include "machine.h"
#include "session.h"
#include "setting.h"
#include "settings.h"
#include "wrapper/internal.h"

/* gcc 12 loses sight of what take() keeps. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wanalyzer-malloc-leak"
#endif

static char said[URL_TEXT + FLEET_TEXT + 16];

struct list {
	char **name;
	size_t n;
};

static int
take(void *context, const struct fleet_answer *a)
{
	char *copy, path[URL_TEXT + FLK_NAME_MAX + 2];
	struct list *to = context;
	size_t i;

	to->name = calloc(a->n + 1, sizeof(*to->name));
	if (to->name == NULL)
		return -ENOMEM;
	for (i = 0; i < a->n; i++) {
		/* Other keys beside the limiters' may be anything; skip them. */
		if (store_locate(a->names[i], path, sizeof(path)) != 0)
			continue;
		if ((copy = strdup(a->names[i])) == NULL)
			return -ENOMEM;
		to->name[to->n++] = copy;
	}
	return 0;
}

static int
names(char ***name, size_t *n)
{
	struct fleet_question q = { .kind = ASK_LIST };
	struct list to = { .name = NULL };
	struct session *d;
	int error = session_open(&d, NULL);

	if (error == 0) {
		error = session_ask(d, &q, SESSION_PATIENCE, take, &to);
		session_close(d);
	}
	if (error != 0) {
		snprintf(said, sizeof(said), "%s: %s", settings.url.shown, explain(error));
		kind_forget(to.name, to.n);
		return error;
	}
	*name = to.name;
	*n = to.n;
	return 0;
}

static const char *
trouble(void)
{
	return said;
}

/* ---- the user and the container of a process ---- */

/* Reads all that fits of a file of /proc/PID: how much, or -errno. */
static ssize_t
read_proc(pid_t pid, const char *file, char *room, size_t size)
{
	char path[60];
	size_t used = 0;
	ssize_t n = 0;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
	if ((fd = open(path, O_RDONLY | O_CLOEXEC)) == -1)
		return -errno;
	while (used < size && (n = read(fd, room + used, size - used)) > 0)
		used += (size_t)n;
	if (n == -1)
		n = -errno;
	close(fd);
	return n < 0 ? n : (ssize_t)used;
}

/*
 * Whether the process runs a program of a store, or the wrapper that stands beside them, perhaps of another
 * version.
 */
static int
runs_ours(pid_t pid)
{
	static const char *const ours[] = { "store-", "flocklimit-wrapper" };
	char path[60], link[4096];
	const char *name;
	ssize_t n;
	size_t i;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	if ((n = readlink(path, link, sizeof(link) - 1)) == -1)
		return -errno;
	link[n] = '\0';
	name = strrchr(link, '/');
	name = name != NULL ? name + 1 : link;
	for (i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
		if (strncmp(name, ours[i], strlen(ours[i])) == 0)
			return 1;
	return 0;
}

/* Whether the process has that ticket in its environment: then it runs under the permit. */
static int
was_given(pid_t pid, uint64_t ticket)
{
	static char room[1 << 17];
	char sought[60];
	ssize_t n = read_proc(pid, "environ", room, sizeof(room));
	size_t size =
	    (size_t)snprintf(sought, sizeof(sought), "FLOCKLIMIT_TICKET=%" PRIu64, ticket);

	if (n < 0)
		return (int)n;
	/* With its final NUL. */
	return memmem(room, (size_t)n, sought, size + 1) != NULL;
}

static int
belongs(struct flk *f, const struct flk_entry *e, pid_t pid)
{
	int is = was_given(pid, e->ticket), runs;

	(void)f;
	if (is == 1)
		return 1;
	runs = runs_ours(e->pid);
	return runs != 0 ? runs : is;
}

/* The store does not know which process works: that would cost a write for each command. */
static bool
works(const struct flk_entry *e, pid_t pid)
{
	return was_given(pid, e->ticket) == 1;
}

/* ---- what a store does not have ---- */

static int
discard(const char *name)
{
	(void)name;
	return store_trouble("a store has no file that could be removed");
}

static int
order(unsigned which, const struct flk_settings *to)
{
	/* A store has no order that could be taken back. */
	if (!flki_settings_steer(which, to))
		return 0;
	return store_trouble(
	    "a store keeps no orders for new limiters: existing ones have this order, "
	    "new ones start as usual");
}

static int
orders(struct flk_settings *orders)
{
	*orders = flki_no_settings;
	return 0;
}

const struct operating store_operating = { .names = names,
					   .trouble = trouble,
					   .is_away = session_was_away,
					   .machine = machine_here,
					   .happened = session_happened,
					   .belongs = belongs,
					   .works = works,
					   .take_away = store_break,
					   .discard = discard,
					   .order = order,
					   .orders = orders,
					   .setup = store_setup };
