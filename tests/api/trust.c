/* SPDX-License-Identifier: ISC */
/*
 * trust.c - whose files lib/file.c uses, by their owner, mode and group; how many slots it believes in;
 * and when it makes room for more events.  The groups and the files are our own.
 */
#include "../helpers/common.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>

#include "file.h"
#include "create.h"
#include "space.h"

#define US    1000
#define GROUP 100

static gid_t groups_of_us[8];
static int group_count, group_error, changes; /* so often the groups change between two calls */
static int fewer;                             /* by so many the second call has fewer */
static bool no_memory, overrun;
static size_t allocated;

static int
fake_getgroups(int n, gid_t *to)
{
	if (group_error != 0) {
		errno = group_error;
		return -1;
	}
	if (n == 0)
		return group_count;
	overrun |= (size_t)n * sizeof(gid_t) > allocated;
	if (changes > 0) {
		changes--;
		errno = EINVAL;
		return -1;
	}
	memcpy(to, groups_of_us, (size_t)n * sizeof(gid_t));
	return n - fewer;
}

static void *
fake_malloc(size_t size)
{
	allocated = size;
	return no_memory ? NULL : malloc(size < 64 ? 64 : size);
}

static off_t size_of_file;
static int stat_error, reserve_error, lock_error;
static off_t reserved_from, reserved_to;

static int
fake_fstat(int fd, struct stat *sb)
{
	(void)fd;
	memset(sb, 0, sizeof(*sb));
	sb->st_size = size_of_file;
	sb->st_nlink = 1;
	errno = stat_error;
	return stat_error != 0 ? -1 : 0;
}

static int
fake_reserve(int fd, off_t from, off_t to)
{
	(void)fd;
	reserved_from = from;
	reserved_to = to;
	if (reserve_error == 0 && to > size_of_file)
		size_of_file = to;
	return reserve_error;
}

#define getgroups(n, to)                 fake_getgroups(n, to)
#define malloc(size)                     fake_malloc(size)
#define geteuid()                        US
#define getegid()                        GROUP
#define fstat(fd, sb)                    fake_fstat(fd, sb)
#define flki_space_reserve(fd, from, to) fake_reserve(fd, from, to)
#define flki_create_lock(fd)             (lock_error)
#include "file.c"
#undef malloc
#undef fstat

/* ---- whose it is ---- */

static int
trusted(mode_t mode, uid_t uid, gid_t gid)
{
	struct stat sb;

	memset(&sb, 0, sizeof(sb));
	sb.st_mode = mode;
	sb.st_uid = uid;
	sb.st_gid = gid;
	return flki_file_trusted(&sb);
}

static void
test_owner(void)
{
	is(trusted(S_IFREG | 0600, US, 7), 0, "our own");
	is(trusted(S_IFREG | 0600, 0, 7), 0, "root's");
	is(trusted(S_IFREG | 0660, US, 7), 0, "our own, which we share");
	is(trusted(S_IFREG | 0606, US, 7), -FLK_WRITABLE, "not one that all may write");
	is(trusted(S_IFREG | 0602, 0, 7), -FLK_WRITABLE, "nor if it is root's");
	is(trusted(S_IFREG | 0604, US, 7), 0, "others may read it");
	is(trusted(S_IFIFO | 0600, US, 7), -FLK_NOTFILE, "nor what is no file");
	is(trusted(S_IFREG | 0600, 1001, GROUP), -FLK_FOREIGN, "nor another user's");
	is(trusted(S_IFREG | 0640, 1001, GROUP), -FLK_FOREIGN, "that a group may only read");
	is(trusted(S_IFREG | 0660, 1001, GROUP), 0, "but one that it shares with our group");
	is(trusted(S_IFREG | 0660, 1001, 7), -FLK_FOREIGN, "not with another group");
}

static void
test_groups(void)
{
	static const gid_t ours[] = { 200, 201, 202, 203, 7 };

	memcpy(groups_of_us, ours, sizeof(ours));
	group_count = 4;
	is(trusted(S_IFREG | 0660, 1001, 200), 0, "the first of our other groups");
	is(trusted(S_IFREG | 0660, 1001, 203), 0, "and the last");
	is(trusted(S_IFREG | 0660, 1001, 7), -FLK_FOREIGN, "and no other");
	fewer = 1;
	is(trusted(S_IFREG | 0660, 1001, 203), -FLK_FOREIGN, "one that we have left meanwhile");
	fewer = 0;
	changes = 3;
	is(trusted(S_IFREG | 0660, 1001, 203), 0, "they are read again if they change meanwhile");
	is(changes, 0, "as often as they do");
	ok(!overrun, "there is room for all of them");
	group_error = EPERM;
	is(trusted(S_IFREG | 0660, 1001, 203), -EPERM, "if they can't be read, that is said");
	group_error = 0;
	no_memory = true;
	is(trusted(S_IFREG | 0660, 1001, 203), -ENOMEM, "and without memory");
	no_memory = false;
	group_count = 0;
	is(trusted(S_IFREG | 0660, 1001, 203), -FLK_FOREIGN, "a process may be in no other group");
}

/* ---- its slots ---- */

static struct header page;
static struct file file;

static void
begin_file(uint32_t nslots, uint32_t backed, uint32_t there)
{
	memset(&page, 0, sizeof(page));
	file = (struct file){ .h = &page, .backed = backed };
	page.magic = MAGIC;
	page.nslots = nslots;
	size_of_file = slots_end(there);
	stat_error = reserve_error = 0;
	reserved_from = reserved_to = 0;
}

