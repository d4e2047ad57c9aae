/* SPDX-License-Identifier: ISC */
/*
 * measuring.c - what lib/measure.c and lib/cpus.c make of /proc and of the cgroups, on files of our own.
 */
#include "../helpers/common.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- files that are not there ---- */

#define MOST 24
#define FD   1000

static struct {
	char path[160];
	const char *text;
} file[MOST];
static unsigned files;
static const char *opened;
static bool is_open, misused, no_affinity;
static long online_cpus;

static void
no_files(void)
{
	files = 0;
}

static void
put(const char *path, const char *text)
{
	if (files == MOST)
		tap_bail("too many files");
	snprintf(file[files].path, sizeof(file[0].path), "%s", path);
	file[files++].text = text;
}

static void
in_group(const char *dir, const char *name, const char *text)
{
	char path[160];

	snprintf(path, sizeof(path), "/sys/fs/cgroup%s/%s", dir, name);
	put(path, text);
}

static void
this_is_in(const char *groups)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/cgroup", (int)getpid());
	put(path, groups);
}

static int
fake_open(const char *path, int flags)
{
	unsigned i;

	misused |= is_open || flags != (O_RDONLY | O_CLOEXEC);
	for (i = 0; i < files; i++)
		if (strcmp(file[i].path, path) == 0) {
			opened = file[i].text;
			is_open = true;
			return FD;
		}
	errno = ENOENT;
	return -1;
}

static ssize_t
fake_read(int fd, void *to, size_t size)
{
	size_t n = strlen(opened);

	misused |= fd != FD || !is_open;
	n = n < size ? n : size;
	memcpy(to, opened, n);
	return (ssize_t)n;
}

static int
fake_close(int fd)
{
	misused |= fd != FD || !is_open;
	is_open = false;
	return 0;
}

#include "futex.h"

/* The asker of a disk's free space looks at the word again when it is woken: the answer has to be there. */
static _Atomic bool woken_early;

static void
wake(const void *word)
{
	if (atomic_load((const _Atomic uint32_t *)word) == 0)
		atomic_store(&woken_early, true);
	flki_futex_wake(word);
}

#define flki_futex_wake(word)             wake(word)
#define open                              fake_open
#define read                              fake_read
#define close                             fake_close
#define sched_getaffinity(pid, size, set) (no_affinity ? -1 : sched_getaffinity(pid, size, set))
#define sysconf(name)                     (no_affinity ? online_cpus : sysconf(name))
#include "cgroup.c"
#include "cpus.c"
#include "measure.c"
#undef open
#undef read
#undef close

#define GIB (UINT64_C(1) << 30)
#define KIB 1024

static uint64_t
value_of(enum condition_kind kind, const struct pressures *p)
{
	return flki_measure(&(struct condition){ .kind = kind }, p);
}

/* ---- memory ---- */

static void
test_memory(void)
{
	static char group[700];

	no_files();
	is(value_of(MEM, NULL), UINT64_MAX, "no /proc: nothing is known");
	put("/proc/meminfo", "MemTotal:  9 kB\nMemAvailableX: 7 kB\nMemAvailable:    4096 kB\n");
	is(value_of(MEM, NULL), 4096 * KIB, "what the machine has");

	this_is_in("0::/a/b\n");
	in_group("/a/b", "memory.max", "max\n");
	in_group("/a/b", "memory.high", "max\n");
	in_group("/a/b", "memory.current", "4000\n");
	is(value_of(MEM, NULL), 4096 * KIB, "a group without a limit takes nothing away");
	in_group("/a", "memory.high", "9000\n");
	in_group("/a", "memory.max", "max\n");
	in_group("/a", "memory.current", "4000\n");
	is(value_of(MEM, NULL), 5000, "what the group around has left, by its high");
	in_group("", "memory.max", "8000\n");
	in_group("", "memory.current", "7000\n");
	in_group("", "memory.stat", "anon 3\nactive_file 100\ninactive_file 20\n");
	is(value_of(MEM, NULL), 1120, "or the next one, by its max and its file pages");

	no_files();
	put("/proc/meminfo", "MemAvailable: 4096 kB\n");
	this_is_in("0::/a\n");
	in_group("/a", "memory.high", "6000\n");
	in_group("/a", "memory.max", "5000\n");
	is(value_of(MEM, NULL), 4096 * KIB, "no limit without a use of it");
	in_group("/a", "memory.current", "5500\n");
	is(value_of(MEM, NULL), 0, "more than the lower of both limits is in use");
	in_group("/a", "memory.stat", "active_file 4000\ninactive_file 4000\n");
	is(value_of(MEM, NULL), 5000, "no group has more left than its limit");

	no_files();
	put("/proc/meminfo", "MemAvailable: 4096 kB\n");
	this_is_in("0::/a\n");
	in_group("/a", "memory.high", "5000\n");
	in_group("/a", "memory.max", "6000\n");
	in_group("/a", "memory.current", "1000\n");
	is(value_of(MEM, NULL), 4000, "the lower limit counts, whichever it is");

	no_files();
	put("/proc/meminfo", "MemAvailable: 4096 kB\n");
	snprintf(group, sizeof(group), "0::/%0650d", 0);
	this_is_in(group);
	in_group("", "memory.max", "9");
	in_group("", "memory.current", "4");
	is(value_of(MEM, NULL), 4096 * KIB, "a group whose path is too long is not looked at");
	no_files();
	this_is_in("0::/\n");
	in_group("", "memory.max", "9");
	in_group("", "memory.current", "4");
	is(value_of(MEM, NULL), 5, "and a number of one digit is one");
}

