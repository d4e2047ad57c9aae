/*
 * jobserver.c - tokens are bytes in a FIFO without a name.  There is one for each permit that we
 * hold beside the command's own, which pays for the job that needs no token.
 *
 *	lying in the FIFO: nobody uses it; at most one, and none while others wait
 *	not there: some job runs under it, or who had it died
 *
 * So as soon as the last one is taken, another permit is tried for; and as soon as somebody else
 * stands in line, whatever comes back goes back to the limiter.  Nobody is overtaken: a permit is
 * had only when nobody waits.
 *
 * Two things tell us to look: inotify, of reads and writes of the FIFO, and a child that follows
 * the limiter's history.  Both do it by SIGIO, for run.c waits for signals anyway.  It is not queued:
 * while we are stopped, one is pending and not a thousand, which would be all that the user may have.
 *
 * Each permit is tied to a descriptor that the command inherits: if we are killed, they last until
 * all that it started has ended.
 */
#include "jobserver.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "now.h"
#include "process.h"
#include "say.h"
#include "want.h"

#define HIGH_FD    60
#define LEAST_NS   1000000       /* between two looks that the history asks for */
#define LEAST_RAMP (SECOND / 10) /* between two for a ramp */

struct jobserver {
	struct flk *limiter;
	const char *name;
	struct flk_request want;
	char command[FLK_COMMAND]; /* of `want' */
	uint32_t tokens, lent;
	struct flk_taker **taker; /* the first `lent' hold; the rest are made when needed */
	struct flk_taker *eye;    /* holds nothing; looks */
	int own;                  /* ours alone; does not wait */
	int in, out;              /* the command's */
	int notify, guard;
	pid_t follower;
	uint64_t due_ns; /* the next start, when that is all that is missing; else NEVER */
};

/* ---- what the command is told ---- */

/* GNU make before 4.4 knows no FIFO; everybody else who knows a jobserver knows both, or FIFOs. */
static bool
make_knows_fifo(const char *program, const struct heritage *heritage)
{
	const char *last = strrchr(program, '/');
	char *argv[] = { (char *)(uintptr_t)program, (char *)(uintptr_t) "--version", NULL };
	int ends[2], error, major = 0, minor = 0;
	struct heritage h = *heritage;
	char text[100];
	ssize_t n = 0;
	pid_t pid;

	last = last != NULL ? last + 1 : program;
	if (strcmp(last, "make") != 0 && strcmp(last, "gmake") != 0)
		argv[0] = (char *)(uintptr_t) "make";
	if (pipe2(ends, O_CLOEXEC) == -1)
		return true;
	h.fds[0] = h.fds[2] = open("/dev/null", O_RDWR | O_CLOEXEC);
	h.fds[1] = ends[1];
	pid = spawn(argv, environ, &h, &error);
	close(ends[1]);
	if (pid != -1) {
		n = read(ends[0], text, sizeof(text) - 1);
		waitpid(pid, NULL, 0);
	}
	close(ends[0]);
	close(h.fds[0]);
	text[n > 0 ? n : 0] = '\0';
	return sscanf(text, "GNU Make %d.%d", &major, &minor) != 2 || major > 4 ||
	       (major == 4 && minor >= 4);
}

static bool
is_about_jobs(const char *word)
{
	return strncmp(word, "-j", 2) == 0 || strncmp(word, "--jobserver-", 12) == 0;
}

/*
 * MAKEFLAGS, but for what it says of another jobserver, and ours.  Variables are behind a `--',
 * where nothing is an option, and stay as they are.
 */
static int
set_makeflags(const struct jobserver *j, bool fifo)
{
	const char *old = getenv("MAKEFLAGS");
	size_t n = 0, size = (old != NULL ? strlen(old) : 0) + 160;
	char *flags = malloc(size), *copy = strdup(old != NULL ? old : ""), *word, *rest = NULL;
	int error = ENOMEM;

	if (flags != NULL && copy != NULL) {
		*flags = '\0';
		for (word = strtok_r(copy, " ", &rest); word != NULL && strcmp(word, "--") != 0;
		     word = strtok_r(NULL, " ", &rest))
			if (!is_about_jobs(word))
				n += (size_t)snprintf(flags + n, size - n, "%s%s",
						      n > 0 || *word == '-' ? " " : "", word);
		n += (size_t)snprintf(flags + n, size - n, " -j%u --jobserver-auth=", j->tokens);
		if (fifo)
			n += (size_t)snprintf(flags + n, size - n, "fifo:/proc/%d/fd/%d",
					      (int)getpid(), j->in);
		else
			n += (size_t)snprintf(flags + n, size - n, "%d,%d", j->in, j->out);
		if (word != NULL)
			snprintf(flags + n, size - n, " -- %s", rest);
		error = setenv("MAKEFLAGS", flags, 1) == -1 ? errno : 0;
		unsetenv("CARGO_MAKEFLAGS"); /* its clients would look there first */
	}
	free(flags);
	free(copy);
	return error;
}