static void
test_slots(void)
{
	begin_file(32, 16, 32);
	is(flki_file_slots(&file), 32, "a file that has grown has more slots");
	is(file.backed, 32, "for good");
	begin_file(64, 16, 32);
	is(flki_file_slots(&file), 32, "but no more than there is space for");
	begin_file(UINT32_MAX, 16, MAX_SLOTS + 5);
	is(flki_file_slots(&file), MAX_SLOTS, "nor than there can be");
	begin_file(8, 16, 32);
	is(flki_file_slots(&file), 16, "nor fewer than there were");
	begin_file(64, 16, 32);
	stat_error = EIO;
	is(flki_file_slots(&file), 16, "nor any that can't be asked for");
	begin_file(64, 16, 0);
	size_of_file = (off_t)SLOTS_AT - 1;
	is(flki_file_slots(&file), 0, "a file that ends before them has none");
	begin_file(64, 16, 20);
	size_of_file += 511;
	is(flki_file_slots(&file), 20, "and half a slot is none");
}

static void
test_growth(void)
{
	begin_file(16, 16, 16);
	ok(flki_file_grow(&file) == 0 && page.nslots == 32 && file.backed == 32, "it doubles");
	ok(reserved_from == slots_end(16) && reserved_to == slots_end(32), "with space for all");
	begin_file(MAX_SLOTS / 2, 16, MAX_SLOTS / 2);
	ok(flki_file_grow(&file) == 0 && page.nslots == MAX_SLOTS, "up to the most");
	is(flki_file_grow(&file), -FLK_CROWDED, "and no further");
	begin_file(MAX_SLOTS - 1, 16, MAX_SLOTS - 1);
	ok(flki_file_grow(&file) == 0 && page.nslots == MAX_SLOTS, "by what is left");
	begin_file(15, 0, 16);
	is(flki_file_grow(&file), -FLK_DAMAGED, "no limiter has so few");
	begin_file(16, 32, 32);
	is(flki_file_grow(&file), -FLK_DAMAGED, "or fewer than it had");
	begin_file(16, 16, 16);
	reserve_error = -ENOSPC;
	ok(flki_file_grow(&file) == -ENOSPC && page.nslots == 16, "nothing without space");
	begin_file(16, 16, 16);
	stat_error = EIO;
	ok(flki_file_grow(&file) == -EIO && page.nslots == 16 && reserved_to == 0,
	   "nor in a file that may be another");
}

/* ---- its history ---- */

static off_t
room_for(uint32_t events)
{
	return (off_t)(HEADER + events * sizeof(struct event));
}

static void
test_history(void)
{
	begin_file(16, 16, 16);
	flki_file_extend_history(&file);
	ok(page.event_room == 128 && reserved_from == room_for(0) && reserved_to == room_for(128),
	   "room for the first events");
	page.events = 32;
	flki_file_extend_history(&file);
	is(page.event_room, 128, "is enough for twice as many, and some");
	page.events = 33;
	flki_file_extend_history(&file);
	ok(page.event_room == 256 && reserved_from == room_for(128) && reserved_to == room_for(256),
	   "and for more there is more");
	page.event_room = 4096;
	page.events = 4096;
	flki_file_extend_history(&file);
	ok(page.event_room == EVENTS && reserved_to == room_for(EVENTS), "up to all");
	reserved_to = 0;
	flki_file_extend_history(&file);
	is(reserved_to, 0, "and no further");

	begin_file(16, 16, 16);
	reserve_error = -ENOSPC;
	flki_file_extend_history(&file);
	ok(page.event_room == 0 && file.no_history, "without space there is no history");
	reserve_error = 0;
	flki_file_extend_history(&file);
	is(page.event_room, 0, "and it is not asked for again");
	begin_file(16, 16, 16);
	stat_error = EIO;
	flki_file_extend_history(&file);
	ok(page.event_room == 0 && reserved_to == 0, "nor in a file that may be another");
}

/* ---- is it still there ---- */

static void
test_verify(void)
{
	begin_file(16, 16, 16);
	is(flki_file_verify(&file), 0, "a file that is as it was");
	size_of_file--;
	is(flki_file_verify(&file), -FLK_DAMAGED, "is cut short");
	size_of_file++;
	page.magic = 0;
	is(flki_file_verify(&file), -FLK_DAMAGED, "or no limiter any more");
	page.magic = MAGIC;
	page.dead = 1;
	is(flki_file_verify(&file), -FLK_GONE, "or removed");
	page.dead = 0;
	page.birth++;
	is(flki_file_verify(&file), -FLK_GONE, "or another");
	stat_error = EIO;
	is(flki_file_verify(&file), -EIO, "or can't be asked for");
	begin_file(16, 16, 16);
	file.ino = 5;
	is(flki_file_verify(&file), -EBADF, "or its descriptor leads to another");
	file.ino = 0;
	file.dev = 5;
	is(flki_file_verify(&file), -EBADF, "on whatever device");
	lock_error = -EBUSY;
	is(flki_file_bury(&file, AT_FDCWD, fresh_path()), -EBUSY,
	   "its name is not taken away unlocked");
}

int
main(void)
{
	begin();
	test_owner();
	test_groups();
	test_slots();
	test_growth();
	test_history();
	test_verify();
	return tap_done();
}
