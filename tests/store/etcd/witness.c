/* SPDX-License-Identifier: ISC */
/*
 * witness - what takers of a store run under their permits, and who sees them die.  All write to
 * one log, each line with one write to a file opened to append; times are CLOCK_BOOTTIME, ns.
 *
 *	witness LOG SECONDS|FIFO	runs so long, or until somebody has written to the fifo
 *	witness -d LOG			until it is killed: sees whoever begins come to an end
 *	witness -w LOG LABEL		a taker is started now; LABEL has no space
 *	witness -g LOG LABEL STATUS	it has ended
 *	witness -k LOG PID SIGNAL	kills a run
 *	witness -l LOG LIMIT		the limit from now on: before it is raised, or once it
 *					was lowered
 *	witness -t			only says what time it is, ms
 *
 * TERM, INT and HUP end a run, which says so; with WITNESS_STAYS in the environment it only notes
 * them.  Lines, of which judge.c makes what it thinks:
 *
 *	BEGIN ns PID TICKET SEAT WEIGHT LIMIT LABEL	LABEL: $TAKER
 *	SIGNAL ns PID NUMBER
 *	END ns PID
 *	KILLED ns PID		somebody is about to kill it
 *	DEAD ns PID		it was seen to be dead, however that came
 *	WAITS ns LABEL
 *	GONE ns LABEL STATUS
 *	LIMIT ns LIMIT
 *	WATCHING ns
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/inotify.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>

#define RUNS 4096

static int log_fd;

static uint64_t
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static _Noreturn void
fail(const char *what)
{
	perror(what);
	exit(99);
}

__attribute__((format(printf, 3, 4))) static void
note_at(uint64_t at, const char *kind, const char *format, ...)
{
	char line[512];
	size_t n;
	va_list args;

	n = (size_t)snprintf(line, sizeof(line), "%s %" PRIu64 " ", kind, at);
	va_start(args, format);
	n += (size_t)vsnprintf(line + n, sizeof(line) - n, format, args);
	va_end(args);
	if (n >= sizeof(line) - 1)
		n = sizeof(line) - 2;
	line[n++] = '\n';
	if (write(log_fd, line, n) != (ssize_t)n)
		fail("the log");
}

#define note(...) note_at(now(), __VA_ARGS__)

static void
open_log(const char *path)
{
	log_fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	if (log_fd == -1)
		fail(path);
}

static const char *
told(const char *name)
{
	const char *value = getenv(name);

	return value != NULL && *value != '\0' ? value : "-";
}

/* ---- a run --------------------------------------------------------------------------------- */

static int
signals(void)
{
	sigset_t set;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	fd = signalfd(-1, &set, SFD_CLOEXEC);
	if (fd == -1)
		fail("signalfd");
	return fd;
}

/* Until then, or until a signal that ends it; returns that, or 0. */
static int
hold(int ends, int fifo, uint64_t until, int pid)
{
	struct pollfd on[] = { { .fd = ends, .events = POLLIN }, { .fd = fifo, .events = POLLIN } };
	struct signalfd_siginfo info;

	for (;;) {
		uint64_t t = now();
		int ms;

		if (t >= until)
			return 0;
		ms = until == UINT64_MAX ? -1 : (int)((until - t + 999999) / 1000000);
		if (poll(on, 2, ms) == -1 && errno != EINTR)
			fail("poll");
		if (on[1].revents != 0)
			return 0;
		if (on[0].revents == 0)
			continue;
		if (read(on[0].fd, &info, sizeof(info)) != sizeof(info))
			fail("signalfd");
		note("SIGNAL", "%d %" PRIu32, pid, info.ssi_signo);
		if (getenv("WITNESS_STAYS") == NULL)
			return (int)info.ssi_signo;
	}
}

static int
run(const char *how_long)
{
	uint64_t until = UINT64_MAX;
	/* Before it says that it runs: a signal that is an answer to that would kill it. */
	int pid = (int)getpid(), ends = signals(), fifo = -1, sig;
	char *end;
	double seconds = strtod(how_long, &end);

	if (*end == '\0') {
		until = now() + (uint64_t)(seconds * 1e9);
	} else {
		/* Does not block, nor hang up before somebody has written. */
		fifo = open(how_long, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
		if (fifo == -1)
			fail(how_long);
	}
	note("BEGIN", "%d %s %s %s %s %s", pid, told("FLOCKLIMIT_TICKET"), told("FLOCKLIMIT_SEAT"),
	     told("FLOCKLIMIT_WEIGHT"), told("FLOCKLIMIT_LIMIT"), told("TAKER"));
	sig = hold(ends, fifo, until, pid);
	note("END", "%d", pid);
	return sig != 0 ? 128 + sig : 0;
}

/* ---- who sees them die --------------------------------------------------------------------- */

static struct pollfd polled[RUNS + 1];
static int who[RUNS + 1];
static nfds_t watched = 1;

static void
watch(int pid)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);

	if (fd == -1 || watched > RUNS) {
		note("DEAD", "%d", pid);
		return;
	}
	polled[watched] = (struct pollfd){ .fd = fd, .events = POLLIN };
	who[watched++] = pid;
}

static void
bury(void)
{
	uint64_t t = now();
	nfds_t i;

	for (i = 1; i < watched; i++) {
		if (polled[i].revents == 0)
			continue;
		note_at(t, "DEAD", "%d", who[i]);
		close(polled[i].fd);
		watched--;
		polled[i] = polled[watched];
		who[i] = who[watched];
		i--;
	}
}

/* What was added to the log since. */
static void
read_on(FILE *log)
{
	static char line[1024];
	int pid;

	/* Each line was one write, so there is never a part of one. */
	while (fgets(line, sizeof(line), log) != NULL)
		if (sscanf(line, "BEGIN %*u %d", &pid) == 1)
			watch(pid);
	clearerr(log);
}

static _Noreturn void
watch_all(const char *path)
{
	char changes[4096] __attribute__((aligned(8)));
	FILE *log = fopen(path, "re");
	int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);

	if (log == NULL || fd == -1 || inotify_add_watch(fd, path, IN_MODIFY) == -1)
		fail(path);
	polled[0] = (struct pollfd){ .fd = fd, .events = POLLIN };
	note("WATCHING", "%d", (int)getpid());
	for (;;) {
		read_on(log);
		if (poll(polled, watched, -1) == -1 && errno != EINTR)
			fail("poll");
		bury();
		while (read(fd, changes, sizeof(changes)) > 0)
			;
	}
}

/* ---- what the test has to tell -------------------------------------------------------------- */

int
main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "-t") == 0)
		return printf("%" PRIu64 "\n", now() / 1000000) < 0;
	if (argc == 3 && argv[1][0] != '-') {
		open_log(argv[1]);
		return run(argv[2]);
	}
	if (argc < 3 || argv[1][0] != '-') {
		fputs("usage: see the head of witness.c\n", stderr);
		return 99;
	}
	open_log(argv[2]);
	if (argv[1][1] == 'd')
		watch_all(argv[2]);
	else if (argv[1][1] == 'w' && argc == 4)
		note("WAITS", "%s", argv[3]);
	else if (argv[1][1] == 'l' && argc == 4)
		note("LIMIT", "%s", argv[3]);
	else if (argv[1][1] == 'g' && argc == 5)
		note("GONE", "%s %s", argv[3], argv[4]);
	else if (argv[1][1] == 'k' && argc == 5) {
		note("KILLED", "%s", argv[3]);
		if (kill(atoi(argv[3]), atoi(argv[4])) == -1)
			fail(argv[3]);
	} else {
		return 99;
	}
	return 0;
}