static void
test_memory_of_old(void)
{
	no_files();
	put("/proc/meminfo", "MemAvailable: 4096 kB\n");
	this_is_in("5:cpuset:/x\nodd\n4:blkio,memory:/m\n3:memory2:/y\n");
	in_group("/memory/m", "memory.limit_in_bytes", "9000\n");
	in_group("/memory/m", "memory.usage_in_bytes", "8500\n");
	in_group("/memory/x", "memory.limit_in_bytes", "10\n");
	in_group("/memory/x", "memory.usage_in_bytes", "10\n");
	in_group("/memory/m", "memory.stat",
		 "active_file 7\ntotal_active_file 30\ntotal_inactive_file 4\n");
	is(value_of(MEM, NULL), 534, "version 1: what is left, and the file pages of all below");
	no_files();
	put("/proc/meminfo", "MemAvailable: 4096 kB\n");
	this_is_in("4:memory:/m\n");
	in_group("/memory/m", "memory.limit_in_bytes", "1152921504606846976\n");
	in_group("/memory/m", "memory.usage_in_bytes", "1152921504606846976\n");
	is(value_of(MEM, NULL), 4096 * KIB, "and where no limit is a large number");
	no_files();
	put("/proc/meminfo", "MemAvailable: 99999999 kB\n");
	this_is_in("4:memory:/m\n");
	in_group("/memory/m", "memory.limit_in_bytes", "1152921504606846975\n");
	in_group("/memory/m", "memory.usage_in_bytes", "1152921504606846975\n");
	is(value_of(MEM, NULL), 0, "but one less is a limit");
}

/* ---- pressure ---- */

#define LINE(avg10, total)                                         \
	"some avg10=" avg10 " avg60=3.00 avg300=4.00 total=" total \
	"\nfull avg10=9.99 avg60=1 avg300=1 total=5\n"

static void
test_averages(void)
{
	no_files();
	is(value_of(PSI_IO, NULL), UINT64_MAX, "a kernel without pressure files");
	put("/proc/pressure/cpu", LINE("1.25", "10"));
	put("/proc/pressure/memory", LINE("0.07", "20"));
	put("/proc/pressure/io", LINE("12.50", "30"));
	is(value_of(PSI_CPU, NULL), 125, "hundredths of a per cent");
	is(value_of(PSI_MEM, NULL), 7, "with its zero");
	is(value_of(PSI_IO, NULL), 1250, "and whole ones");

	this_is_in("0::/a/b\n");
	in_group("/a/b", "cpu.pressure", LINE("3.00", "1"));
	in_group("/a", "cpu.pressure", LINE("4.00", "1"));
	in_group("/a/b", "memory.pressure", LINE("5.00", "1"));
	in_group("/a/b", "io.pressure", LINE("6.00", "1"));
	in_group("/a/b", "cpu.max", "max 100000\n");
	is(value_of(PSI_CPU, NULL), 125, "the machine's where no group has a limit");
	in_group("/a", "cpu.max", "10 100000\n");
	in_group("/a", "memory.high", "5000\n");
	is(value_of(PSI_CPU, NULL), 300, "the group's own where one around it has");
	is(value_of(PSI_MEM, NULL), 500, "of memory by its high, too");
	is(value_of(PSI_IO, NULL), 1250, "each resource by itself");
}

/* Looks at pressures that rise by 3 %; times in ms before the last look. */
static uint64_t
after_looks(const int *ms, unsigned looks, int step)
{
	struct pressures p = { .looks = looks };
	unsigned n, k;

	for (n = looks > 4 ? looks - 4 : 0, k = looks > 4 ? 0 : 4 - looks; n < looks; n++, k++) {
		p.look[n % 4].at_ns = 100 * SECOND - (uint64_t)ms[k] * MS;
		p.look[n % 4].total_us[2] = (uint64_t)(5000000 - ms[k] * step);
	}
	return value_of(PSI_IO, &p);
}

