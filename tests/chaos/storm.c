/* SPDX-License-Identifier: ISC */
/*
 * storm.c - 64 flocklimits of mixed weights at once, while wrappers, commands and both are killed
 * at random.  The witness knows nothing of the limiter: each command locks a byte of a file of
 * its own, which the kernel unlocks when it dies, and adds up the weights of those commands that
 * run when it starts: their byte is locked, or their process is not yet past its exit.
 *
 * The lock is the process's own, not its description's: another process that looks at descriptors
 * in /proc borrows a description, and may keep it for longer than its owner lives.
 *
 *	storm.t [STARTS [SEED]]		the test
 *	storm.t command WEIGHT		what it runs under flocklimit
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "../helpers/common.h"
#include "../helpers/scratch.h"
#include "../helpers/tap.h"

#define LIMIT    8
#define AT_ONCE  64
#define MOST     20000
#define MUTEX_AT (1 << 30) /* the byte that serialises the witnesses */

struct witness {
	_Atomic unsigned next, started, violations, most;
	struct {
		_Atomic unsigned weight;
		_Atomic pid_t pid;
		_Atomic unsigned long long since; /* tells it from another of that pid */
	} cell[MOST];
};

static struct witness *witness;
static int witness_fd;

static void
attach_witness(void)
{
	const char *path = getenv("STORM_WITNESS");
	int fd = path != NULL ? open(path, O_RDWR | O_CLOEXEC) : -1;

	witness_fd = fd;
	if (fd == -1)
		exit(99);
	witness = mmap(NULL, sizeof(*witness), PROT_READ | PROT_WRITE, MAP_SHARED, witness_fd, 0);
	if (witness == MAP_FAILED)
		exit(99);
}

static int
byte_lock(int cmd, short type, off_t at)
{
	struct flock lock = { .l_type = type, .l_start = at, .l_len = 1 };

	if (fcntl(witness_fd, cmd, &lock) == -1)
		return -1;
	return lock.l_type == F_UNLCK ? 0 : 1;
}

/* When the process was started, in ticks, and whether its exit has begun and is not over. */
static unsigned long long
look_at(pid_t pid, bool *exits)
{
	unsigned long long since = 0;
	char text[STAT_TEXT], state = 'X';
	const char *stat = stat_of(pid, text);
	unsigned flags = 0;

	if (stat != NULL)
		sscanf(stat,
		       "%c %*d %*d %*d %*d %*d %u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d"
		       " %llu",
		       &state, &flags, &since);
	*exits = (flags & 4) != 0 && state != 'Z' && state != 'X'; /* PF_EXITING */
	return since;
}

static bool
runs(unsigned i)
{
	bool exits;

	return byte_lock(F_GETLK, F_WRLCK, (off_t)i) == 1 ||
	       (look_at(atomic_load(&witness->cell[i].pid), &exits) ==
		    atomic_load(&witness->cell[i].since) &&
		exits);
}

static unsigned
weight_of(unsigned i, unsigned mine)
{
	if (i == mine || runs(i))
		return atomic_load(&witness->cell[i].weight);
	atomic_store(&witness->cell[i].weight, 0);
	return 0;
}

static int
command(unsigned weight)
{
	unsigned mine, i, sum = 0, n;
	bool exits;

	attach_witness();
	mine = atomic_fetch_add(&witness->next, 1);
	if (mine >= MOST)
		return 98;
	byte_lock(F_SETLKW, F_WRLCK, MUTEX_AT);
	byte_lock(F_SETLK, F_WRLCK, (off_t)mine);
	atomic_store(&witness->cell[mine].pid, getpid());
	atomic_store(&witness->cell[mine].since, look_at(getpid(), &exits));
	atomic_store(&witness->cell[mine].weight, weight);
	n = atomic_load(&witness->next);
	for (i = n > 2000 ? n - 2000 : 0; i < n; i++)
		if (atomic_load(&witness->cell[i].weight) != 0)
			sum += weight_of(i, mine);
	if (sum > LIMIT)
		atomic_fetch_add(&witness->violations, 1);
	if (sum > atomic_load(&witness->most))
		atomic_store(&witness->most, sum);
	atomic_fetch_add(&witness->started, 1);
	byte_lock(F_SETLK, F_UNLCK, MUTEX_AT);
	usleep((useconds_t)(rand() % 3000));
	return 0; /* the kernel unlocks */
}

/* ---- the driver ---- */

static pid_t running[AT_ONCE];
static char limiter[200];

