/* SPDX-License-Identifier: ISC */
/*
 * background.c - the shell's `command &', after the wait.
 *
 * During the wait ^C, TERM and KILL of the parent end the wrapper as well.  Once the command runs, it
 * is what a script's `command &' is: in the session and process group of the script, with /dev/null
 * as standard input, and deaf to the terminal's ^C and ^\.
 */
#include "background.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "descriptor.h"
#include "signals.h"
#include "split.h"

#define OPTION "--background"

static int parent_fd; /* on which the wrapper tells its parent that the command runs */

int
background_split(const struct options *o)
{
	pid_t wrapper;
	char started;
	ssize_t n;
	int end;

	wrapper = split_fork(o->want.limiter, OPTION, &end);
	if (wrapper == -1)
		return 125;
	parent_fd = end;
	if (wrapper == 0)
		return -1;
	do
		n = read(end, &started, 1);
	while (n == -1 && errno == EINTR);
	return n == 1 ? 0 : split_status(wrapper);
}

int
background_begin(const struct options *o, struct heritage *h)
{
	if (!o->keep_stdin)
		h->stdio[0] = flki_above_stdio(open("/dev/null", O_RDONLY | O_CLOEXEC));
	if (!o->keep_stdin && h->stdio[0] == -1)
		return split_failed(o->want.limiter, OPTION, "/dev/null");
	/* If the caller has ended, it was told to: its command must not start any more. */
	if (!split_free(parent_fd))
		return 125;
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	return -1;
}

/* If the parent has ended, the command runs all the same. */
void
background_started(void)
{
	if (write(parent_fd, "", 1) == -1 && errno == EPIPE)
		signals_forget_pipe();
	close(parent_fd);
	split_close();
}
