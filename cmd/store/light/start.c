/* SPDX-License-Identifier: ISC */
/*
 * start.c - start.h for the wrapper that is a program of its own: the store's program starts the keeper.
 */
#include "wrapper/start.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
#include <sys/wait.h>

#include "host/meeting.h"
#include "light/light.h"

/* As the same command, by another name: so it has the same settings. */
static _Noreturn void
be_starter(const struct meeting *m)
{
	char *was = light_argv[0], name[sizeof(STARTER) + SAME_NAME];
	int null = open("/dev/null", O_RDWR), fd;

	for (fd = 0; fd <= 2; fd++)
		dup2(null, fd);
	snprintf(name, sizeof(name), STARTER "%s", m->name);
	light_argv[0] = name;
	fexecve(light_program, light_argv, environ);
	light_argv[0] = was;
	_exit(1);
}

int
start_own(int theirs, const struct start *s)
{
	(void)theirs;
	(void)s;
	return -ECHILD;
}

int
start_host(const struct meeting *m)
{
	pid_t child = fork();
	int status;

	if (child == -1)
		return -errno;
	if (child == 0)
		be_starter(m);
	while (waitpid(child, &status, 0) == -1)
		if (errno != EINTR)
			return 0; /* another thread has reaped it */
	return status == 0 ? 0 : -ECHILD;
}
