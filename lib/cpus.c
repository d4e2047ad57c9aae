/* SPDX-License-Identifier: ISC */
/*
 * cpus.c - how many CPUs a process may use: the limit where none is declared.
 */
#include "flocklimit.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cancel.h"

/* The start of a file as a string; false if there is none. */
static bool
read_text(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd == -1)
		return false;
	n = read(fd, text, size - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	return n > 0;
}

/* Thousandths of a CPU that this directory's cgroup allows. */
static uint64_t
quota_of(const char *dir)
{
	char path[600], text[64];
	long long quota = -1, period = 0;

	snprintf(path, sizeof(path), "%s/cpu.max", dir);
	if (read_text(path, text, sizeof(text))) {
		if (sscanf(text, "%lld %lld", &quota, &period) != 2)
			return UINT64_MAX; /* max */
	} else {
		snprintf(path, sizeof(path), "%s/cpu.cfs_quota_us", dir);
		if (!read_text(path, text, sizeof(text)) || sscanf(text, "%lld", &quota) != 1)
			return UINT64_MAX;
		snprintf(path, sizeof(path), "%s/cpu.cfs_period_us", dir);
		if (!read_text(path, text, sizeof(text)) || sscanf(text, "%lld", &period) != 1)
			return UINT64_MAX;
	}
	if (quota <= 0 || period <= 0)
		return UINT64_MAX;
	return (uint64_t)quota * 1000 / (uint64_t)period;
}

/* A parent's quota binds as well, up to the root of what is mounted here. */
static uint64_t
quota_up_from(const char *mount, const char *group)
{
	uint64_t least = UINT64_MAX, quota;
	char dir[512];
	char *slash;

	snprintf(dir, sizeof(dir), "%s%s", mount, group);
	for (;;) {
		quota = quota_of(dir);
		if (quota < least)
			least = quota;
		slash = strrchr(dir, '/');
		if (strlen(dir) <= strlen(mount) || slash == NULL)
			return least;
		*slash = '\0';
	}
}

/* Among the controllers of a version 1 hierarchy, as in "cpu,cpuacct"; "cpuset" is another. */
static bool
has_cpu(char *controllers)
{
	char *save, *name = strtok_r(controllers, ",", &save);

	while (name != NULL && strcmp(name, "cpu") != 0)
		name = strtok_r(NULL, ",", &save);
	return name != NULL;
}

static uint64_t
quota_of_process(pid_t pid)
{
	char path[40], text[4096], *line, *save, *controllers, *group;
	uint64_t least = UINT64_MAX, quota;

	snprintf(path, sizeof(path), "/proc/%d/cgroup", (int)pid);
	if (!read_text(path, text, sizeof(text)))
		return UINT64_MAX;
	for (line = strtok_r(text, "\n", &save); line != NULL; line = strtok_r(NULL, "\n", &save)) {
		controllers = strchr(line, ':');
		if (controllers == NULL || (group = strchr(controllers + 1, ':')) == NULL)
			continue;
		*group++ = '\0';
		controllers++;
		if (*controllers == '\0')
			quota = quota_up_from("/sys/fs/cgroup", group);
		else if (has_cpu(controllers))
			quota = quota_up_from("/sys/fs/cgroup/cpu", group);
		else
			continue;
		if (quota < least)
			least = quota;
	}
	return least;
}

uint64_t
flk_cpu_quota(pid_t pid)
{
	int cancel FLKI_RESTORED = flki_no_cancel();

	return quota_of_process(pid);
}

uint32_t
flk_cpus(uint32_t percent)
{
	cpu_set_t set;
	int cancel FLKI_RESTORED = flki_no_cancel();
	uint64_t milli = 1000, quota = quota_of_process(getpid()), n;
	long online;

	if (sched_getaffinity(0, sizeof(set), &set) == 0)
		milli = (uint64_t)CPU_COUNT(&set) * 1000;
	else if ((online = sysconf(_SC_NPROCESSORS_ONLN)) > 0)
		milli = (uint64_t)online * 1000;
	if (quota < milli)
		milli = quota;
	n = (milli * percent + 99999) / 100000;
	if (n < 1)
		n = 1;
	return n < FLK_MAX_UNITS ? (uint32_t)n : FLK_MAX_UNITS;
}
