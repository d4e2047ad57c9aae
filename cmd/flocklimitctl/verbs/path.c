/* SPDX-License-Identifier: ISC */
/*
 * path.c - the verb path: where a limiter is, for a script that opens it for flocklimit --fd.  It is
 * the one verb that creates a limiter, so that the script can open it for reading alone.
 */
#include "ctl.h"
#include "declared.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "kind.h"
#include "limiters.h"
#include "say.h"

static int
path_one(const struct ctl *c, const struct visit *v, void *ctx)
{
	struct flk_options options;
	struct flk *made = NULL;
	int error = v->error;
	struct declared d;

	(void)c;
	(void)ctx;
	if (declared_find(&d, v->name) != OPTION_OK)
		return -EINVAL;
	options = declared_options(&d);
	/* By its name, so that the directory is made, too. */
	if (error == -ENOENT)
		error = here.attach(&made,
				    strncmp(v->path, "./", 2) == 0 || d.want.file != NULL ? v->path
											  : v->name,
				    &options);
	if (error != 0)
		return error;
	puts(v->path);
	flk_detach(made);
	return DONE;
}

int
path_of(const struct ctl *c)
{
	if (c->words + c->files == 0) {
		say(NULL, "path: which limiters? NAME..., or --file PATH");
		return FAILED;
	}
	return for_each(c, path_one, NULL);
}
