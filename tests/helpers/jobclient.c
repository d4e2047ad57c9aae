/* SPDX-License-Identifier: ISC */
/*
 * jobclient STYLE JOBS MS LOG WHO [GATE] - a build of so many jobs, each of which sleeps MS milliseconds
 * and writes two lines to LOG, "+ WHO NS" and "- WHO NS", with the time.  With GATE, a fifo, each job
 * waits first until that has a writer.  SIGUSR1 has it start no more jobs.  It asks for tokens in the
 * way of
 *
 *	make	when it has a job to start; it waits for a token and for its children at once
 *	ninja	at its start and when a job ends, as ninja 1.13; else it only waits for its children
 *	cargo	by a thread that blocks in read(2) while there is a job to start; and it gives no token
 *		back before it has no more jobs to start: the next job takes over that of the last
 *	N	a number: not at all, but runs N jobs at once
 *
 * Exits 3 if MAKEFLAGS tells of no jobserver.
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/wait.h>

static int in, out, had[2]; /* had: tokens that the thread has taken */
static int in_flight;       /* tokens that the thread was asked for */
static int kept;            /* cargo's tokens, with or without a job */
static int ask[2];
static int log_fd, running;
static pid_t implicit; /* the job that needs no token */
static const char *who, *gate;
static volatile sig_atomic_t enough;
static struct timespec span;

static void
note(char what)
{
	struct timespec t;
	char line[80];
	int n;

	clock_gettime(CLOCK_MONOTONIC, &t);
	n = snprintf(line, sizeof(line), "%c %.20s %lld\n", what, who,
		     (long long)t.tv_sec * 1000000000 + t.tv_nsec);
	if (write(log_fd, line, (size_t)n) != n)
		_exit(4);
}

/* Until another process opens the gate to write. */
static bool
has_passed(void)
{
	int fd = open(gate, O_RDONLY | O_CLOEXEC);

	if (fd == -1)
		return false;
	close(fd);
	return true;
}

static void
start(int with_token)
{
	pid_t pid = fork();

	if (pid == 0) {
		note('+');
		if (gate != NULL && !has_passed())
			_exit(9);
		nanosleep(&span, NULL);
		note('-');
		_exit(0);
	}
	if (pid == -1)
		exit(5);
	if (!with_token)
		implicit = pid;
	running++;
}

/* True if a job has ended; its token is given back. */
static int
reap(int wait_for_it, int tokens)
{
	pid_t pid = waitpid(-1, NULL, wait_for_it ? 0 : WNOHANG);

	if (pid <= 0)
		return 0;
	running--;
	if (pid == implicit)
		implicit = 0;
	else if (tokens && write(out, "+", 1) != 1)
		exit(6);
	return 1;
}

static int
take(int fd)
{
	char token;

	return read(fd, &token, 1) == 1;
}

static void
on_child(int sig)
{
	(void)sig;
}

static void
on_usr1(int sig)
{
	(void)sig;
	enough = 1;
}

static void *
helper(void *arg)
{
	struct pollfd p = { .fd = in, .events = POLLIN };

	(void)arg;
	while (take(ask[0])) {
		while (!take(in))
			poll(&p, 1, -1);
		if (write(had[1], "+", 1) != 1)
			exit(7);
	}
	return NULL;
}

static void
open_jobserver(void)
{
	const char *flags = getenv("MAKEFLAGS"), *auth;
	char path[200];

	auth = flags != NULL ? strstr(flags, "--jobserver-auth=") : NULL;
	if (auth == NULL)
		exit(3);
	auth += strlen("--jobserver-auth=");
	if (sscanf(auth, "fifo:%199[^ ]", path) == 1) {
		in = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
		out = open(path, O_WRONLY | O_CLOEXEC);
	} else if (sscanf(auth, "%d,%d", &in, &out) == 2) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", in);
		in = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	}
	if (in == -1 || out == -1)
		exit(3);
}

/* One job more, or one job less, or one token more. */
static int
step_as_cargo(const sigset_t *open)
{
	struct pollfd p = { .fd = had[0], .events = POLLIN };

	if (running < 1 + kept) {
		start(1);
		return 1;
	}
	if (in_flight == 0 && write(ask[1], "+", 1) == 1)
		in_flight = 1;
	if (take(had[0])) {
		in_flight = 0;
		kept++;
	} else if (!reap(0, 0)) {
		ppoll(&p, 1, NULL, open);
	}
	return 0;
}

/* One job more, or one job less. */
static int
step(char style, const sigset_t *open)
{
	struct pollfd p = { .fd = in, .events = POLLIN };
	int started = 0;

	if (style == 'c')
		return step_as_cargo(open);
	if (implicit == 0) {
		start(0);
		return 1;
	}
	if (take(in)) {
		start(1);
		started = 1;
	} else if (style == 'n') {
		reap(1, 1);
	} else if (!reap(0, 1)) {
		ppoll(&p, 1, NULL, open);
	}
	return started;
}

int
main(int argc, char **argv)
{
	struct sigaction child = { .sa_handler = on_child },
			 usr1 = { .sa_handler = on_usr1, .sa_flags = SA_RESTART };
	int jobs, most;
	sigset_t chld, open;
	pthread_t thread;

	if (argc < 6)
		return 2;
	jobs = atoi(argv[2]);
	span = (struct timespec){ atoi(argv[3]) / 1000, atol(argv[3]) % 1000 * 1000000 };
	log_fd = openat(AT_FDCWD, argv[4], O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
	who = argv[5];
	gate = argv[6];
	most = atoi(argv[1]);
	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	sigprocmask(SIG_BLOCK, &chld, &open);
	sigaction(SIGCHLD, &child, NULL);
	sigaction(SIGUSR1, &usr1, NULL);
	if (most == 0) {
		open_jobserver();
		if (argv[1][0] == 'c' &&
		    (pipe2(ask, O_CLOEXEC) == -1 || pipe2(had, O_CLOEXEC | O_NONBLOCK) == -1 ||
		     fcntl(ask[1], F_SETFL, O_NONBLOCK) == -1 ||
		     pthread_create(&thread, NULL, helper, NULL) != 0))
			return 8;
	}
	while (jobs > 0 && !enough) {
		if (most == 0) {
			jobs -= step(argv[1][0], &open);
		} else if (running < most) {
			start(1);
			jobs--;
		} else {
			reap(1, 0);
		}
	}
	while (running > 0) {
		reap(1, most == 0 && argv[1][0] != 'c');
		for (; kept > 0 && kept >= running; kept--)
			if (write(out, "+", 1) != 1)
				return 6;
	}
	/* A token that came too late. */
	if (in_flight && (poll(&(struct pollfd){ .fd = had[0], .events = POLLIN }, 1, 1000) == 1) &&
	    take(had[0]) && write(out, "+", 1) != 1)
		return 6;
	return 0;
}
