/* SPDX-License-Identifier: ISC */
#include "escape.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "cgroup.h"

#define DIR_ROOM 512

#ifdef __GLIBC__
typedef __rlimit_resource_t resource;
#else
typedef int resource;
#endif

static bool
write_to(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool done = fd != -1 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd != -1)
		close(fd);
	return done;
}

static bool
procs_of(const char *cgroup, char path[DIR_ROOM])
{
	return (size_t)snprintf(path, DIR_ROOM, "%s/cgroup.procs", cgroup) < DIR_ROOM &&
	       access(path, W_OK) == 0;
}

/*
 * Called from the inside to the outside.  A cgroup that has limits for those in it may have no processes of its
 * own: there we may make one for us.
 */
static void
look(const char *cgroup, void *closed)
{
	char path[DIR_ROOM];

	if (procs_of(cgroup, path))
		snprintf(closed, DIR_ROOM, "%s", write_to(path, "0") ? "" : cgroup);
}

/*
 * Of version 2, and of version 1 the freezer: no limit of another controller is left by that.  For root the
 * outermost is the root, for a user the cgroup that was delegated to him.
 */
static void
leave_cgroup(void)
{
	char closed[DIR_ROOM] = "", own[DIR_ROOM], path[DIR_ROOM];

	flki_cgroups(0, "freezer", look, closed);
	if (*closed == '\0' ||
	    (size_t)snprintf(own, sizeof(own), "%s/flocklimit", closed) >= sizeof(own) ||
	    (mkdir(own, 0755) == -1 && errno != EEXIST))
		return;
	if (!procs_of(own, path) || !write_to(path, "0"))
		rmdir(own);
}

/* To the hard limit, and beyond it if we may. */
static void
lift_limits(void)
{
	static const resource which[] = { RLIMIT_CPU,    RLIMIT_AS,        RLIMIT_DATA,
					  RLIMIT_STACK,  RLIMIT_RSS,       RLIMIT_NPROC,
					  RLIMIT_FSIZE,  RLIMIT_MEMLOCK,   RLIMIT_CORE,
					  RLIMIT_NOFILE, RLIMIT_SIGPENDING };
	const struct rlimit none = { RLIM_INFINITY, RLIM_INFINITY };
	struct rlimit r;
	size_t i;

	for (i = 0; i < sizeof(which) / sizeof(which[0]); i++) {
		if ((which[i] != RLIMIT_NOFILE && setrlimit(which[i], &none) == 0) ||
		    getrlimit(which[i], &r) == -1)
			continue;
		r.rlim_cur = r.rlim_max;
		setrlimit(which[i], &r);
	}
}

void
escape(void)
{
	const struct sched_param normal = { 0 };
	cpu_set_t all;

	leave_cgroup();
	lift_limits();
	memset(&all, 0xff, sizeof(all));
	sched_setaffinity(0, sizeof(all), &all);
	sched_setscheduler(0, SCHED_OTHER, &normal);
	setpriority(PRIO_PROCESS, 0, 0);
	write_to("/proc/self/oom_score_adj", "0");
}
