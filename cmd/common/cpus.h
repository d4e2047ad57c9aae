/*
 * cpus.h - how many CPUs may this process use?
 */
#ifndef CPUS_H
#define CPUS_H

#include <stdint.h>
#include <sys/types.h>

/* So many per cent of them, rounded up: by affinity, and by the CPU quota of the cgroup. */
uint32_t cpus(uint32_t percent);

/* Thousandths of a CPU that the cgroup of a process may use; UINT64_MAX: no quota is known. */
uint64_t cpus_quota(pid_t pid);

#endif
