/* SPDX-License-Identifier: ISC */
/*
 * resolve.c - looks up the endpoints' names without blocking the loop: getaddrinfo() blocks for as
 * long as the resolver does, so a child calls it, and writes what it finds into a pipe.
 *
 * R1  There is one child at a time, and it has a bounded time: a resolver that hangs costs one
 *     process, and nothing grows.
 * R2  The child keeps no descriptor but the pipe, and dies with its parent.
 * R3  We use its process id only until it is reaped, while the id is surely the child's own.
 */
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

#include "client.h"
#include "process.h"

unsigned resolver_patience_ms = 10000;

#define MOST 16 /* addresses of a name */

/* What the child writes, whole, as it is less than PIPE_BUF: the addresses of the i-th endpoint. */
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
run(const struct records *r, pid_t parent, int out)
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
	for (i = 0; i < r->endpoints; i++) {
		size_t at = (r->resolver.first + i) % r->endpoints;

		if (r->endpoint[at].named)
			resolve(r->endpoint[at].host, at);
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

void
resolver_start(struct records *records)
{
	struct resolver *r = &records->resolver;
	pid_t parent = getpid();
	int pipes[2];

	if (r->under_way || flki_boottime_ns() < records->look_up_at || !is_reaped(r, WNOHANG) ||
	    pipe2(pipes, O_CLOEXEC) == -1)
		return;
	r->pid = fork();
	if (r->pid == 0)
		run(records, parent, pipes[1]);
	close(pipes[1]);
	if (r->pid == -1) {
		r->pid = 0;
		close(pipes[0]);
		return;
	}
	fcntl(pipes[0], F_SETFL, O_NONBLOCK);
	r->fd = pipes[0];
	h2_also(records->h2, r->fd);
	/* A name that hangs must not keep the other names from ever being looked up. */
	r->first = (r->first + 1) % records->endpoints;
	r->until = flki_boottime_ns() + resolver_patience_ms * MS;
	r->under_way = true;
}

/*
 * exits: the child has closed its descriptors, so it is about to exit.  If the kernel reaped the child
 * (as when SIGCHLD is ignored), we don't kill it: R3.
 */
static void
end(struct records *records, bool exits)
{
	struct resolver *r = &records->resolver;

	h2_no_more(records->h2, r->fd);
	close(r->fd);
	r->under_way = false;
	if (is_reaped(r, WNOHANG))
		return;
	kill(r->pid, SIGKILL);
	is_reaped(r, exits ? 0 : WNOHANG);
}

void
resolver_end(struct records *r)
{
	if (r->resolver.under_way)
		end(r, false);
}

uint64_t
resolver_due(const struct records *r)
{
	return r->resolver.under_way ? r->resolver.until : UINT64_MAX;
}

void
resolver_step(struct records *r)
{
	struct line line;
	ssize_t n;

	if (!r->resolver.under_way)
		return;
	while ((n = read(r->resolver.fd, &line, sizeof(line))) == (ssize_t)sizeof(line))
		endpoint_found(r, line.i, line.addresses);
	if (n != 0 && flki_boottime_ns() < r->resolver.until)
		return;
	end(r, n == 0);
	r->look_up_at = flki_boottime_ns() + r->pause;
	r->pause = r->pause * 2 < r->pause_most ? r->pause * 2 : r->pause_most;
}
