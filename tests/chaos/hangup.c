/* SPDX-License-Identifier: ISC */
/*
 * hangup.c - a permit passes on when its command is past its exit, and not when its guard is free.
 *
 * The command stands for one with a device: it has the only writing end of a FIFO.  A process that
 * is killed closes its highest descriptors first, so the FIFO is at a low number, below the guard,
 * with a file between the two that takes milliseconds to free.  The next command looks whether the
 * reading end has seen the hang-up.
 *
 *	hangup.t [ROUNDS]		the test
 *	hangup.t device FIFO		what has the device
 *	hangup.t next READER PID	what comes after it: the reading end, and which process had the other
 *	hangup.t undead READY [GATE]	it closes its guard, and its first thread ends before it;
 *					once a byte comes through the FIFO
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "../helpers/common.h"

#define BUSY       4          /* processes that keep the machine so */
#define HEAVY      (32 << 20) /* bytes, that are freed before the FIFO is closed */
#define GUARD_FROM 50         /* the lowest number that a guard has */

enum { SOUND = 0, BESIDE = 1, BORROWED = 2 };
enum kind { WRAPPED, IN_PLACE, NEWCOMER, KINDS };

static const char *const kinds[KINDS] = { "killed with its wrapper", "in its wrapper's place",
					  "killed with its wrapper, and nobody waits yet" };
static const char *self;

/* ---- the commands ---- */

/* Linux 5.4 has no close_range(2). */
static void
close_all(int from, int end)
{
	for (; from < end; from++)
		close(from);
}

static int
device(const char *fifo)
{
	char *p;
	int fd, heavy;

	alarm(60);
	/* 3 is the lowest number now. */
	close_all(3, GUARD_FROM);
	fd = open(fifo, O_WRONLY | O_CLOEXEC);
	heavy = memfd_create("heavy", MFD_CLOEXEC);
	if (fd == -1 || heavy == -1 || ftruncate(heavy, HEAVY) == -1)
		return 99;
	p = mmap(NULL, HEAVY, PROT_READ | PROT_WRITE, MAP_SHARED, heavy, 0);
	if (p == MAP_FAILED)
		return 99; /* cppcheck-suppress resourceLeak ; the process ends */
	memset(p, 1, HEAVY);
	munmap(p, HEAVY);
	dprintf(fd, "%d\n", (int)getpid());
	for (;;)
		pause();
}

static bool
is_past_exit(pid_t pid)
{
	char text[STAT_TEXT];
	const char *stat = stat_of(pid, text);

	return stat == NULL || *stat == 'Z' || *stat == 'X';
}

/*
 * A process that reads /proc may have borrowed the device's description at the wrong moment, and
 * then gives it back only after its owner's exit: that is no fault of the limiter's.
 */
static int
next(int reader, pid_t pid)
{
	struct pollfd look = { .fd = reader };
	bool past = is_past_exit(pid);

	if (poll(&look, 1, 0) == 1 && (look.revents & POLLHUP) != 0)
		return SOUND;
	return past ? BORROWED : BESIDE;
}

static void *
linger(void *ready)
{
	FILE *f;

	while (!is_past_exit(getpid()))
		usleep(1000);
	close_all(3, FD_SETSIZE);
	f = fopen(ready, "we");
	if (f == NULL || fprintf(f, "%d\n", (int)getpid()) < 0 || fclose(f) != 0)
		_exit(99);
	for (;;)
		pause();
	return NULL;
}

/* Until something is written there. */
static bool
has_passed(const char *gate)
{
	int fd = open(gate, O_RDONLY | O_CLOEXEC);
	char c;
	bool passed = fd != -1 && read(fd, &c, 1) == 1;

	if (fd != -1)
		close(fd);
	return passed;
}

/* For all that can be told from outside, it is on its way out, for ever. */
static int
undead(char *ready, const char *gate)
{
	pthread_t thread;

	alarm(60);
	if (gate != NULL && !has_passed(gate))
		return 99;
	if (pthread_create(&thread, NULL, linger, ready) != 0)
		return 99;
	pthread_exit(NULL);
}

/* ---- the test ---- */

static const char *limiter;

