/* SPDX-License-Identifier: ISC */
/*
 * filesystems.c - which file systems belong to this machine alone, and which two files are one: by what
 * lib/filesystem.c asks the kernel, with answers of our own.
 */
#include "../helpers/common.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

#define FD    77
#define BIRTH 0x800 /* STATX_BTIME */

static uint32_t the_type;
static int statfs_fails, statx_fails;
static uint32_t known;
static uint64_t seconds_of_birth;
static uint32_t nanoseconds_of_birth;

static int
fake_fstatfs(int fd, struct statfs *fs)
{
	if (fd != FD || statfs_fails)
		return -1;
	fs->f_type = (__typeof__(fs->f_type))the_type;
	return 0;
}

/* stx_mask comes first; stx_btime is at 80: seconds, and then nanoseconds. */
static int
fake_statx(int fd, const char *path, int flags, unsigned mask, unsigned char *to)
{
	if (fd != FD || *path != '\0' || flags != AT_EMPTY_PATH || statx_fails)
		return -1;
	known &= mask | ~(uint32_t)BIRTH;
	memcpy(to, &known, sizeof(known));
	memcpy(to + 80, &seconds_of_birth, sizeof(seconds_of_birth));
	memcpy(to + 88, &nanoseconds_of_birth, sizeof(nanoseconds_of_birth));
	return 0;
}

#define fstatfs(fd, fs)                                fake_fstatfs(fd, fs)
#define syscall(number, fd, path, flags, mask, buffer) fake_statx(fd, path, flags, mask, buffer)
#include "filesystem.c"

/* By statfs(2) and coreutils' stat. */
static const struct {
	const char *name;
	enum fs_kind kind;
	uint32_t type;
} all[] = {
	{ "tmpfs", FS_MEMORY, 0x01021994 },
	{ "ramfs", FS_MEMORY, 0x858458f6 },
	{ "ext4", FS_DISK, 0xef53 },
	{ "XFS", FS_DISK, 0x58465342 },
	{ "Btrfs", FS_DISK, 0x9123683e },
	{ "F2FS", FS_DISK, 0xf2f52010 },
	{ "ZFS", FS_DISK, 0x2fc12fc1 },
	{ "bcachefs", FS_DISK, 0xca451a4e },
	{ "JFS", FS_DISK, 0x3153464a },
	{ "ReiserFS", FS_DISK, 0x52654973 },
	{ "NILFS2", FS_DISK, 0x3434 },
	{ "UBIFS", FS_DISK, 0x24051905 },
	{ "FAT", FS_DISK, 0x4d44 },
	{ "exFAT", FS_DISK, 0x2011bab0 },
	{ "overlayfs", FS_OVERLAY, 0x794c7630 },
	{ "NFS", FS_NETWORK, 0x6969 },
	{ "nfsd", FS_NETWORK, 0x6e667364 },
	{ "SMB", FS_NETWORK, 0x517b },
	{ "CIFS", FS_NETWORK, 0xff534d42 },
	{ "SMB2", FS_NETWORK, 0xfe534d42 },
	{ "9p", FS_NETWORK, 0x01021997 },
	{ "FUSE", FS_NETWORK, 0x65735546 },
	{ "fusectl", FS_NETWORK, 0x65735543 },
	{ "AFS", FS_NETWORK, 0x5346414f },
	{ "kAFS", FS_NETWORK, 0x6b414653 },
	{ "Coda", FS_NETWORK, 0x73757245 },
	{ "Ceph", FS_NETWORK, 0x00c36400 },
	{ "Lustre", FS_NETWORK, 0x0bd00bd0 },
	{ "GPFS", FS_NETWORK, 0x47504653 },
	{ "OCFS2", FS_NETWORK, 0x7461636f },
	{ "GFS2", FS_NETWORK, 0x01161970 },
	{ "BeeGFS", FS_NETWORK, 0x19830326 },
	{ "PanFS", FS_NETWORK, 0xaad7aaea },
	{ "StorNext", FS_NETWORK, 0xbeefdead },
	{ "Ibrix", FS_NETWORK, 0x013111a8 },
	{ "VxFS", FS_NETWORK, 0xa501fcf5 },
	{ "ACFS", FS_NETWORK, 0x61636673 },
	{ "NCP", FS_NETWORK, 0x564c },
	{ "vboxsf", FS_NETWORK, 0x786f4256 },
	{ "vmhgfs", FS_NETWORK, 0xbacbacbc },
	{ "prl_fs", FS_NETWORK, 0x7c7c6673 },
	{ "aufs", FS_NETWORK, 0x61756673 },
	{ "pipefs", FS_NETWORK, 0x50495045 },
};