/* ---- the FIFO ---- */

static int
raise_fd(int fd)
{
	int high = fd != -1 ? fcntl(fd, F_DUPFD_CLOEXEC, HIGH_FD) : -1;

	if (fd != -1)
		close(fd);
	return high;
}

/* It has a name only for as long as this takes. */
static int
open_fifo(struct jobserver *j)
{
	const char *directory = getenv("TMPDIR");
	static const char name[] = "/fifo";
	char path[4096];
	int error = 0;
	size_t n;

	if (directory == NULL || *directory != '/')
		directory = "/tmp";
	n = (size_t)snprintf(path, sizeof(path), "%s/flocklimit-XXXXXX", directory);
	if (n + sizeof(name) > sizeof(path))
		return ENAMETOOLONG;
	if (mkdtemp(path) == NULL)
		return errno;
	memcpy(path + n, name, sizeof(name));
	if (mkfifo(path, 0600) == -1 || (j->in = raise_fd(open(path, O_RDWR | O_CLOEXEC))) == -1 ||
	    (j->out = raise_fd(open(path, O_RDWR | O_CLOEXEC))) == -1 ||
	    (j->own = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK)) == -1 ||
	    (j->notify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK)) == -1 ||
	    inotify_add_watch(j->notify, path, IN_ACCESS | IN_MODIFY) == -1 ||
	    fcntl(j->notify, F_SETOWN, getpid()) == -1 ||
	    fcntl(j->notify, F_SETFL, O_NONBLOCK | O_ASYNC) == -1)
		error = errno;
	unlink(path);
	path[n] = '\0';
	rmdir(path);
	return error;
}

static int
lying(const struct jobserver *j)
{
	int n = 0;

	return ioctl(j->own, FIONREAD, &n) == -1 ? 0 : n;
}

/* ---- tokens and permits ---- */

static bool
lend(struct jobserver *j)
{
	struct flk_taker **t = &j->taker[j->lent];

	if (*t == NULL && flk_taker_new(t, j->limiter) != 0)
		return false;
	if (flk_try(*t, &j->want) != 0)
		return false;
	/* Not in a file that newcomers no longer find. */
	if (flk_verify(j->limiter) != 0 || flk_guard_by(*t, j->guard) != 0 ||
	    write(j->own, "+", 1) != 1) {
		flk_release(*t);
		return false;
	}
	j->lent++;
	return true;
}

/*
 * A read that never waits: somebody else may be faster.  Our own description can be told so, and
 * the one that commands inherit is left as they know it.
 */
static bool
take_byte(const struct jobserver *j)
{
	char token;

	return read(j->own, &token, 1) == 1;
}

static bool
call_back(struct jobserver *j)
{
	if (!take_byte(j))
		return false;
	if (j->lent > 0) /* else somebody wrote one of his own */
		flk_release(j->taker[--j->lent]);
	return true;
}

/* Of what only time brings there is no news. */
static uint64_t
next_time(const struct jobserver *j, const struct flk_place *place)
{
	struct flk_pace pace;

	if (place->next_start_ns != 0)
		return place->next_start_ns;
	flk_pace(j->limiter, &pace);
	if (pace.ramp_from == 0)
		return NEVER;
	return now_ns() + (pace.ramp_period_ns > LEAST_RAMP ? pace.ramp_period_ns : LEAST_RAMP);
}

void
jobserver_look(struct jobserver *j)
{
	struct flk_place place = { .paused = true };
	bool wanted = true, going = true;
	uint32_t deeds = 2 * j->tokens;
	char events[4096];

	while (read(j->notify, events, sizeof(events)) > 0)
		;
	j->due_ns = NEVER;
	/* Whatever the limiter answers: after so many deeds, signals are heard again. */
	for (; going && deeds > 0; deeds--) {
		if (flk_place(j->eye, &place) != 0)
			return;
		wanted =
		    place.ahead > 0 || place.paused || place.closed || place.used > place.limit;
		if (wanted || lying(j) > 1)
			going = call_back(j);
		else
			going = lying(j) == 0 && j->lent < j->tokens - 1 && lend(j);
	}
	if (!place.paused && !place.closed && place.ahead == 0 && lying(j) == 0 &&
	    j->lent < j->tokens - 1)
		j->due_ns = next_time(j, &place);
}