static pid_t
launch(const char *option, const char *verb, const char *a, const char *b)
{
	const char *flocklimit = getenv("FLOCKLIMIT");
	pid_t pid = fork_child();

	if (pid != 0)
		return pid;
	if (flocklimit == NULL)
		flocklimit = "flocklimit";
	execl(flocklimit, "flocklimit", "-f", limiter, "-n", "1", option, "--", self, verb, a, b,
	      NULL);
	_exit(97);
}

static pid_t
launch_next(int reader, pid_t command)
{
	char number[16], pid[16];

	snprintf(number, sizeof(number), "%d", reader);
	snprintf(pid, sizeof(pid), "%d", (int)command);
	return launch("-q", "next", number, pid);
}

/* What the next command saw. */
static int
play(struct flk *f, enum kind kind)
{
	const char *fifo = fresh_path();
	struct pollfd said = { .events = POLLIN };
	pid_t wrapper, command, after = 0;
	char text[16];
	ssize_t n;
	int reader;

	reader = mkfifo(fifo, 0600) == 0 ? open(fifo, O_RDONLY | O_NONBLOCK) : -1;
	if (reader == -1)
		tap_bail("%s: %s", fifo, strerror(errno));
	wrapper = launch(kind == IN_PLACE ? "-F" : "-q", "device", fifo, NULL);
	said.fd = reader;
	if (poll(&said, 1, PATIENCE_MS) != 1 || (n = read(reader, text, sizeof(text) - 1)) <= 0)
		tap_bail("no device");
	text[n] = '\0';
	command = (pid_t)atoi(text);
	if (kind != NEWCOMER) {
		after = launch_next(reader, command);
		stands(f, 1, 1);
	}
	kill(wrapper, SIGKILL);
	if (command != wrapper)
		kill(command, SIGKILL);
	if (kind == NEWCOMER)
		after = launch_next(reader, command);
	reap_child(wrapper);
	n = reap_child(after);
	close(reader);
	unlink(fifo);
	return WIFEXITED((int)n) ? WEXITSTATUS((int)n) : 98;
}

static void
rounds(struct flk *f, enum kind kind, int n)
{
	int i, seen, wrong = 0, borrowed = 0;

	for (i = 0; i < n; i++) {
		seen = play(f, kind);
		borrowed += seen == BORROWED;
		wrong += seen != SOUND && seen != BORROWED;
		if (seen != SOUND)
			tap_note("round %d: the next command saw %d", i, seen);
	}
	is(wrong, 0, "%d commands, %s: the next one starts after the device's hang-up", n,
	   kinds[kind]);
	tap_note("%d times a description was borrowed", borrowed);
}

static pid_t
await_pid(const char *path)
{
	int ms, pid = 0;
	FILE *f;

	for (ms = 0; ms < PATIENCE_MS && pid == 0; ms++) {
		usleep(1000);
		f = fopen(path, "re");
		if (f != NULL && fscanf(f, "%d", &pid) != 1)
			pid = 0;
		if (f != NULL)
			fclose(f);
	}
	if (pid == 0)
		tap_bail("no command");
	return (pid_t)pid;
}

/* The wait for an exit that never comes to its end is bounded. */
static void
test_bound(struct flk *f)
{
	const char *ready = fresh_path();
	struct flk_taker *t = taker(f);
	const struct flk_request one = { .weight = 1, .limit = 1 };
	struct timespec until = in_ms(PATIENCE_MS);
	pid_t wrapper = launch("-q", "undead", ready, NULL), command;
	struct rlimit files, none;
	uint64_t begun;

	command = await_pid(ready);
	is(flk_try(t, &one), -EAGAIN, "a command without its guard: its wrapper holds");
	kill(wrapper, SIGKILL);
	reap_child(wrapper);
	begun = now_ns();
	is(flk_try(t, &one), -EAGAIN,
	   "it seems to be on its way out, for ever: a newcomer is refused");
	getrlimit(RLIMIT_NOFILE, &files);
	none = (struct rlimit){ .rlim_max = files.rlim_max };
	setrlimit(RLIMIT_NOFILE, &none);
	is(flk_try(t, &one), -EAGAIN, "also one that has no descriptor left to look at it");
	setrlimit(RLIMIT_NOFILE, &files);
	is(flk_acquire(t, &one, &until), 0, "one that waits gets the permit after all");
	ok(now_ns() - begun > UINT64_C(9000000000), "but not before ten seconds are over");
	flk_taker_free(t);
	kill(command, SIGKILL);
	unlink(ready);
}

