/* SPDX-License-Identifier: ISC */
/*
 * bound COMMAND [ARG]... - runs one test, and answers for it:
 *
 *	signals		The test finds each signal with its default action and none blocked.  `make check'
 *			may itself run under nohup, in the background of a script, below Python or in a CI
 *			runner, and each of these leaves some signals ignored; a test would inherit that, and
 *			bash can't undo it.
 *	time		A test that still runs after TEST_SECONDS is killed and fails by name.
 *	processes	Nothing that the test started outlives it.  What a test leaves running is a failure of
 *			that test.
 *	files		$TMPDIR is a new directory, which goes with the test.  What a test leaves there is a
 *			failure, too.
 *	cgroups		A test may make one, flocklimit-NAME at the root of the hierarchy, where NAME is the last
 *			component of $TMPDIR, and in it one called below.  They go with the test as well.
 *
 * All of this holds if the test is killed in its midst, and if we are: two processes watch over the
 * test, in sessions of their own.  Both are subreapers, so whatever the test started becomes a child of
 * the keeper when its own parent ends, and of the keeper's parent when somebody kills the keeper.
 */
#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define MOST_SECONDS 1800 /* generous: a machine may be busy with sixty other things */
#define GRACE        10   /* TEST_GRACE: seconds for what ends by itself when the test has ended */
#define FAILED       99   /* what the TAP driver takes for an error */

static const char *test; /* the last word of the command: a test's file */
static char dir[200];

/* By system call, because C libraries keep signals 32 to 34 to themselves. */
static void
default_signals(void)
{
	/* The kernel's struct sigaction of any machine: all zeros are SIG_DFL and no flags. */
	char by_default[128] = "";
	unsigned long none = 0;
	int sig;

	for (sig = 1; sig <= 64; sig++)
		syscall(SYS_rt_sigaction, sig, by_default, NULL, sizeof(none));
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &none, NULL, sizeof(none));
}

/* ---- files ---- */

static int
remove_one(const char *path, const struct stat *sb, int type, struct FTW *ftw)
{
	(void)sb;
	(void)type;
	(void)ftw;
	remove(path);
	return 0;
}

/* A test makes directories that nobody may read, but not as root; and never leaves a mount there. */
static void
remove_dir(void)
{
	nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

/* 0 if there was one.  Only when nothing runs in it any more. */
static int
remove_cgroup(void)
{
	static const char *const roots[] = { "/sys/fs/cgroup", "/sys/fs/cgroup/unified",
					     "/sys/fs/cgroup/cpu", "/sys/fs/cgroup/freezer" };
	char path[300];
	int result = -1;
	size_t i;

	for (i = 0; i < sizeof(roots) / sizeof(roots[0]); i++) {
		snprintf(path, sizeof(path), "%s/flocklimit-%s/below", roots[i],
			 strrchr(dir, '/') + 1);
		rmdir(path);
		*strrchr(path, '/') = '\0';
		if (rmdir(path) == 0)
			result = 0;
	}
	return result;
}

/* Others must be able to go through it: tests have files for other users in it. */
static int
make_dir(void)
{
	const char *above = getenv("TMPDIR");

	if (above == NULL || *above != '/' || strlen(above) > 100)
		above = "/tmp";
	snprintf(dir, sizeof(dir), "%s/test.XXXXXX", above);
	if (mkdtemp(dir) == NULL || chmod(dir, 0755) == -1 || setenv("TMPDIR", dir, 1) == -1) {
		fprintf(stderr, "bound: %s: %s\n", dir, strerror(errno));
		return -1;
	}
	return 0;
}

static int
report_files(void)
{
	DIR *d = opendir(dir);
	struct dirent *entry;
	int left = 0;

	while (d != NULL && (entry = readdir(d)) != NULL)
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
			printf("# %s left behind: $TMPDIR/%s\n", test, entry->d_name);
			left++;
		}
	if (d != NULL)
		closedir(d);
	return left;
}

/* ---- processes ---- */

static pid_t
parent_of(const char *pid)
{
	char path[64], text[512];
	const char *p;
	FILE *f;
	size_t n;

	snprintf(path, sizeof(path), "/proc/%.20s/stat", pid);
	if ((f = fopen(path, "re")) == NULL)
		return -1;
	n = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[n] = '\0';
	return (p = strrchr(text, ')')) != NULL && p[1] != '\0' && p[2] != 'Z' ? atoi(p + 4) : -1;
}

static void
report_process(const char *pid)
{
	char path[64], text[300];
	size_t n = 0, i;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%.20s/cmdline", pid);
	if ((f = fopen(path, "re")) != NULL) {
		n = fread(text, 1, sizeof(text) - 1, f);
		fclose(f);
	}
	for (i = 0; i < n; i++)
		if (text[i] < ' ' || text[i] > '~')
			text[i] = ' ';
	text[n] = '\0';
	printf("# %s left running: %s %s\n", test, pid, text);
}

