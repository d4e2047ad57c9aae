/* SPDX-License-Identifier: ISC */
/*
 * cpus.c - how many CPUs a process may use: the limit where none is declared.
 */
#include "flocklimit.h"
#include "own.h"

#include <sched.h>
#include <stdio.h>
#include <unistd.h>

#include "cancel.h"
#include "cgroup.h"

/* Thousandths of a CPU that this directory's cgroup allows. */
static uint64_t
quota_of(const char *dir)
{
	char text[64];
	long long quota = -1, period = 0;

	if (flki_read_text_in(dir, "cpu.max", text, sizeof(text))) {
		if (sscanf(text, "%lld %lld", &quota, &period) != 2)
			return UINT64_MAX; /* max */
	} else if (!flki_read_text_in(dir, "cpu.cfs_quota_us", text, sizeof(text)) ||
		   sscanf(text, "%lld", &quota) != 1 ||
		   !flki_read_text_in(dir, "cpu.cfs_period_us", text, sizeof(text)) ||
		   sscanf(text, "%lld", &period) != 1) {
		return UINT64_MAX;
	}
	if (quota <= 0 || period <= 0)
		return UINT64_MAX;
	return (uint64_t)quota * 1000 / (uint64_t)period;
}

/* A parent's quota binds as well. */
static void
look_at_quota(const char *dir, void *least)
{
	uint64_t quota = quota_of(dir);

	if (quota < *(uint64_t *)least)
		*(uint64_t *)least = quota;
}

static uint64_t
quota_of_process(pid_t pid)
{
	uint64_t least = UINT64_MAX;

	flki_cgroups(pid, "cpu", look_at_quota, &least);
	return least;
}

uint64_t
flki_cpu_quota(pid_t pid)
{
	int cancel FLKI_RESTORED = flki_no_cancel();

	return quota_of_process(pid);
}

uint32_t
flk_cpus(uint32_t percent)
{
	cpu_set_t set[64]; /* the kernel refuses a set with less room than it could have CPUs */
	int cancel FLKI_RESTORED = flki_no_cancel();
	uint64_t milli = 1000, quota = quota_of_process(getpid()), n;
	long online;

	if (sched_getaffinity(0, sizeof(set), set) == 0)
		milli = (uint64_t)CPU_COUNT_S(sizeof(set), set) * 1000;
	else if ((online = sysconf(_SC_NPROCESSORS_ONLN)) > 0)
		milli = (uint64_t)online * 1000;
	if (quota < milli)
		milli = quota;
	n = (milli * percent + 99999) / 100000;
	if (n < 1)
		n = 1;
	return n < FLK_MAX_UNITS ? (uint32_t)n : FLK_MAX_UNITS;
}
