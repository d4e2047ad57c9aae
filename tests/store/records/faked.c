/* SPDX-License-Identifier: ISC */
/*
 * faked.c - the cases of suite.h over the fake etcd, through the client of etcd.
 */
#include "../start.h"
#include "suite.h"

int
main(void)
{
	struct ground here = { .url = start_store(), .sleep = sleep_really };

	return suite_run(&here);
}
