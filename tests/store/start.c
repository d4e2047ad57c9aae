/* SPDX-License-Identifier: ISC */
/*
 * start.c - see start.h.
 */
#include "start.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/wait.h>

#include "../helpers/common.h"

struct store_server store_server;

void
start_server(struct store_server *s, const char *program, const char *argument)
{
	const char *build = getenv("TESTS_BUILD");
	char path[4096];
	int to[2], from[2];

	if (build == NULL || pipe2(to, O_CLOEXEC) == -1 || pipe2(from, O_CLOEXEC) == -1)
		tap_bail("no TESTS_BUILD: start this by make check");
	snprintf(path, sizeof(path), "%s/%s", build, program);
	s->pid = fork_child();
	if (s->pid == 0) {
		dup2(to[0], STDIN_FILENO);
		dup2(from[1], STDOUT_FILENO);
		execl(path, path, argument, (char *)NULL);
		_exit(127);
	}
	close(to[0]);
	close(from[1]);
	s->to = fdopen(to[1], "w");
	s->from = fdopen(from[0], "r");
	if (s->to == NULL || s->from == NULL || fgets(s->first, sizeof(s->first), s->from) == NULL)
		tap_bail("%s does not start", path);
	s->first[strcspn(s->first, "\n")] = '\0';
}

void
tell_server(struct store_server *s, const char *command)
{
	char line[64];

	fprintf(s->to, "%s\n", command);
	fflush(s->to);
	if (fgets(line, sizeof(line), s->from) == NULL)
		tap_bail("the server did not answer: %s", command);
}

void
end_server(struct store_server *s)
{
	kill(s->pid, SIGKILL);
	waitpid(s->pid, NULL, 0);
	fclose(s->to);
	fclose(s->from);
}
