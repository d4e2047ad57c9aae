/*
 * main.c - the three commands in one program: argv[0] says which.
 */
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "program.h"

const char *this_command = "flocklimit";

static const struct {
	const char *name;
	int (*main)(int argc, char **argv);
} commands[] = { { "flocklimit", flocklimit_main },
		 { "flocklimitctl", flocklimitctl_main },
		 { "flockmap", flockmap_main } };

int
main(int argc, char **argv)
{
	const char *name = argc > 0 ? argv[0] : "", *slash = strrchr(name, '/');
	size_t i;

	if (slash != NULL)
		name = slash + 1;
	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (strcmp(name, commands[i].name) == 0) {
			this_command = commands[i].name;
			return commands[i].main(argc, argv);
		}
	fputs("this is a part of flocklimit, which runs it for --store: it is no command of its "
	      "own\n",
	      stderr);
	return 125;
}
