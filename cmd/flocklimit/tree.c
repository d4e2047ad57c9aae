/* SPDX-License-Identifier: ISC */
#include "tree.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/prctl.h>

#include "proc.h"

int
tree_begin(void)
{
	struct proc_stat self;

	if (flki_proc_stat(0, &self) != 0)
		return ENOENT; /* without /proc nothing is found */
	return prctl(PR_SET_CHILD_SUBREAPER, 1) == -1 ? errno : 0;
}

/* ---- a list of processes ---- */

struct found {
	pid_t pid, parent;
	bool ended;               /* a zombie */
	bool below;               /* us, and it is not OURS */
	unsigned long long start; /* another process with its number began at another time */
};

struct list {
	struct found *of;
	size_t n;
};

static const struct found *
find(const struct list *l, pid_t pid, unsigned long long start)
{
	size_t i;

	for (i = 0; i < l->n; i++)
		if (l->of[i].pid == pid && l->of[i].start == start)
			return &l->of[i];
	return NULL;
}

/* A process whose first thread has ended is shown as a zombie, and its other threads run on. */
static bool
has_ended(const struct proc_stat *s)
{
	return (s->state == 'Z' || s->state == 'X') && s->threads <= 1;
}

/*
 * False where the list is not whole, as memory or descriptors are short, or a process may not be seen: the
 * next round may have more.
 */
static bool
read_all(struct list *l)
{
	DIR *dir = opendir("/proc");
	bool whole = dir != NULL;
	struct proc_stat s;
	struct found *more;
	pid_t pid;
	int error;

	l->of = NULL;
	l->n = 0;
	while ((pid = flki_next_number(dir)) != -1) {
		if ((error = flki_proc_stat(pid, &s)) != 0) {
			whole &= error == -ENOENT || error == -ESRCH;
			continue;
		}
		more = realloc(l->of, (l->n + 1) * sizeof(*more));
		if (more == NULL) {
			whole = false;
			break;
		}
		l->of = more;
		l->of[l->n++] = (struct found){
			.pid = pid, .parent = s.parent, .ended = has_ended(&s), .start = s.start
		};
	}
	if (dir != NULL)
		closedir(dir);
	return whole;
}

/* A child may stand before its parent in the list, so this is repeated while it finds something. */
static void
mark_below(struct list *l, pid_t ours)
{
	bool again = true;
	size_t i, k;

	while (again) {
		again = false;
		for (i = 0; i < l->n; i++) {
			if (l->of[i].below || l->of[i].pid == ours)
				continue;
			for (k = 0; k < l->n; k++)
				if (l->of[k].below && l->of[k].pid == l->of[i].parent)
					break;
			l->of[i].below = k < l->n || l->of[i].parent == getpid();
			again |= l->of[i].below;
		}
	}
}

bool
tree_each(pid_t ours, void (*visit)(void *context, pid_t pid), void *context)
{
	struct list now;
	bool whole = read_all(&now);
	size_t i;

	mark_below(&now, ours);
	for (i = 0; i < now.n; i++)
		if (now.of[i].below && !now.of[i].ended)
			visit(context, now.of[i].pid);
	free(now.of);
	return whole;
}

bool
tree_is_seen(void)
{
	char self[16] = "";
	struct proc_stat first;

	return readlink("/proc/self", self, sizeof(self) - 1) > 0 && atoi(self) == getpid() &&
	       flki_proc_stat(1, &first) == 0;
}

/* ---- signals ---- */

/* To all that is below, but was not in the list before.  Returns how many. */
static unsigned
signal_new(const struct list *l, const struct list *before, int sig, pid_t command)
{
	const struct found *known;
	const struct found *p;
	unsigned sent = 0;
	size_t i;

	for (i = 0; i < l->n; i++) {
		p = &l->of[i];
		if (!p->below || p->ended || p->pid == command)
			continue;
		known = find(before, p->pid, p->start);
		if (known != NULL && known->below)
			continue;
		kill(p->pid, sig);
		if (sig == SIGTERM)
			kill(p->pid, SIGCONT); /* what is stopped can't end */
		sent++;
	}
	return sent;
}

static unsigned
count(const struct list *l, pid_t command)
{
	unsigned n = 0;
	size_t i;

	for (i = 0; i < l->n; i++)
		n += l->of[i].below && !l->of[i].ended && l->of[i].pid != command;
	return n;
}

unsigned
tree_signal(int sig, pid_t command, pid_t ours)
{
	struct list before = { .n = 0 }, now;
	unsigned n, sent;

	do {
		read_all(&now);
		mark_below(&now, ours);
		n = count(&now, command);
		sent = sig != 0 ? signal_new(&now, &before, sig, command) : 0;
		free(before.of);
		before = now;
	} while (sent > 0);
	free(now.of);
	return n;
}
