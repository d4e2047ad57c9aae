/* SPDX-License-Identifier: ISC */
/*
 * bootless.c - a system that does not say its boot may have limiters in memory, and orders for them;
 * for want of a descriptor neither is made, as that may pass.
 */
#include "../helpers/common.h"
#include "../helpers/steer.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static int boot_error;

#undef PATIENCE_MS /* the library's own */
#include "boot.h"
#define flki_boot_learn() (boot_error)
#include "create.c"
#include "orders.c"

static void
test_limiters(void)
{
	const char *path = fresh_path();

	boot_error = -EMFILE;
	is(flki_create_new(AT_FDCWD, path, NULL), -EMFILE,
	   "too many descriptors for the boot's id");
	is(access(path, F_OK), -1, "no limiter is made then");
	boot_error = -FLK_NOBOOT;
	is(flki_create_new(AT_FDCWD, path, NULL), 0, "a system that does not say its boot");
	is(access(path, F_OK), 0, "has limiters");
	is(flki_create_new(AT_FDCWD, path, NULL), -EEXIST, "one of a name");
}

static void
test_orders(void)
{
	const char *path = fresh_path();
	struct flk_settings orders;

	setenv("FLOCKLIMIT_DIR", path, 1);
	boot_error = -FLK_NOBOOT;
	is(steer_order(FLK_SET_PAUSED, 1), 0, "an order is given there");
	ok(flk_orders(&orders) == 0 && orders.paused, "and is in force");
	is(steer_order(FLK_SET_PAUSED, 0), 0, "until it is taken back");
	ok(flk_orders(&orders) == 0 && !orders.paused, "and no longer");
	boot_error = -EMFILE;
	is(steer_order(FLK_SET_PAUSED, 1), -EMFILE, "but for want of a descriptor none is given");
}

int
main(void)
{
	begin();
	test_limiters();
	test_orders();
	return tap_done();
}