/* Does something with each child of that process that is no zombie, and with theirs if it is told to. */
static void /* NOLINTNEXTLINE(misc-no-recursion): a tree of processes is not deep */
each_child(pid_t parent, void (*act)(const char *pid), int deep)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;

	while (proc != NULL && (entry = readdir(proc)) != NULL)
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' &&
		    parent_of(entry->d_name) == parent) {
			act(entry->d_name);
			if (deep)
				each_child(atoi(entry->d_name), act, deep);
		}
	if (proc != NULL)
		closedir(proc);
}

static void
kill_it(const char *pid)
{
	kill(atoi(pid), SIGKILL);
}

/* A child's death makes its own children ours; so it goes on until there are none. */
static void
kill_all(void)
{
	struct timespec moment = { 0, 1000000 };

	for (;;) {
		each_child(getpid(), kill_it, 0);
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
		if (waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD)
			return;
		nanosleep(&moment, NULL);
	}
}

/* ---- the keeper ---- */

/* What ends us, and SIGCHLD.  Blocked, for sigtimedwait(). */
static void
listen_to(sigset_t *set)
{
	static const int signals[] = { SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM };
	size_t i;

	sigemptyset(set);
	for (i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaddset(set, signals[i]);
	sigprocmask(SIG_SETMASK, set, NULL);
}

static time_t
seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec;
}

static time_t
seconds_of(const char *variable, time_t otherwise)
{
	const char *word = getenv(variable);

	return word != NULL && atol(word) > 0 ? atol(word) : otherwise;
}

/*
 * Reaps until that child has ended (0: until none is left) and stores its status.  Returns 0, or a
 * signal that ends us, or -1 when time is over.
 */
static int
reap_until(pid_t wanted, time_t deadline, const sigset_t *set, int *status)
{
	struct timespec left = { 0, 0 };
	int sig, got;
	pid_t pid;

	for (;;) {
		while ((pid = waitpid(-1, &got, WNOHANG)) > 0)
			if (pid == wanted) {
				*status = got;
				return 0;
			}
		if (pid == -1 && errno == ECHILD)
			return 0;
		left.tv_sec = deadline - seconds();
		if (left.tv_sec <= 0)
			return -1;
		sig = sigtimedwait(set, NULL, &left);
		if (sig > 0 && sig != SIGCHLD)
			return sig;
	}
}

static int
ended(const char *what, time_t limit)
{
	printf("# %s\n", what);
	each_child(getpid(), report_process, 1);
	printf("Bail out! %s did not end within %ld s\n", test, (long)limit);
	return FAILED;
}

/* What is left when the test has ended may be about to end, too. */
static int
see_to_the_rest(int status, const sigset_t *set)
{
	int result = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), left = 0;

	if (reap_until(0, seconds() + seconds_of("TEST_GRACE", GRACE), set, &status) != 0) {
		each_child(getpid(), report_process, 1);
		left = 1;
	}
	kill_all();
	left += report_files();
	if (remove_cgroup() == 0) {
		printf("# %s left behind: a cgroup\n", test);
		left++;
	}
	return result == 0 && left > 0 ? FAILED : result;
}

static int
keep(char **argv, pid_t parent)
{
	time_t limit = seconds_of("TEST_SECONDS", MOST_SECONDS);
	int status = 0, sig;
	sigset_t set;
	pid_t pid;

	setsid();
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	listen_to(&set);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		return FAILED;
	pid = fork();
	if (pid == 0) {
		setpgid(0, 0); /* with us in its session, so that the kernel lets it be stopped */
		default_signals();
		execvp(argv[0], argv);
		fprintf(stderr, "bound: %s: %s\n", argv[0], strerror(errno));
		_exit(127);
	}
	sig = pid == -1 ? SIGABRT : reap_until(pid, seconds() + limit, &set, &status);
	if (sig == 0)
		status = see_to_the_rest(status, &set);
	else
		status = sig == -1 ? ended("time is over", limit) : 128 + sig;
	kill_all();
	remove_cgroup();
	remove_dir();
	fflush(stdout);
	return status;
}

int
main(int argc, char **argv)
{
	pid_t self = getpid(), keeper;
	int status = 0, sig;
	sigset_t set;

	if (argc < 2) {
		fputs("usage: bound COMMAND [ARG]...\n", stderr);
		return 2;
	}
	test = argv[argc - 1];
	default_signals();
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (make_dir() == -1)
		return FAILED;
	listen_to(&set);
	keeper = fork();
	if (keeper == 0)
		_exit(keep(argv + 1, self));
	sig = keeper == -1 ? SIGABRT : reap_until(keeper, seconds() + (1 << 30), &set, &status);
	if (sig != 0 && keeper > 0) {
		kill(keeper, SIGTERM);
		reap_until(keeper, seconds() + GRACE, &set, &status);
	}
	kill_all(); /* nothing, unless somebody killed the keeper */
	remove_cgroup();
	remove_dir();
	if (sig > 0) {
		default_signals();
		raise(sig);
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
