/* SPDX-License-Identifier: ISC */
/*
 * churn.c - many permits of a limiter, one after the other, in one process: a history for tests.
 *
 *	churn NAME HOW_MANY
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flocklimit.h"

int
main(int argc, char **argv)
{
	struct flk_request want = { .weight = 1, .limit = 2, .command = "churn" };
	struct flk_taker *t;
	struct flk *limiter;
	int error, i;

	if (argc != 3) {
		fprintf(stderr, "usage: churn NAME HOW_MANY\n");
		return 2;
	}
	error = flk_attach(&limiter, argv[1], NULL);
	if (error == 0)
		error = flk_taker_new(&t, limiter);
	for (i = 0; error == 0 && i < atoi(argv[2]); i++) {
		error = flk_acquire(t, &want, NULL);
		if (error == 0)
			error = flk_release(t);
	}
	if (error != 0) {
		fprintf(stderr, "churn: %s: %s\n", argv[1], flk_strerror(error));
		return 1;
	}
	flk_taker_free(t);
	flk_detach(limiter);
	return 0;
}
