/* SPDX-License-Identifier: ISC */
/*
 * main.c - the three commands in one program: argv[0] says which.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sys/prctl.h>

#include "commands.h"
#include "keeper/title.h"
#include "light/light.h"
#include "settings.h"

static const struct {
	const char *name;
	int (*main)(int argc, char **argv);
} commands[] = { { "flocklimit", flocklimit_main },
		 { "flocklimitctl", flocklimitctl_main },
		 { "flockmap", flockmap_main } };

/*
 * Makes sure that no file which this process opens becomes its stdin, stdout or stderr.  Where one
 * of these was closed, a write there fails, and the process reports it as ever.
 */
static void
fill_stdio(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && fd < 3);
	if (fd > 2)
		close(fd);
}

int
main(int argc, char **argv)
{
	static char flocklimit[] = "flocklimit";
	const char *name = argc > 0 ? argv[0] : "", *slash = strrchr(name, '/');
	size_t i;

	title_begin(argc, argv);
	if (slash != NULL)
		name = slash + 1;
	if (strncmp(name, STARTER, strlen(STARTER)) == 0) {
		settings.starter = name + strlen(STARTER);
		name = argv[0] = flocklimit; /* by another, it would be a shim */
	}
	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (strcmp(name, commands[i].name) == 0) {
			/* The kernel took the name of our file; ps(1) and pgrep(1) go by this. */
			prctl(PR_SET_NAME, commands[i].name);
			/* The others leave stdio alone: what they run gets it as it was. */
			if (commands[i].main == flocklimitctl_main)
				fill_stdio();
			return commands[i].main(argc, argv);
		}
	fputs("this is a part of flocklimit, which runs it for --store: it is no command of its "
	      "own\n",
	      stderr);
	return 125;
}
