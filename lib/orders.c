/* SPDX-License-Identifier: ISC */
/*
 * orders.c - orders to limiters that do not exist yet.
 *
 * An operator that wants to pause every limiter of the directory can pause the existing ones one by
 * one.  For new ones the operator leaves an order in the directory: a symbolic link, one for each
 * kind of order.  Its text is the order's value and the id of the boot.  The operator makes the
 * link under another name and renames it, so an operator that is killed leaves either the old order
 * or the new one.
 *
 * No new limiter may escape both the order and the operator's walk.  Therefore
 *  - the maker links the limiter's name first, reads the orders next, and stores `magic' last; it
 *    has the lock on INIT_BYTE from before the first step until after the last;
 *  - the operator changes the order first, lists the names next, and then opens each limiter.  If
 *    that limiter has no magic yet, the operator waits for the lock on INIT_BYTE.
 *
 * If the maker links the name before the operator lists the names, then the operator opens this
 * limiter after the maker is done, and steers it.  If the maker links it later, then the order was
 * already changed when the maker read it.  A maker that is killed before it stores `magic' leaves
 * no limiter: the next maker starts again with the same file, and reads the orders again.
 *
 * tests/model/orders.pml is a model of this.
 */
#include "orders.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>

#include "boot.h"
#include "cancel.h"
#include "directory.h"
#include "setting.h"

#define TRIES 64 /* against another operator that gives the same order at the same time */
#define TEXT  80
#define BOOT  33 /* a boot's id in hexadecimal digits, with its final zero */
#define DRAFT 32 /* the name of a new link until it is renamed */

/* An order is in force until the next boot, as the limiters are. */
static void
this_boot(char text[BOOT])
{
	unsigned char id[16];
	size_t i;

	flki_boot_id(id);
	for (i = 0; i < sizeof(id); i++)
		snprintf(text + 2 * i, 3, "%02x", id[i]);
}

/*
 * In a directory in which all users may make files, we obey root's orders and our own only.  In any
 * other directory, a user who may leave an order may also replace our limiters, so nothing is lost.
 */
static int
is_trusted(int dirfd, const struct stat *link)
{
	struct stat dir;

	if (link->st_uid == 0 || link->st_uid == geteuid())
		return 1;
	if (fstat(dirfd, &dir) == -1)
		return -errno;
	return (dir.st_mode & S_IWOTH) == 0;
}

static bool
parse(const char *text, int64_t *value)
{
	char boot[BOOT], *end;
	long long v;

	if (*text < '0' || *text > '9')
		return false;
	v = strtoll(text, &end, 10);
	this_boot(boot);
	if (v > FLK_MAX_UNITS || *end != '@' || strcmp(end + 1, boot) != 0)
		return false;
	*value = v;
	return true;
}

/* 1: there is such an order; 0: there is none, or the file of that name is not an order. */
static int
read_order(int dirfd, const char *name, int64_t *value)
{
	char text[TEXT] = "";
	struct stat sb;
	int found, fd = openat(dirfd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);

	if (fd == -1)
		return errno == ENOENT ? 0 : -errno;
	found = fstat(fd, &sb) == -1 ? -errno : S_ISLNK(sb.st_mode) ? is_trusted(dirfd, &sb) : 0;
	if (found > 0 && readlinkat(fd, "", text, sizeof(text) - 1) == -1)
		found = -errno;
	close(fd);
	return found > 0 ? parse(text, value) : found;
}

int
flki_orders_read(int dirfd, struct flk_settings *orders)
{
	const struct flki_number *n;
	int64_t value = 0;
	int found;

	*orders = flki_no_settings;
	for (n = flki_numbers; n < flki_numbers + FLKI_NUMBERS && dirfd != AT_FDCWD; n++) {
		if (n->order == NULL)
			continue;
		if ((found = read_order(dirfd, n->order, &value)) < 0)
			return found;
		if (found == 1)
			flki_number_put(n, orders, value);
	}
	return 0;
}

static int
take_back(int dirfd, const char *order)
{
	return unlinkat(dirfd, order, 0) == 0 || errno == ENOENT ? 0 : -errno;
}

/* Two operators may use one draft at the same time: then one of the two orders stays, whole. */
static int
give(int dirfd, const char *order, int64_t value)
{
	char text[TEXT], boot[BOOT], draft[DRAFT];
	int tries;

	this_boot(boot);
	snprintf(text, sizeof(text), "%lld@%s", (long long)value, boot);
	snprintf(draft, sizeof(draft), "%s.new", order);
	for (tries = 0; tries < TRIES; tries++) {
		if (unlinkat(dirfd, draft, 0) == -1 && errno != ENOENT)
			return -errno;
		if (symlinkat(text, dirfd, draft) == -1) {
			if (errno != EEXIST)
				return -errno;
			continue;
		}
		if (renameat(dirfd, draft, dirfd, order) == 0)
			return 0;
		if (errno != ENOENT)
			return -errno;
	}
	return -EAGAIN;
}

/*
 * The limiter directory.  Any limiter's name finds it.  On a machine that does not say its boot,
 * orders have zeros for the boot's id, as limiters do.
 */
static int
open_directory(bool make, int *dirfd)
{
	struct directory directory = { .dir = NULL };
	int error = flki_boot_learn();

	return error != 0 && error != -FLK_NOBOOT
		   ? error
		   : flki_directory_open(&directory, "x", make, dirfd);
}

static int
order_number(int dirfd, const struct flki_number *n, int64_t value)
{
	return value == n->none ? take_back(dirfd, n->order) : give(dirfd, n->order, value);
}

int
flk_order(unsigned which, const struct flk_settings *to)
{
	int cancel FLKI_RESTORED = flki_no_cancel();
	bool ends = !flki_settings_steer(which, to); /* then no directory is made for it */
	const struct flki_number *n;
	unsigned known = 0;
	int dirfd, error;

	for (n = flki_numbers; n < flki_numbers + FLKI_NUMBERS; n++) {
		known |= n->order != NULL ? n->which : 0;
		if ((which & n->which) != 0 && !flki_number_is_good(n, flki_number_get(n, to)))
			return -EINVAL;
	}
	if (which == 0 || (which & ~known) != 0)
		return -EINVAL;
	if ((error = open_directory(!ends, &dirfd)) != 0)
		return ends && error == -ENOENT ? 0 : error;
	for (n = flki_numbers; n < flki_numbers + FLKI_NUMBERS && error == 0; n++)
		if ((which & n->which) != 0)
			error = order_number(dirfd, n, flki_number_get(n, to));
	close(dirfd);
	return error;
}

int
flk_orders(struct flk_settings *orders)
{
	int cancel FLKI_RESTORED = flki_no_cancel();
	int dirfd, error;

	*orders = flki_no_settings;
	if ((error = open_directory(false, &dirfd)) != 0)
		return error == -ENOENT ? 0 : error;
	error = flki_orders_read(dirfd, orders);
	close(dirfd);
	return error;
}
