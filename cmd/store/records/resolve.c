/* SPDX-License-Identifier: ISC */
/*
 * resolve.c - see resolve.h.  getaddrinfo() blocks for as long as the machine's resolver does, so a child
 * calls it, and writes what it finds into a pipe.
 *
 * R1  There is one child at a time, and it has a bounded time: a resolver that hangs costs one
 *     process, and nothing grows.
 * R2  The child keeps no descriptor but the pipe, and dies with its parent.
 * R3  We use its process id only until it is reaped, while the id is surely the child's own.
 */
#include "resolve.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "clock.h"
#include "now.h"
#include "process.h"

#define MOST  16           /* addresses of a name */
#define PAUSE (500 * MS)   /* between two look-ups, at first, */
#define LAST  (5 * SECOND) /* and when many in a row were of no use, unless less is asked */

unsigned resolver_patience_ms = 10000;

struct resolver {
	int epoll;
	const char *const *name;
	size_t n;
	resolver_found *found;
	void *context;
	pid_t pid;      /* 0: no child to reap */
	bool under_way; /* we still read what the child writes, from fd, until: */
	int fd;
	uint64_t until; /* when we kill the child */
	size_t first;   /* the next child begins with this name */
	uint64_t next;  /* no look-up before; UINT64_MAX: there is no name */
	uint64_t pause; /* from the next one's end to that */
	uint64_t pause_most;
};

/* What the child writes, whole, as it is less than PIPE_BUF: the addresses of the i-th host. */
struct line {
	size_t i;
	char addresses[1024];
};

/* ---- the child ----------------------------------------------------------------------------- */

/* Adds one address, unless there is no room for it. */
static void
add(struct line *line, const struct addrinfo *a)
{
	size_t n = strlen(line->addresses), room = sizeof(line->addresses) - n;
	char address[64];

	if (getnameinfo(a->ai_addr, a->ai_addrlen, address, sizeof(address), NULL, 0,
			NI_NUMERICHOST) == 0 &&
	    strlen(address) + 2 <= room)
		snprintf(line->addresses + n, room, "%s%s", n > 0 ? "," : "", address);
}

/* Skips a name that has no address: its old addresses are better than none. */
static void
resolve(const char *name, size_t i)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *list, *a;
	struct line line = { .i = i };
	int count = 0;

	if (getaddrinfo(name, NULL, &hints, &list) != 0)
		return;
	for (a = list; a != NULL && count < MOST; a = a->ai_next, count++)
		add(&line, a);
	freeaddrinfo(list);
	if (*line.addresses != '\0' &&
	    write(STDOUT_FILENO, &line, sizeof(line)) != (ssize_t)sizeof(line))
		_exit(1);
}

/* Makes its descriptors 0 to 2 the pipe, and closes the others: it must keep none of the parent's open. */
static _Noreturn void
run(const struct resolver *r, pid_t parent, int out)
{
	size_t i, at;
	int fd;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	prctl(PR_SET_NAME, "store-resolver");
	for (fd = 0; fd <= STDERR_FILENO; fd++)
		if (dup2(out, fd) == -1)
			_exit(1);
	process_close_from(STDERR_FILENO + 1);
	for (i = 0; i < r->n; i++) {
		at = (r->first + i) % r->n;
		if (r->name[at] != NULL)
			resolve(r->name[at], at);
	}
	_exit(0);
}

/* ---- the parent ---------------------------------------------------------------------------- */

/* False: the child may sleep in a file system that is away, and nobody waits for it then. */
static bool
is_reaped(struct resolver *r, int flags)
{
	if (r->pid != 0 && waitpid(r->pid, NULL, flags) == 0)
		return false;
	r->pid = 0;
	return true;
}

bool
resolver_looks(const struct resolver *r)
{
	return r->under_way;
}

bool
resolver_may_start(const struct resolver *r)
{
	return !r->under_way && flki_boottime_ns() >= r->next;
}

void
resolver_start(struct resolver *r)
{
	struct epoll_event event = { .events = EPOLLIN };
	pid_t parent = getpid();
	int pipes[2];

	if (!resolver_may_start(r) || !is_reaped(r, WNOHANG) || pipe2(pipes, O_CLOEXEC) == -1)
		return;
	r->pid = fork();
	if (r->pid == 0)
		run(r, parent, pipes[1]);
	close(pipes[1]);
	if (r->pid == -1) {
		r->pid = 0;
		close(pipes[0]);
		return;
	}
	fcntl(pipes[0], F_SETFL, O_NONBLOCK);
	r->fd = pipes[0];
	epoll_ctl(r->epoll, EPOLL_CTL_ADD, r->fd, &event);
	/* A name that hangs must not keep the other names from ever being looked up. */
	r->first = (r->first + 1) % r->n;
	r->until = flki_boottime_ns() + resolver_patience_ms * MS;
	r->under_way = true;
}

/*
 * exits: the child has closed its descriptors, so it is about to exit.  If the kernel reaped the child
 * (as when SIGCHLD is ignored), we don't kill it: R3.  A process that was forked meanwhile may keep the
 * pipe open, and epoll would report it for ever.
 */
static void
end(struct resolver *r, bool exits)
{
	epoll_ctl(r->epoll, EPOLL_CTL_DEL, r->fd, NULL);
	close(r->fd);
	r->under_way = false;
	if (is_reaped(r, WNOHANG))
		return;
	kill(r->pid, SIGKILL);
	is_reaped(r, exits ? 0 : WNOHANG);
}

void
resolver_was_useful(struct resolver *r)
{
	r->pause = PAUSE;
}

uint64_t
resolver_due(const struct resolver *r)
{
	return r->under_way ? r->until : UINT64_MAX;
}

void
resolver_step(struct resolver *r)
{
	struct line line;
	ssize_t n;

	if (!r->under_way)
		return;
	while ((n = read(r->fd, &line, sizeof(line))) == (ssize_t)sizeof(line))
		if (line.i < r->n && r->name[line.i] != NULL)
			r->found(r->context, line.i, line.addresses);
	if (n != 0 && flki_boottime_ns() < r->until)
		return;
	end(r, n == 0);
	r->next = flki_boottime_ns() + r->pause;
	r->pause = earlier(r->pause * 2, r->pause_most);
}

/* ---- beginning and end --------------------------------------------------------------------- */

bool
resolver_is_name(const char *host)
{
	struct in6_addr numeric;

	return *host != '/' && inet_pton(AF_INET6, host, &numeric) != 1 &&
	       inet_pton(AF_INET, host, &numeric) != 1;
}

struct resolver *
resolver_new(int epoll, const char *const *name, size_t n, uint64_t pause_most,
	     resolver_found *found, void *context)
{
	struct resolver *r = calloc(1, sizeof(*r));
	size_t i;

	if (r == NULL)
		return NULL;
	*r = (struct resolver){ .epoll = epoll,
				.name = name,
				.n = n,
				.found = found,
				.context = context,
				.next = UINT64_MAX,
				.pause = PAUSE,
				.pause_most = earlier(pause_most, LAST) };
	for (i = 0; i < n; i++)
		if (name[i] != NULL)
			r->next = 0;
	return r;
}

void
resolver_free(struct resolver *r)
{
	if (r != NULL && r->under_way)
		end(r, false);
	free(r);
}