/*
 * That bound holds for all takers together, also where none of them waits for so long.  Each
 * attaches the limiter anew, as processes of their own do.
 */
static void
test_impatient(void)
{
	const char *ready = fresh_path();
	const struct flk_request one = { .weight = 1, .limit = 1 };
	pid_t wrapper = launch("-q", "undead", ready, NULL), command;
	int looks, code = -ETIMEDOUT;
	struct timespec soon;
	struct flk_taker *t;
	uint64_t begun;
	struct flk *f;

	command = await_pid(ready);
	kill(wrapper, SIGKILL);
	reap_child(wrapper);
	begun = now_ns();
	for (looks = 0; looks < 100 && code == -ETIMEDOUT; looks++) {
		f = attach(limiter);
		t = taker(f);
		soon = in_ms(500);
		code = flk_acquire(t, &one, &soon);
		flk_taker_free(t);
		flk_detach(f);
	}
	is(code, 0, "takers that wait for half a second each: one gets the permit after all");
	ok(now_ns() - begun > UINT64_C(9000000000), "but not before ten seconds are over");
	kill(command, SIGKILL);
	unlink(ready);
}

/*
 * It begins when the guard is free, and not again when a taker gives up that slept in the line by then.
 */
static void
test_given_up(struct flk *f)
{
	char ready[200], gate[200];
	const struct flk_request one = { .weight = 1, .limit = 1 };
	struct timespec until = in_ms(PATIENCE_MS);
	struct flk_taker *t = taker(f);
	struct agent first;
	pid_t wrapper, command;
	uint64_t begun, took;
	int fd;

	snprintf(ready, sizeof(ready), "%s", fresh_path());
	snprintf(gate, sizeof(gate), "%s", fresh_path());
	if (mkfifo(gate, 0600) != 0)
		tap_bail("%s: %s", gate, strerror(errno));
	wrapper = launch("-q", "undead", ready, gate);
	fd = open(gate, O_WRONLY | O_CLOEXEC); /* when the command has the other end */
	kill(wrapper, SIGKILL);
	reap_child(wrapper);
	first = agent_start(limiter);
	agent_tell(&first, (struct order){ .kind = ACQUIRE, .weight = 1, .limit = 1, .ms = 8000 });
	ok(stands(f, 1, 1), "a taker waits for an orphan");
	until_asleep(first.pid);
	begun = now_ns();
	if (write(fd, "", 1) != 1)
		tap_bail("%s: %s", gate, strerror(errno));
	close(fd);
	command = await_pid(ready);
	is(agent_hear(&first).code, -ETIMEDOUT,
	   "it gives up eight seconds after the guard is free");
	is(flk_acquire(t, &one, &until), 0, "the next one gets the permit");
	took = now_ns() - begun;
	ok(took > UINT64_C(9000000000), "but not before ten seconds are over");
	ok(took < UINT64_C(15000000000), "and soon after: it took %d ms", (int)(took / 1000000));
	agent_stop(&first);
	flk_taker_free(t);
	kill(command, SIGKILL);
	unlink(ready);
	unlink(gate);
}

int
main(int argc, char **argv)
{
	int n = argc == 2 ? atoi(argv[1]) : 12, i;
	char path[300] = "";
	pid_t busy[BUSY];
	enum kind kind;
	struct flk *f;

	if (argc == 3 && strcmp(argv[1], "device") == 0)
		return device(argv[2]);
	if (argc == 4 && strcmp(argv[1], "next") == 0)
		return next(atoi(argv[2]), (pid_t)atoi(argv[3]));
	if (argc >= 3 && strcmp(argv[1], "undead") == 0)
		return undead(argv[2], argv[3]);
	begin();
	if (readlink("/proc/self/exe", path, sizeof(path) - 1) == -1)
		tap_skip_all("needs /proc");
	self = path;
	f = fresh(1);
	limiter = flk_path(f);
	for (i = 0; i < BUSY; i++)
		if ((busy[i] = fork_child()) == 0)
			for (;;)
				;
	for (kind = 0; kind < KINDS; kind++)
		rounds(f, kind, n);
	for (i = 0; i < BUSY; i++) {
		kill(busy[i], SIGKILL);
		reap_child(busy[i]);
	}
	test_bound(f);
	test_impatient();
	test_given_up(f);
	whole(f, "after that");
	flk_detach(f);
	return tap_done();
}