static void
test_kinds(void)
{
	unsigned i, unknown = 0;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		the_type = all[i].type;
		is(flki_fs_kind(FD), all[i].kind, "%s", all[i].name);
	}
	for (the_type = 0; the_type < 256; the_type++)
		unknown += flki_fs_kind(FD) == FS_UNKNOWN;
	is(unknown, 256, "any other may belong to several machines");
	the_type = 0xef53;
	statfs_fails = 1;
	is(flki_fs_kind(FD), FS_UNKNOWN, "and so may one that the kernel does not name");
	statfs_fails = 0;
}

static struct bound
bound_on(enum fs_kind kind)
{
	struct stat sb;

	memset(&sb, 0, sizeof(sb));
	sb.st_dev = 12;
	sb.st_ino = 34;
	return flki_fs_bound(FD, kind, &sb);
}

static void
test_marks(void)
{
	struct bound b;

	known = 0xfff;
	seconds_of_birth = 1700000000;
	nanoseconds_of_birth = 123456789;
	b = bound_on(FS_DISK);
	ok(b.born_ns == UINT64_C(1700000000123456789), "the time of birth");
	ok(b.device == 12 && b.inode == 34, "and the numbers of a file on a disk");
	b = bound_on(FS_MEMORY);
	ok(b.device == 12 && b.inode == 34, "or in memory");
	b = bound_on(FS_OVERLAY);
	ok(b.device == 0 && b.born_ns != 0, "below an overlay the time alone");
	known = 0x7ff;
	is(bound_on(FS_DISK).born_ns, 0, "where it is known");
	known = 0xfff;
	statx_fails = 1;
	is(bound_on(FS_DISK).born_ns, 0, "and where the kernel has the call");
	statx_fails = 0;
}

static bool
same(struct bound a, struct bound b)
{
	return flki_fs_is_same(&a, &b) && flki_fs_is_same(&b, &a);
}

static bool
differ(struct bound a, struct bound b)
{
	return !flki_fs_is_same(&a, &b) && !flki_fs_is_same(&b, &a);
}

static void
test_same(void)
{
	const struct bound file = { 1, 2, 3 };

	ok(same(file, file), "a file is itself");
	ok(differ(file, (struct bound){ 1, 2, 4 }), "not one that was born later");
	ok(differ((struct bound){ 0, 0, 1 }, (struct bound){ 0, 0, 4 }), "wherever that is");
	ok(differ(file, (struct bound){ 1, 9, 3 }), "nor one with another number");
	ok(differ(file, (struct bound){ 9, 2, 3 }), "or on another device");
	ok(same(file, (struct bound){ 0, 0, 3 }), "numbers that are not known may be the same");
	ok(same(file, (struct bound){ 1, 2, 0 }), "and a time");
	ok(differ((struct bound){ 1, 2, 0 }, (struct bound){ 1, 9, 0 }), "then the numbers decide");
	ok(same((struct bound){ 0, 0, 0 }, file), "of nothing nothing follows");
}

int
main(void)
{
	begin();
	test_kinds();
	test_marks();
	test_same();
	return tap_done();
}
