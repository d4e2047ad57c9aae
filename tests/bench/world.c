/* SPDX-License-Identifier: ISC */
#include "world.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/prctl.h>
#include <sys/wait.h>

static char directory[] = "/dev/shm/flocklimit-bench.XXXXXX";
static char on_disk[] = "/var/tmp/flocklimit-bench.XXXXXX";

FILE *report;

uint64_t
now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void
die(const char *format, ...)
{
	va_list arguments;

	fprintf(report, "\nbench: ");
	va_start(arguments, format);
	vfprintf(report, format, arguments);
	va_end(arguments);
	fprintf(report, "\n");
	world_complaints(report);
	exit(1);
}

char *
world_path(char path[PATH_SIZE], const char *name)
{
	snprintf(path, PATH_SIZE, "%s/%s", directory, name);
	return path;
}

char *
world_disk_path(char path[PATH_SIZE], const char *name)
{
	snprintf(path, PATH_SIZE, "%s/%s", on_disk, name);
	return path;
}

/* ---- the end of it ---- */

static pid_t
parent_of(pid_t pid)
{
	char path[64], text[512];
	const char *after;
	ssize_t n;
	int fd, parent;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	if ((fd = open(path, O_RDONLY | O_CLOEXEC)) == -1)
		return 0;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	after = strrchr(text, ')');
	return after != NULL && sscanf(after + 1, " %*c %d", &parent) == 1 ? (pid_t)parent : 0;
}

/* A child's children become ours when it dies, and are found the next time. */
static void
kill_children(void)
{
	const struct dirent *entry;
	DIR *proc = opendir("/proc");
	pid_t pid;

	if (proc == NULL)
		return;
	while ((entry = readdir(proc)) != NULL)
		if ((pid = atoi(entry->d_name)) > 1 && parent_of(pid) == getpid())
			kill(pid, SIGKILL);
	closedir(proc);
}

static int
remove_one(const char *path, const struct stat *status, int kind, struct FTW *where)
{
	(void)status;
	(void)kind;
	(void)where;
	remove(path);
	return 0;
}

static void
clean_up(void)
{
	pid_t pid;

	for (;;) {
		kill_children();
		while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
			;
		if (pid == -1 && errno == ECHILD)
			break;
		usleep(1000);
	}
	nftw(directory, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	nftw(on_disk, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* The worker's exit status; or, negated, the signal that ends all. */
static int
watch(pid_t worker, const sigset_t *set)
{
	int sig, status;
	pid_t pid;

	for (;;) {
		sig = sigwaitinfo(set, NULL);
		if (sig == -1)
			continue;
		if (sig != SIGCHLD)
			return -sig;
		while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
			if (pid == worker)
				return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
	}
}

/* ---- the beginning ---- */

static void
settle_worker(void)
{
	char path[PATH_SIZE];
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	int log = open(world_path(path, "stderr"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	int out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 10);

	report = fdopen(out, "w");
	if (null == -1 || log == -1 || report == NULL || dup2(null, STDIN_FILENO) == -1 ||
	    dup2(null, STDOUT_FILENO) == -1 || dup2(log, STDERR_FILENO) == -1)
		_exit(1);
	setvbuf(report, NULL, _IOLBF, 0);
	close(null);
	close(log);
	unsetenv("FLOCKLIMIT_NAME");
	unsetenv("FLOCKLIMIT_HELD");
	unsetenv("FLOCKLIMIT_TICKET");
	setenv("FLOCKLIMIT_DIR", directory, 1);
	setenv("PARALLEL_HOME", directory, 1);
	if (chdir(directory) != 0)
		_exit(1);
}

void
world_begin(void)
{
	sigset_t set, saved;
	pid_t worker;
	int ended;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGQUIT);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, &saved);
	signal(SIGCHLD, SIG_DFL);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (mkdtemp(directory) == NULL || mkdtemp(on_disk) == NULL || (worker = fork()) == -1) {
		perror("bench");
		exit(1);
	}
	if (worker == 0) {
		sigprocmask(SIG_SETMASK, &saved, NULL);
		settle_worker();
		return;
	}
	ended = watch(worker, &set);
	clean_up();
	if (ended >= 0)
		exit(ended);
	signal(-ended, SIG_DFL);
	raise(-ended);
	sigprocmask(SIG_SETMASK, &saved, NULL);
	exit(1);
}

long
world_complaints(FILE *to)
{
	char path[PATH_SIZE], text[512];
	FILE *log = fopen(world_path(path, "stderr"), "re");
	size_t n;
	long all = 0;

	if (log == NULL)
		return 0;
	while ((n = fread(text, 1, sizeof(text), log)) > 0) {
		if (all < 4096)
			fwrite(text, 1, n, to);
		all += (long)n;
	}
	fclose(log);
	return all;
}
