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

#define TRIES 64 /* against another operator that gives the same order at the same time */
#define TEXT  80
#define BOOT  33 /* a boot's id in hexadecimal digits, with its final zero */

static const char *const names[] = {
	[FLK_ORDER_PAUSED] = ".all-paused",
	[FLK_ORDER_CLOSED] = ".all-closed",
	[FLK_ORDER_LIMIT] = ".all-limit",
};

/* The name of a new link until it is renamed. */
static const char *const drafts[] = {
	[FLK_ORDER_PAUSED] = ".all-paused.new",
	[FLK_ORDER_CLOSED] = ".all-closed.new",
	[FLK_ORDER_LIMIT] = ".all-limit.new",
};

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
flki_orders_read(int dirfd, struct flk_orders *orders)
{
	int64_t value = 0;
	int found;

	*orders = (struct flk_orders){ .override = FLK_AUTO };
	if (dirfd == AT_FDCWD)
		return 0;
	if ((found = read_order(dirfd, names[FLK_ORDER_PAUSED], &value)) < 0)
		return found;
	orders->paused = found == 1 && value != 0;
	if ((found = read_order(dirfd, names[FLK_ORDER_CLOSED], &value)) < 0)
		return found;
	orders->closed = found == 1 && value != 0;
	if ((found = read_order(dirfd, names[FLK_ORDER_LIMIT], &value)) < 0)
		return found;
	if (found == 1)
		orders->override = value;
	return 0;
}

static int
take_back(int dirfd, enum flk_order order)
{
	return unlinkat(dirfd, names[order], 0) == 0 || errno == ENOENT ? 0 : -errno;
}

/* Two operators may use one draft at the same time: then one of the two orders stays, whole. */
static int
give(int dirfd, enum flk_order order, int64_t value)
{
	char text[TEXT], boot[BOOT];
	int tries;

	this_boot(boot);
	snprintf(text, sizeof(text), "%lld@%s", (long long)value, boot);
	for (tries = 0; tries < TRIES; tries++) {
		if (unlinkat(dirfd, drafts[order], 0) == -1 && errno != ENOENT)
			return -errno;
		if (symlinkat(text, dirfd, drafts[order]) == -1) {
			if (errno != EEXIST)
				return -errno;
			continue;
		}
		if (renameat(dirfd, drafts[order], dirfd, names[order]) == 0)
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

int
flk_order(enum flk_order order, int64_t value)
{
	int cancel FLKI_RESTORED = flki_no_cancel();
	bool ends = value == (order == FLK_ORDER_LIMIT ? FLK_AUTO : 0);
	int dirfd, error;

	if ((unsigned)order > FLK_ORDER_LIMIT)
		return -EINVAL;
	if (!ends && (value < 0 || value > (order == FLK_ORDER_LIMIT ? FLK_MAX_UNITS : 1)))
		return -EINVAL;
	if ((error = open_directory(!ends, &dirfd)) != 0)
		return ends && error == -ENOENT ? 0 : error;
	error = ends ? take_back(dirfd, order) : give(dirfd, order, value);
	close(dirfd);
	return error;
}

int
flk_orders(struct flk_orders *orders)
{
	int cancel FLKI_RESTORED = flki_no_cancel();
	int dirfd, error;

	*orders = (struct flk_orders){ .override = FLK_AUTO };
	if ((error = open_directory(false, &dirfd)) != 0)
		return error == -ENOENT ? 0 : error;
	error = flki_orders_read(dirfd, orders);
	close(dirfd);
	return error;
}