static void
test_looks(void)
{
	struct pressures p = { .looks = 0 };
	unsigned looks;

	is(value_of(PSI_IO, &p), UINT64_MAX, "no look yet");
	for (looks = 2; looks < 12; looks++)
		is(after_looks((const int[]){ 3000, 2500, 2000, 0 }, looks, 30), 300,
		   "the span since the latest look that is old enough, after %u looks", looks);
	is(after_looks((const int[]){ 2500, 400, 200, 0 }, 4, 30), 300, "the oldest of four");
	is(after_looks((const int[]){ 4000, 2500, 200, 0 }, 4, 30), 300, "or the second");
	is(after_looks((const int[]){ 1900, 400, 200, 0 }, 6, 30), UINT64_MAX,
	   "none is old enough");
	is(after_looks((const int[]){ 9000, 9000, 0, 0 }, 1, 30), UINT64_MAX, "one alone");
	is(after_looks((const int[]){ 0, 0, 1950, 0 }, 2, 30), 300,
	   "a timer may be early by 50 ms");
	is(after_looks((const int[]){ 0, 0, 1949, 0 }, 2, 30), UINT64_MAX, "and no more");
	is(after_looks((const int[]){ 0, 0, 5000, 0 }, 2, 30), 300, "five seconds");
	is(after_looks((const int[]){ 0, 0, 5001, 0 }, 2, 30), UINT64_MAX, "are the most");
	is(after_looks((const int[]){ 0, 0, 3000, 0 }, 2, 0), 0, "no pressure at all");
	is(after_looks((const int[]){ 0, 0, 3000, 0 }, 2, 1000), 10000, "or all the time");
	is(after_looks((const int[]){ 0, 0, 3000, 0 }, 2, -1), UINT64_MAX, "a total that sinks");

	no_files();
	put("/proc/pressure/io", LINE("12.50", "777"));
	flki_measure_pressures(&p);
	flki_measure_pressures(&p);
	ok(p.looks == 2 && p.look[1].total_us[2] == 777 && p.look[1].total_us[0] == UINT64_MAX,
	   "a look has the totals, and knows what it could not read");
	p.look[0].at_ns -= 3 * SECOND;
	is(value_of(PSI_CPU, &p), UINT64_MAX, "of which nothing comes");
	is(value_of(PSI_IO, &p), 0, "the others are as they are");
}

/* ---- tasks, disks, processors ---- */

static void
test_rest(void)
{
	struct condition disk = { .kind = DISK, .path = "/>1", .path_length = 1 };
	char path[300];

	no_files();
	is(value_of(RUNNING, NULL), UINT64_MAX, "no /proc: no tasks");
	put("/proc/loadavg", "0.20 0.18 0.12 5/80 11206\n");
	is(value_of(RUNNING, NULL), 4, "this one runs only to look");
	ok(flki_measure(&disk, NULL) != UINT64_MAX, "a disk");
	memset(path, '/', sizeof(path));
	disk = (struct condition){ .kind = DISK, .path = path, .path_length = 255 };
	ok(flki_measure(&disk, NULL) != UINT64_MAX, "however its path is written");
	disk.path_length = 256;
	is(flki_measure(&disk, NULL), UINT64_MAX, "up to 255 bytes");
	ok(!atomic_load(&woken_early), "nobody is woken before the answer is there");
}

static void
test_quotas(void)
{
	no_files();
	is(flki_cpu_quota(getpid()), UINT64_MAX, "no group, no quota");
	this_is_in("0::/a/b\n");
	in_group("/a/b", "cpu.max", "max 100000\n");
	is(flki_cpu_quota(getpid()), UINT64_MAX, "nor in a group without one");
	in_group("/a", "cpu.max", "150000 100000\n");
	is(flki_cpu_quota(getpid()), 1500, "thousandths of a CPU");
	in_group("", "cpu.max", "50000 100000\n");
	is(flki_cpu_quota(getpid()), 500, "the least of all around");
	is(flk_cpus(100), 1, "half a CPU is one");
	is(flk_cpus(400), 2, "but four halves are two");
	is(flk_cpus(401), 3, "and a little more are three");
	is(flk_cpus(0), 1, "nothing is one");

	no_files();
	no_affinity = true;
	online_cpus = 3;
	is(flk_cpus(100), 3, "where it is not known on which it may run, all count");
	online_cpus = -1;
	is(flk_cpus(100), 1, "a machine of which nothing is known has one");
	no_affinity = false;
	is(flk_cpus(UINT32_MAX) <= FLK_MAX_UNITS, 1, "and none has more than a limit can have");

	no_files();
	this_is_in("7:cpuset:/x\n6:cpuacct,cpu:/c\n");
	in_group("/cpu/c", "cpu.cfs_quota_us", "-1\n");
	in_group("/cpu/c", "cpu.cfs_period_us", "100000\n");
	is(flki_cpu_quota(getpid()), UINT64_MAX, "version 1: no quota is -1");
	in_group("/cpu", "cpu.cfs_quota_us", "1000\n");
	in_group("/cpu", "cpu.cfs_period_us", "100000\n");
	is(flki_cpu_quota(getpid()), 10, "of the one around it");

	no_files();
	this_is_in("6:freezer:/\n0::/c\n");
	in_group("/unified/c", "cpu.max", "7000 100000\n");
	is(flki_cpu_quota(getpid()), 70, "version 2, beside version 1");
}

int
main(void)
{
	begin();
	test_memory();
	test_memory_of_old();
	test_averages();
	test_looks();
	test_rest();
	test_quotas();
	ok(!misused && !is_open, "files are only read, one at a time, and closed");
	return tap_done();
}
