/* SPDX-License-Identifier: ISC */
#include "wrapper/local.h"

#include "settings.h"

int
local_attach(struct flk **local, const char *name, const struct flk_options *options)
{
	struct flk_options ours = { .mode = 0 };

	if (options != NULL) {
		ours.stuck = options->stuck;
		ours.inside = options->inside;
		ours.context = options->context;
	}
	return flk_attach(local, name, &ours);
}

struct flk_request
local_request(const struct engine_want *want)
{
	return (struct flk_request){ .weight = want->weight,
				     .limit = settings.local,
				     .command = want->command,
				     .role = want->role };
}

int
local_guard(struct flk_taker *local)
{
	int fd, error = flk_guard(local, &fd);

	return error != 0 ? error : fd;
}
