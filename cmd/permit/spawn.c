/* SPDX-License-Identifier: ISC */
/*
 * spawn.c - vfork and exec.
 *
 * posix_spawn(3) won't do: it can set a signal to its default, but not back to ignored; and it asks
 * the kernel about each of the 64 signals every time, which takes longer than all else for a small
 * command.
 */
#include "spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "find_program.h"
#include "flocklimit.h"
#include "own.h"
#include "say.h"
#include "signals.h"

#define TRIES   4
#define TICK_US 5000

/* For on_bus(): see on_fault(). */
static const char *_Atomic fault_limiter = "";
static _Atomic int fault_status = 125;

_Thread_local sigjmp_buf *fault_jump;

void
fault_say(void)
{
	const char *name = fault_limiter;
	static char colon[] = ": ";
	static char tail[] = ": the file was cut short while in use: let its takers end, then "
			     "remove it\n";
	struct iovec line[] = { { (void *)(uintptr_t)say_program, strlen(say_program) },
				{ colon, sizeof(colon) - 1 },
				{ (void *)(uintptr_t)name, strlen(name) },
				{ tail, sizeof(tail) - 1 } };
	static atomic_int begun, said; /* int: not each processor exchanges a byte */
	ssize_t written;

	if (!atomic_exchange(&begun, 1)) {
		written = writev(STDERR_FILENO, line, 4);
		(void)written;
		said = 1;
	}
	/* Several threads may fault at once: none may end the process before the line is out. */
	while (!said)
		sched_yield();
}

static void
on_bus(int sig)
{
	(void)sig;
	if (fault_jump != NULL)
		siglongjmp(*fault_jump, 1);
	while (fault_status == FAULT_SLEEPS && syscall(SYS_gettid) != getpid())
		pause();
	fault_say();
	_exit(fault_status == FAULT_SLEEPS ? 125 : fault_status);
}

void
on_fault(const char *limiter, int status)
{
	fault_limiter = limiter;
	fault_status = status;
}

void
heritage_save(struct heritage *h)
{
	struct sigaction bus = { .sa_handler = on_bus }, chld;

	signals_mask(SIG_SETMASK, NULL, &h->mask);
	sigaction(SIGBUS, &bus, &h->bus);
	signals_block(); /* not before: musl's sigaction unblocks its own signals */
	sigaction(SIGCHLD, NULL, &chld);
	h->chld_ignored = chld.sa_handler == SIG_IGN;
	if (h->chld_ignored)
		signal(SIGCHLD, SIG_DFL);
	h->files.rlim_cur = 0;
	h->inherit[0] = h->inherit[1] = h->inherit[2] = -1;
	h->taker = NULL;
	h->program = NULL;
	h->n_more = 0;
	h->own_group = false;
	h->guard_fd = h->stdio[0] = h->stdio[1] = h->stdio[2] = -1;
}

/* Gives this process back what heritage_save() found. */
static void
heritage_restore(const struct heritage *h)
{
	if (h->chld_ignored)
		signal(SIGCHLD, SIG_IGN);
	sigaction(SIGBUS, &h->bus, NULL);
	signals_mask(SIG_SETMASK, &h->mask, NULL);
}

/* For exec_it(): what to execute, once the path is known. */
struct start {
	char **argv, **envp;
	size_t argc;
};

/* The shell runs a script without #!, as it does for execvp(3). */
static int
exec_it(const char *path, const void *start)
{
	const struct start *s = start;
	char *script[s->argc + 3];

	execve(path, s->argv, s->envp);
	if (errno != ENOEXEC)
		return errno;
	script[0] = (char *)(uintptr_t) "/bin/sh";
	script[1] = (char *)(uintptr_t)path;
	memcpy(script + 2, s->argv + 1, s->argc * sizeof(*s->argv));
	execve(script[0], script, s->envp);
	return errno;
}

static int
pass_guard(int fd)
{
	return fd != -1 && fcntl(fd, F_DUPFD, GUARD_FD) == -1 && fcntl(fd, F_SETFD, 0) == -1 ? errno
											     : 0;
}

int
become(char **argv, char **envp, const struct heritage *h)
{
	struct start start = { .argv = argv, .envp = envp };
	unsigned n;
	int error, i;

	for (i = 0; i < 3; i++)
		if (h->inherit[i] != -1 && fcntl(h->inherit[i], F_SETFD, 0) == -1)
			return errno;
	if (h->files.rlim_cur != 0)
		setrlimit(RLIMIT_NOFILE, &h->files);
	for (i = 0; i < 3; i++)
		if (h->stdio[i] != -1 && dup2(h->stdio[i], i) == -1)
			return errno;
	if ((error = pass_guard(h->guard_fd)) != 0)
		return error;
	for (n = 0; n < h->n_more; n++)
		if ((error = pass_guard(h->more[n].guard)) != 0)
			return error;
	if (h->own_group && setpgid(0, 0) == -1)
		return errno;
	heritage_restore(h);
	while (argv[start.argc] != NULL)
		start.argc++;
	return find_program(h->program != NULL ? h->program : argv[0], exec_it, &start);
}

/* In the child: the permits are for it. */
static void
record_child(const struct heritage *h)
{
	unsigned n;

	if (h->taker != NULL)
		flki_working_child(h->taker);
	for (n = 0; n < h->n_more; n++)
		flki_working_child(h->more[n].taker);
}

pid_t
spawn(char **argv, char **envp, const struct heritage *h, int *exec_error)
{
	unsigned tries = 0;
	pid_t pid;

	*exec_error = 0;
	do {
		if (tries > 0)
			usleep(TICK_US);
		/* The dangers of vfork do not apply: signals are blocked, and the child only execs. */
		pid = vfork(); /* NOLINT(clang-analyzer-security.insecureAPI.vfork) */
		/* A thread of ours that looked for us, and has ended, counts until it is gone. */
	} while (pid == -1 && errno == EAGAIN && ++tries < TRIES);
	if (pid == 0) {
		/* The child shares our memory; its signal handling and descriptors are copies. */
		/* NOLINTNEXTLINE(clang-analyzer-unix.Vfork): it stores our pid */
		record_child(h);
		/* NOLINTNEXTLINE(clang-analyzer-unix.Vfork): this is how the parent learns of it */
		*exec_error = become(argv, envp, h);
		_exit(127);
	}
	return pid;
}

int
cannot_run(int error)
{
	return error == ENOENT ? 127 : 126;
}