/* ---- the one who follows the history ---- */

static void
follow(const struct jobserver *j, pid_t parent)
{
	struct timespec least = { 0, LEAST_NS }, blind = { 1, 0 };
	union sigval ours = { .sival_ptr = (void *)(uintptr_t)j };
	struct flk_event event[32];
	uint64_t number = 0;
	size_t n;
	int error;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	process_close_from(0); /* none of it is for us to keep open */
	while (getppid() == parent) {
		while ((n = flk_history(j->limiter, number, event, 32)) > 0)
			number = event[n - 1].number;
		sigqueue(parent, SIGIO, ours);
		nanosleep(&least, NULL);
		error = flk_follow(j->limiter, number, NULL);
		if (error == -FLK_GONE)
			pause(); /* there will be no news */
		else if (error != 0)
			nanosleep(&blind, NULL);
	}
	_exit(0);
}

static void
start_follower(struct jobserver *j)
{
	pid_t parent = getpid();

	j->follower = fork();
	if (j->follower == 0)
		follow(j, parent);
}

bool
jobserver_hears(struct jobserver *j, const siginfo_t *info)
{
	if (info->si_signo == SIGCHLD && j->follower > 0 &&
	    waitpid(j->follower, NULL, WNOHANG) == j->follower)
		start_follower(j);
	if (info->si_signo != SIGIO)
		return false;
	/* Whoever sent it: one of ours may have found it pending, and then there is no other. */
	jobserver_look(j);
	/* The kernel's; the follower's, an earlier one's too; or its sender is not known. */
	return info->si_code > 0 || info->si_pid == 0 ||
	       (info->si_code == SI_QUEUE && info->si_value.sival_ptr == j);
}

uint64_t
jobserver_due(const struct jobserver *j)
{
	return j->due_ns;
}

/* ---- its life ---- */

struct jobserver *
jobserver_open(struct flk *limiter, const char *limiter_name, const struct flk_request *want,
	       uint32_t tokens, enum jobserver_style style, const char *program,
	       struct heritage *heritage)
{
	struct jobserver *j = calloc(1, sizeof(*j));
	int error = ENOMEM;
	bool fifo;

	if (j == NULL)
		goto out;
	*j = (struct jobserver){ .limiter = limiter,
				 .name = limiter_name,
				 .want = *want,
				 .tokens = tokens,
				 .due_ns = NEVER,
				 .own = -1,
				 .in = -1,
				 .out = -1,
				 .notify = -1,
				 .guard = -1 };
	snprintf(j->command, sizeof(j->command), "job of %s", program);
	j->want.command = j->command;
	fifo = style == JOBSERVER_FIFO ||
	       (style == JOBSERVER_BEST && make_knows_fifo(program, heritage));
	j->taker = calloc(tokens, sizeof(struct flk_taker *));
	if (j->taker == NULL || (error = -flk_taker_new(&j->eye, limiter)) != 0 ||
	    (error = open_fifo(j)) != 0 || (error = set_makeflags(j, fifo)) != 0)
		goto out;
	j->guard = flk_guard_open(limiter);
	error = j->guard < 0 ? -j->guard : 0;
	if (error == 0 && (j->guard = raise_fd(j->guard)) == -1)
		error = errno;
	heritage->also[0] = j->guard;
	heritage->also[1] = fifo ? -1 : j->in;
	heritage->also[2] = fifo ? -1 : j->out;
	start_follower(j);
out:
	if (error == 0)
		return j;
	say(limiter_name, "--jobserver: %s", flk_strerror(-error));
	jobserver_close(j);
	return NULL;
}

void
jobserver_close(struct jobserver *j)
{
	uint32_t i;

	if (j == NULL)
		return;
	if (j->follower > 0) {
		kill(j->follower, SIGKILL);
		waitpid(j->follower, NULL, 0);
	}
	for (i = 0; j->taker != NULL && i < j->tokens; i++)
		flk_taker_free(j->taker[i]);
	flk_taker_free(j->eye);
	free(j->taker);
	free(j);
}
