/*
 * spawn.c - vfork and exec.  posix_spawn(3) would do, were it not that it can only set signals to
 * their default, and not back to ignored; and that it asks the kernel about each of the 64 every
 * time, which is most of what a small command costs.
 */
#include "spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "find.h"
#include "flocklimit.h"
#include "say.h"
#include "signals.h"

#define HIGH_FD 50 /* above what scripts use, below the next size of the kernel's table */

/* What to say and to exit with when the limiter's memory is gone from under us. */
static const char *_Atomic fault_limiter = "";
static _Atomic int fault_status = 125;

static void
on_bus(int sig)
{
	const char *name = fault_limiter;
	static char colon[] = ": ";
	static char tail[] = ": the file was cut short while in use: let its takers end, then "
			     "remove it\n";
	struct iovec line[] = { { (void *)(uintptr_t)PROGRAM, strlen(PROGRAM) },
				{ colon, sizeof(colon) - 1 },
				{ (void *)(uintptr_t)name, strlen(name) },
				{ tail, sizeof(tail) - 1 } };
	static _Atomic bool said;
	ssize_t written;

	(void)sig;
	/* Several threads may meet it at once: the first tells, and ends them all. */
	while (atomic_exchange(&said, true))
		pause();
	written = writev(STDERR_FILENO, line, 4);
	(void)written;
	_exit(fault_status);
}

void
on_fault(const char *limiter, int status)
{
	fault_limiter = limiter;
	fault_status = status;
}

void
signals_mask(int how, const sigset_t *set, sigset_t *old)
{
	if (old != NULL)
		sigemptyset(old);
	syscall(SYS_rt_sigprocmask, how, set, old, 8);
}

void
signals_block(void)
{
	sigset_t all;
	int sig;

	memset(&all, 0xff, sizeof(all));
	for (sig = 1; sig < 32; sig++)
		if (signal_is_fault(sig))
			sigdelset(&all, sig);
	signals_mask(SIG_SETMASK, &all, NULL);
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
	h->also[0] = h->also[1] = h->also[2] = -1;
	h->taker = NULL;
	h->guard_fd = h->fds[0] = h->fds[1] = h->fds[2] = -1;
}

void
heritage_restore(const struct heritage *h)
{
	if (h->chld_ignored)
		signal(SIGCHLD, SIG_IGN);
	sigaction(SIGBUS, &h->bus, NULL);
	signals_mask(SIG_SETMASK, &h->mask, NULL);
}

/* What is to become of a program, once its path is known. */
struct start {
	char **argv, **envp;
	size_t argc;
};

/* A script without #! is the shell's, as execvp(3) has always had it. */
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

int
become(char **argv, char **envp, const struct heritage *h)
{
	struct start start = { .argv = argv, .envp = envp };
	int fd = h->guard_fd, i;

	for (i = 0; i < 3; i++)
		if (h->also[i] != -1 && fcntl(h->also[i], F_SETFD, 0) == -1)
			return errno;
	if (h->files.rlim_cur != 0)
		setrlimit(RLIMIT_NOFILE, &h->files);
	for (i = 0; i < 3; i++)
		if (h->fds[i] != -1 && dup2(h->fds[i], i) == -1)
			return errno;
	if (fd != -1 && fcntl(fd, F_DUPFD, HIGH_FD) == -1 && fcntl(fd, F_SETFD, 0) == -1)
		return errno;
	heritage_restore(h);
	while (argv[start.argc] != NULL)
		start.argc++;
	return find_program(argv[0], exec_it, &start);
}

pid_t
spawn(char **argv, char **envp, const struct heritage *h, int *exec_error)
{
	pid_t pid;

	*exec_error = 0;
	/* What is said against it is known: signals are blocked, and the child only execs. */
	pid = vfork(); /* NOLINT(clang-analyzer-security.insecureAPI.vfork) */
	if (pid == 0) {
		/* Our memory is the child's, our signals and descriptors are not. */
		if (h->taker != NULL)
			/* NOLINTNEXTLINE(clang-analyzer-unix.Vfork): it stores our pid */
			flk_working_child(h->taker);
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