static pid_t
launch(const char *self, unsigned weight)
{
	const char *flocklimit = getenv("FLOCKLIMIT");
	char text[16];
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	snprintf(text, sizeof(text), "%u", weight);
	execl(flocklimit != NULL ? flocklimit : "flocklimit", "flocklimit", "-f", limiter, "-n",
	      "8", "-w", text, self, "command", text, NULL);
	_exit(97);
}

/* A wrapper, a command that runs, or the two together: kinds 0, 1, 2. */
static void
kill_some(int kind)
{
	pid_t wrapper = running[rand() % AT_ONCE], pid = 0;
	unsigned n = atomic_load(&witness->next), i;

	for (i = n > 20 ? n - 20 : 0; kind > 0 && i < n && pid == 0; i++)
		if (rand() % 4 == 0 && atomic_load(&witness->cell[i].weight) != 0 &&
		    byte_lock(F_GETLK, F_WRLCK, (off_t)i) == 1)
			pid = atomic_load(&witness->cell[i].pid);
	if (kind != 1 && wrapper > 0)
		kill(wrapper, SIGKILL);
	if (pid > 0)
		kill(pid, SIGKILL);
}

static bool
reap(void)
{
	int status, i;
	pid_t pid = waitpid(-1, &status, WNOHANG);

	if (pid <= 0)
		return false;
	for (i = 0; i < AT_ONCE; i++)
		if (running[i] == pid)
			running[i] = 0;
	return true;
}

static void
storm(const char *self, unsigned starts)
{
	unsigned launched = 0, i, left = 1;

	while (launched < starts || left > 0) {
		left = 0;
		for (i = 0; i < AT_ONCE; i++) {
			if (running[i] == 0 && launched < starts) {
				running[i] =
				    launch(self, rand() % 16 == 0 ? 8 : 1 + (unsigned)rand() % 4);
				launched++;
			}
			left += running[i] != 0;
		}
		if (launched < starts && rand() % 3 == 0)
			kill_some(rand() % 3);
		if (!reap())
			usleep(200);
	}
	while (waitpid(-1, NULL, 0) > 0) /* orphans, which became ours */
		;
}

int
main(int argc, char **argv)
{
	unsigned starts = 1500, seed;
	char dir[SCRATCH], path[200], why[200] = "", self[200] = "";
	struct flk_snapshot *snap = NULL;
	struct flk *f = NULL;

	if (argc == 3 && strcmp(argv[1], "command") == 0) {
		srand((unsigned)getpid());
		return command((unsigned)atoi(argv[2]));
	}
	if (argc > 1)
		starts = (unsigned)atoi(argv[1]);
	seed = argc > 2 ? (unsigned)atoi(argv[2]) : (unsigned)getpid();
	alarm(1800);
	srand(seed);
	tap_note("seed %u", seed);
	scratch_dir(dir);
	if (readlink("/proc/self/exe", self, sizeof(self) - 1) == -1)
		return 1;
	snprintf(limiter, sizeof(limiter), "%s/limiter", dir);
	snprintf(path, sizeof(path), "%s/witness", dir);
	setenv("STORM_WITNESS", path, 1);
	/* A leak checker's helper shares the descriptors of the command that it checks, and so its
	 * locks, for longer than the command lives. */
	setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
	if (truncate(path, 0) == -1 && errno != ENOENT)
		return 1;
	close(open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600));
	if (truncate(path, (off_t)sizeof(struct witness)) == -1)
		return 1;
	attach_witness();
	prctl(PR_SET_CHILD_SUBREAPER, 1);

	storm(self, starts);

	ok(atomic_load(&witness->violations) == 0, "the weights that run never pass the limit");
	ok(atomic_load(&witness->most) == LIMIT, "and reach it");
	ok(atomic_load(&witness->started) > starts / 6, "commands ran");
	tap_note("%u wrappers, %u commands began, at most %u of %u units", starts,
		 atomic_load(&witness->started), atomic_load(&witness->most), LIMIT);
	ok(flk_attach(&f, limiter, NULL) == 0 && flk_check(f, why, sizeof(why)) == 0,
	   "every invariant holds%s%s", *why ? ": " : "", why);
	ok(flk_snapshot(f, &snap) == 0 && snap->used == 0 && snap->waiters == 0,
	   "the capacity is whole");
	free(snap);
	flk_detach(f);
	unlink(limiter);
	unlink(path);
	rmdir(dir);
	return tap_done();
}
