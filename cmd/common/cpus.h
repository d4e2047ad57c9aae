/*
 * cpus.h - how many CPUs may this process use?
 */
#ifndef CPUS_H
#define CPUS_H

#include <stdint.h>

/* So many per cent of them, rounded up: by affinity, and by the CPU quota of the cgroup. */
uint32_t cpus(uint32_t percent);

#endif
