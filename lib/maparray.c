/* SPDX-License-Identifier: ISC */
/*
 * maparray.c - a map over the numbers from 0.
 */
#include "flocklimit.h"

struct array {
	size_t n, at;
	int (*work)(void *context, size_t i);
	void *context;
};

static int
next_of_array(void *context, void **item, struct flk_request *want)
{
	struct array *a = context;

	(void)want;
	if (a->at == a->n)
		return 0;
	*item = (void *)(uintptr_t)a->at++;
	return 1;
}

static int
work_of_array(void *context, void *item, struct flk_taker *taker)
{
	struct array *a = context;

	(void)taker;
	return a->work(a->context, (size_t)(uintptr_t)item);
}

int
flk_map_array(const char *name, const struct flk_request *want, size_t n,
	      int (*work)(void *context, size_t i), void *context)
{
	struct array a = { .n = n, .work = work, .context = context };
	struct flk_map_options o = {
		.want = *want, .next = next_of_array, .work = work_of_array, .context = &a
	};
	struct flk_map *m;
	int error = flk_map_new(&m, name, &o);

	if (error == 0) {
		error = flk_map_run(m);
		flk_map_free(m);
	}
	return error;
}
