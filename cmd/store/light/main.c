/* SPDX-License-Identifier: ISC */
/*
 * main.c - flocklimit-wrapper: flocklimit for limiters of a store, with the keeper of its host.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/prctl.h>

#include "commands.h"
#include "descriptor.h"
#include "kind.h"
#include "light/light.h"
#include "option.h"
#include "say.h"
#include "settings.h"
#include "taker_options.h"
#include "wrapper/internal.h"

int light_program;
char **light_argv;

static char path[PATH_MAX]; /* of the store's program */

/* The store's program stands beside this one. */
static bool
find_program(void)
{
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	size_t room;
	char *slash;

	if (n <= 0)
		return false;
	path[n] = '\0';
	if ((slash = strrchr(path, '/')) == NULL)
		return false;
	room = sizeof(path) - (size_t)(slash + 1 - path);
	if ((size_t)snprintf(slash + 1, room, "store-%s", settings.url.scheme) >= room)
		return false;
	light_program = flki_above_stdio(open(path, O_PATH | O_CLOEXEC));
	return light_program != -1;
}

/*
 * With a keeper of its own, or where keepers can't meet, the store's program is the wrapper; and where a jobserver
 * follows the limiter's events, which this one can't read.
 */
static int
choose(const struct taker_options *w, char **argv)
{
	int status = settings_choose(w, argv);

	if (status != -1)
		return status;
	if (!find_program()) {
		say(NULL,
		    "the store's program is not beside /proc/self/exe: set FLOCKLIMIT_LIBEXEC");
		return OPTION_BAD;
	}
	settings.program = path;
	if (!settings.own && !w->how.jobserver && link_begin())
		return -1;
	execv(path, argv);
	say(NULL, "cannot run '%s': %s", path, strerror(errno));
	return OPTION_BAD;
}

const struct kind here = { .choose = choose,
			   .attach = store_attach,
			   .locate = store_locate,
			   .strerror = store_strerror,
			   .map_new = store_map_new,
			   .declares = store_declares,
			   .keep_for = store_keep_for,
			   .tending = &store_tending };

int
main(int argc, char **argv)
{
	light_argv = argv;
	prctl(PR_SET_NAME, "flocklimit");
	return flocklimit_main(argc, argv);
}
