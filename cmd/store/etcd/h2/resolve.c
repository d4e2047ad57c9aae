/* SPDX-License-Identifier: ISC */
#include "resolve.h"

#include <fcntl.h>
#include <netdb.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "clock.h"
#include "process.h"

unsigned resolver_patience_ms = 10000;

#define MOST 16 /* addresses of a name */

/* What the child writes, whole, as it is less than PIPE_BUF: the addresses of the i-th name. */
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
run(pid_t parent, int out, const char *const *name, size_t n, size_t first)
{
	int fd;
	size_t i;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	prctl(PR_SET_NAME, "store-resolver");
	for (fd = 0; fd <= STDERR_FILENO; fd++)
		if (dup2(out, fd) == -1)
			_exit(1);
	process_close_from(STDERR_FILENO + 1);
	for (i = 0; i < n; i++) {
		size_t at = (first + i) % n;

		if (name[at] != NULL)
			resolve(name[at], at);
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
resolver_start(struct resolver *r, const char *const *name, size_t n)
{
	pid_t parent = getpid();
	int pipes[2];

	if (r->under_way || !is_reaped(r, WNOHANG) || pipe2(pipes, O_CLOEXEC) == -1)
		return false;
	r->pid = fork();
	if (r->pid == 0)
		run(parent, pipes[1], name, n, r->first);
	close(pipes[1]);
	if (r->pid == -1) {
		r->pid = 0;
		close(pipes[0]);
		return false;
	}
	fcntl(pipes[0], F_SETFL, O_NONBLOCK);
	r->fd = pipes[0];
	r->exits = false;
	/* A name that hangs must not keep the other names from ever being looked up. */
	r->first = (r->first + 1) % n;
	r->until = flki_boottime_ns() + resolver_patience_ms * MS;
	r->under_way = true;
	return true;
}

/* If the kernel reaped the child (as when SIGCHLD is ignored), we don't kill it: R3. */
void
resolver_end(struct resolver *r)
{
	if (!r->under_way)
		return;
	close(r->fd);
	r->under_way = false;
	if (is_reaped(r, WNOHANG))
		return;
	kill(r->pid, SIGKILL);
	is_reaped(r, r->exits ? 0 : WNOHANG);
}

uint64_t
resolver_due(const struct resolver *r)
{
	return r->under_way ? r->until : UINT64_MAX;
}

bool
resolver_step(struct resolver *r, resolver_finds *finds, void *context)
{
	struct line line;
	ssize_t n;

	if (!r->under_way)
		return false;
	while ((n = read(r->fd, &line, sizeof(line))) == (ssize_t)sizeof(line))
		finds(context, line.i, line.addresses);
	r->exits = n == 0;
	return !r->exits && flki_boottime_ns() < r->until;
}
