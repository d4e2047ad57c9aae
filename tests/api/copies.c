/* SPDX-License-Identifier: ISC */
/*
 * copies.c - what lib/copy.c takes for a limiter, and that its copy is of one moment, or is said to be torn.
 */
#include "disk.h"

#include "copy.c"

#define PATIENCE (100 * MS)
#define FIRST    ((off_t)(SLOTS_AT + FIRST_SLOTS * sizeof(struct slot)))

/* ---- which file is a limiter ---- */

static int
header(void)
{
	union flki_page page;

	return flki_copy_header(&limiter, &page);
}

static void
test_file(void)
{
	begin_disk(FIRST_SLOTS);
	is(header(), 0, "a limiter");
	stat_error = EIO;
	is(header(), -EIO, "not where its file can't be looked at");
	stat_error = 0;
	names = 0;
	is(header(), -FLK_GONE, "nor when it has lost its name");
	names = 1;
	ends = HEADER - 1;
	is(header(), -FLK_DAMAGED, "nor when it was short while it was read");
	ends = FIRST;
	size_of_disk = 0;
	is(header(), -ENOENT, "an empty file is none yet");
	size_of_disk = 1;
	is(header(), -FLK_NOTLIMITER, "one with a byte is none");
	size_of_disk = (off_t)SLOTS_AT - 1;
	is(header(), -FLK_NOTLIMITER, "nor one that ends before the slots");
	size_of_disk = (off_t)SLOTS_AT;
	is(header(), -FLK_DAMAGED, "one that has lost all its slots is damaged");
}

#define WITH(words, member, value, want)   \
	do {                               \
		begin_disk(FIRST_SLOTS);   \
		disk.h.member = (value);   \
		is(header(), want, words); \
	} while (0)

static void
test_signature(void)
{
	WITH("its maker is not done", magic, 0, -ENOENT);
	WITH("another magic", magic, MAGIC + 1, -FLK_NOTLIMITER);
	WITH("another layout", layout, LAYOUT + 1, -FLK_VERSION);
	WITH("another header", header_size, HEADER * 2, -FLK_VERSION);
	WITH("other slots", slot_size, sizeof(struct slot) * 2, -FLK_VERSION);
	WITH("another order of bytes", byte_order, 0, -FLK_VERSION);
	WITH("it was removed", dead, 1, -ENOENT);
	begin_disk(FIRST_SLOTS);
	disk.h.magic = 0;
	disk.h.layout = 0;
	is(header(), -FLK_NOTLIMITER, "without a magic and another program's");
	memset(&disk.h, 0, sizeof(disk.h));
	is(header(), -ENOENT, "its maker has only begun");
	begin_disk(FIRST_SLOTS);
	is_of_now = false;
	is(header(), -ENOENT, "one of another boot, or the copy of one, is none yet");
}

/* How many slots it has must be true of the file, too. */
static int
slots(uint32_t n, off_t more)
{
	begin_disk(FIRST_SLOTS);
	disk.h.nslots = n;
	size_of_disk = (off_t)(SLOTS_AT + (size_t)n * sizeof(struct slot)) + more;
	return header();
}

static void
test_numbers(void)
{
	WITH("it is marked as damaged", damaged, 1, -FLK_DAMAGED);
	is(slots(FIRST_SLOTS, 0), 0, "as many slots as a new limiter has");
	is(slots(FIRST_SLOTS, HEADER), 0, "and room for more");
	is(slots(FIRST_SLOTS - 1, HEADER), -FLK_DAMAGED, "one less");
	is(slots(FIRST_SLOTS, -1), -FLK_DAMAGED, "a byte of the last one is missing");
	is(slots(MAX_SLOTS, 0), 0, "as many as there can be");
	is(slots(MAX_SLOTS, -1), -FLK_DAMAGED, "a byte of these is missing");
	is(slots(MAX_SLOTS + 1, HEADER), -FLK_DAMAGED, "one more");
}

/* ---- the copy ---- */

/* Copies it, drops the copy, and says what the copy was. */
static int
copying(bool *torn)
{
	struct flk look;
	int error = flki_copy(&limiter, &look, torn);

	if (error == 0)
		flki_copy_free(&look);
	if (allocated != 0 || overrun)
		tap_bail("%d pieces of memory are left%s", allocated,
			 overrun ? ", and one was too short" : "");
	return error;
}

