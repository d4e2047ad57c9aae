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

/* ---- the child ----------------------------------------------------------------------------- */

/* Adds one address to the line, unless the line is full.  False: it is full. */
static bool
add(char line[RESOLVE_LINE], size_t *n, bool first, const struct addrinfo *a)
{
	char address[64];
	int more;

	if (getnameinfo(a->ai_addr, a->ai_addrlen, address, sizeof(address), NULL, 0,
			NI_NUMERICHOST) != 0)
		return true;
	more = snprintf(line + *n, RESOLVE_LINE - *n, "%s%s", first ? "" : ",", address);
	if (more < 0 || *n + (size_t)more + 2 > RESOLVE_LINE)
		return false;
	*n += (size_t)more;
	return true;
}

/* Skips a name that has no address: its old addresses are better than none. */
static void
resolve(const char *name, size_t i)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *list, *a;
	char line[RESOLVE_LINE];
	size_t n, none;
	int count = 0;

	if (getaddrinfo(name, NULL, &hints, &list) != 0)
		return;
	none = n = (size_t)snprintf(line, sizeof(line), "%zu ", i);
	for (a = list; a != NULL && count < RESOLVE_MOST; a = a->ai_next, count++)
		if (!add(line, &n, n == none, a))
			break;
	freeaddrinfo(list);
	if (n == none)
		return;
	line[n++] = '\n';
	if (write(STDOUT_FILENO, line, n) != (ssize_t)n) /* less than PIPE_BUF: written whole */
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
	r->length = 0;
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

/* Takes the whole lines out of the text, and passes them on. */
static void
pass_on_lines(struct resolver *r, resolver_finds *finds, void *context)
{
	char *line = r->text, *newline;
	unsigned long i;

	r->text[r->length] = '\0';
	while ((newline = strchr(line, '\n')) != NULL) {
		char *addresses;

		*newline = '\0';
		i = strtoul(line, &addresses, 10);
		if (*addresses == ' ')
			finds(context, i, addresses + 1);
		line = newline + 1;
	}
	r->length -= (size_t)(line - r->text);
	memmove(r->text, line, r->length);
}

bool
resolver_step(struct resolver *r, resolver_finds *finds, void *context)
{
	ssize_t n;

	if (!r->under_way)
		return false;
	while ((n = read(r->fd, r->text + r->length, sizeof(r->text) - 1 - r->length)) > 0) {
		r->length += (size_t)n;
		pass_on_lines(r, finds, context);
		if (r->length == sizeof(r->text) - 1)
			r->length = 0; /* no line of ours is that long */
	}
	r->exits = n == 0;
	return !r->exits && flki_boottime_ns() < r->until;
}
