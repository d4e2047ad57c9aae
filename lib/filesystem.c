/* SPDX-License-Identifier: ISC */
/*
 * filesystem.c - does the file system belong to this machine alone, and is the file a copy?
 *
 * A limiter with another boot's id is in use by no process, if its file system belongs to this
 * machine alone.  On any other file system, another machine may use it, so it is never made anew in
 * place.
 *
 * A limiter that was copied while a permit was held shows that permit as held for ever: the kernel
 * marks the death of the holder in the `alive' word of the original alone.  So the header says in
 * which file the limiter was made, and a limiter that is found in another file of the same boot is
 * made anew.  That must never happen to a file that is in use.  So the marks by which a file is
 * recognized must stay the same for as long as any process has the file open, through whatever path
 * and mount it is seen:
 *
 * - The time of the inode's birth is a part of the inode.  A copy has a later one, also where it
 *   gets the inode number of an original that was removed.  Overlayfs hands on that of the file
 *   underneath, and a file that it copies up gets a new one.
 * - A snapshot of a file system has the same times and inode numbers, and another device number.
 *   While a file is open its file system stays mounted, under one device number.  But a file
 *   that is seen through an overlay, and its original underneath, have different numbers, so these
 *   count only where neither of the two was read through one.
 *
 * A mark that is not known counts as equal.
 */
#include "filesystem.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

#include "clock.h"

#define OVERLAYFS 0x794c7630u

static bool
is_among(uint32_t type, const uint32_t *types, size_t n)
{
	size_t i;

	for (i = 0; i < n && types[i] != type; i++)
		;
	return i < n;
}

enum fs_kind
flki_fs_kind(int fd)
{
	/* The file systems that coreutils counts as remote, without overlayfs, and 9p. */
	static const uint32_t network[] = {
		0x6969,     0x6e667364,             /* NFS, nfsd */
		0x517b,     0xff534d42, 0xfe534d42, /* SMB, CIFS, SMB2 */
		0x01021997, 0x65735546, 0x65735543, /* 9p, FUSE, fusectl */
		0x5346414f, 0x6b414653, 0x73757245, /* AFS, kAFS, Coda */
		0x00c36400, 0x0bd00bd0, 0x47504653, /* Ceph, Lustre, GPFS */
		0x7461636f, 0x01161970, 0x19830326, /* OCFS2, GFS2, BeeGFS */
		0xaad7aaea, 0xbeefdead, 0x013111a8, /* PanFS, StorNext, Ibrix */
		0xa501fcf5, 0x61636673, 0x564c,     /* VxFS, ACFS, NCP */
		0x786f4256, 0xbacbacbc, 0x7c7c6673, /* VirtualBox, VMware, Parallels */
		0x61756673, 0x50495045,             /* aufs, pipefs */
	};
	static const uint32_t memory[] = { 0x01021994, 0x858458f6 }; /* tmpfs, ramfs */
	static const uint32_t disk[] = {
		0xef53,     0x58465342, 0x9123683e, /* ext2 to ext4, XFS, Btrfs */
		0xf2f52010, 0x2fc12fc1, 0xca451a4e, /* F2FS, ZFS, bcachefs */
		0x3153464a, 0x52654973, 0x3434,     /* JFS, ReiserFS, NILFS2 */
		0x24051905, 0x4d44,     0x2011bab0, /* UBIFS, FAT, exFAT */
	};
	struct statfs fs;
	uint32_t type;

	if (fstatfs(fd, &fs) == -1)
		return FS_UNKNOWN;
	type = (uint32_t)fs.f_type;
	if (is_among(type, memory, sizeof(memory) / sizeof(memory[0])))
		return FS_MEMORY;
	if (is_among(type, disk, sizeof(disk) / sizeof(disk[0])))
		return FS_DISK;
	if (type == OVERLAYFS)
		return FS_OVERLAY;
	return is_among(type, network, sizeof(network) / sizeof(network[0])) ? FS_NETWORK
									     : FS_UNKNOWN;
}

/*
 * The time of the inode's birth in ns, or 0.  Some C libraries have no statx(), and some compilers
 * do not find the kernel's headers; the layout of the call never changes.
 */
static uint64_t
birth_of(int fd)
{
	enum { WANT_BIRTH = 0x800, SECONDS = 80, NANOSECONDS = 88 };
	unsigned char at[256] = { 0 };
	uint32_t got, nanoseconds;
	uint64_t seconds;

	if (syscall(SYS_statx, fd, "", AT_EMPTY_PATH, WANT_BIRTH, at) != 0)
		return 0;
	memcpy(&got, at, sizeof(got));
	memcpy(&seconds, at + SECONDS, sizeof(seconds));
	memcpy(&nanoseconds, at + NANOSECONDS, sizeof(nanoseconds));
	return (got & WANT_BIRTH) != 0 ? seconds * SECOND + nanoseconds : 0;
}

struct bound
flki_fs_bound(int fd, enum fs_kind kind, const struct stat *sb)
{
	struct bound b = { .born_ns = birth_of(fd) };

	if (kind == FS_MEMORY || kind == FS_DISK) {
		b.device = sb->st_dev;
		b.inode = sb->st_ino;
	}
	return b;
}

bool
flki_fs_is_same(const struct bound *a, const struct bound *b)
{
	if (a->born_ns != 0 && b->born_ns != 0 && a->born_ns != b->born_ns)
		return false;
	return a->device == 0 || b->device == 0 || (a->device == b->device && a->inode == b->inode);
}
