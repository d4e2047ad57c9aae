/* SPDX-License-Identifier: ISC */
/*
 * pty COMMAND [ARG]... - runs COMMAND on a terminal of its own, in the foreground of a session of
 * its own; copies stdin to it and what it says to stdout.  Exits as COMMAND does.
 */
#include <poll.h>
#include <pty.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/wait.h>

int
main(int argc, char **argv)
{
	struct pollfd polls[2] = { { .fd = 0, .events = POLLIN }, { .events = POLLIN } };
	struct winsize size = { .ws_row = 24, .ws_col = 200 };
	char data[4096];
	ssize_t n;
	int master, status;
	pid_t pid;

	if (argc < 2)
		return 2;
	pid = forkpty(&master, NULL, NULL, &size);
	if (pid == -1)
		return 1;
	if (pid == 0) {
		execvp(argv[1], argv + 1);
		_exit(127);
	}
	polls[1].fd = master;
	for (;;) {
		poll(polls, 2, -1);
		if (polls[0].revents != 0) {
			n = read(0, data, sizeof(data));
			if (n <= 0)
				polls[0].fd = -1;
			else if (write(master, data, (size_t)n) != n)
				return 1;
		}
		if (polls[1].revents != 0) {
			n = read(master, data, sizeof(data));
			if (n <= 0)
				break;
			if (write(1, data, (size_t)n) != n)
				return 1;
		}
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