static void
test_whole(void)
{
	struct flk look;
	bool torn = true;
	size_t i;

	begin_disk(2 * FIRST_SLOTS);
	for (i = HEADER; i < (size_t)size_of_disk; i++)
		((unsigned char *)&disk)[i] = (unsigned char)random_below(256);
	is(flki_copy(&limiter, &look, &torn), 0, "a limiter is copied");
	ok(memcmp(look.file.h, &disk, HEADER) == 0, "its header");
	ok(memcmp(look.file.history, disk.history, sizeof(disk.history)) == 0, "all its events");
	ok(memcmp(look.file.slots, disk.slots, 2 * FIRST_SLOTS * sizeof(struct slot)) == 0,
	   "all its slots");
	is(look.file.backed, 2 * FIRST_SLOTS, "as many as there are");
	ok(look.file.fd == 100 && look.file.dev == 7 && look.file.ino == 8 &&
	       look.file.birth == 77 && look.ahead_ns == INT64_MIN,
	   "and which one it is");
	ok(!torn && sleeps == 0 && histories == 1, "at once, as no taker changes it");
	flki_copy_free(&look);
	is(allocated, 0, "nothing is left of it");
	ok(!overrun, "and nothing was written behind it");
}

static void
release_after_three(void)
{
	if (sleeps == 3)
		disk.h.lock = 0;
}

static void
change_once(void)
{
	disk.h.last_ticket = 1;
}

static void
change(void)
{
	disk.h.last_ticket++;
}

static void
lock_and_change(void)
{
	disk.h.lock = 1;
	in_a_look = change;
}

static void
grow_once(void)
{
	disk.h.nslots = 2 * FIRST_SLOTS;
	ends = size_of_disk = (off_t)(SLOTS_AT + 2 * FIRST_SLOTS * sizeof(struct slot));
}

static void
test_busy(void)
{
	bool torn = true;

	begin_disk(FIRST_SLOTS);
	disk.h.lock = 1;
	in_a_sleep = release_after_three;
	is(copying(&torn), 0, "while a taker is inside, a reader waits");
	ok(!torn && sleeps == 3 && histories == 1, "and copies once, when it is out");

	begin_disk(FIRST_SLOTS);
	disk.h.lock = 1;
	is(copying(&torn), 0, "a taker that stays inside");
	ok(torn && histories == 1, "is not waited for for ever: the copy may be torn");
	is(clock_ns, 1000 * SECOND + PATIENCE, "after a tenth of a second");

	begin_disk(FIRST_SLOTS);
	in_a_look = change_once;
	is(copying(&torn), 0, "a change meanwhile");
	ok(!torn && sleeps == 1 && histories == 2, "has a reader copy once more");

	begin_disk(FIRST_SLOTS);
	in_a_look = change;
	is(copying(&torn), 0, "a limiter that changes all the time");
	ok(torn && clock_ns == 1000 * SECOND + PATIENCE, "is copied for a tenth of a second");

	begin_disk(FIRST_SLOTS);
	in_a_look = lock_and_change;
	is(copying(&torn), 0, "a taker that comes while the last copy but one is made");
	ok(torn && histories == 2, "makes that and the last one torn");

	begin_disk(FIRST_SLOTS);
	in_a_look = grow_once;
	is(copying(&torn), 0, "a limiter that grows meanwhile");
	ok(!torn && histories == 2, "is copied with its new slots");
}

static void
lose_name(void)
{
	names = 0;
}

static void
lose_content(void)
{
	ends = size_of_disk = 0;
}

static void
test_no_copy(void)
{
	bool torn;

	begin_disk(FIRST_SLOTS);
	no_memory = true;
	is(copying(&torn), -ENOMEM, "no copy without memory");
	begin_disk(FIRST_SLOTS);
	names = 0;
	is(copying(&torn), -FLK_GONE, "or of a limiter that is gone");
	begin_disk(FIRST_SLOTS);
	in_a_look = lose_name;
	is(copying(&torn), -FLK_GONE, "or goes meanwhile");
	begin_disk(FIRST_SLOTS);
	disk.h.lock = 1;
	in_a_sleep = lose_name;
	is(copying(&torn), -FLK_GONE, "also while it is waited for");
	begin_disk(FIRST_SLOTS);
	in_a_look = lose_content;
	is(copying(&torn), -FLK_DAMAGED, "nor if it is emptied meanwhile");
	begin_disk(FIRST_SLOTS);
	ends = (off_t)SLOTS_AT - 1;
	is(copying(&torn), -FLK_DAMAGED, "or its history can't be read");
	begin_disk(FIRST_SLOTS);
	ends = FIRST - 1;
	is(copying(&torn), -FLK_DAMAGED, "or its slots");
}

int
main(void)
{
	begin();
	test_file();
	test_signature();
	test_numbers();
	test_whole();
	test_busy();
	test_no_copy();
	return tap_done();
}
