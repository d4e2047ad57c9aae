/* SPDX-License-Identifier: ISC */
#include "detach.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include "descriptor.h"
#include "process.h"
#include "say.h"
#include "talk.h"

#define FIRST 3

/* The keeper ends when it has nothing more to keep, and by KILL. */
static const int ignored[] = {
	SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGUSR1, SIGUSR2, SIGALRM
};

static void
forget_signals(void)
{
	sigset_t none;
	size_t i;
	int sig;

	for (sig = 1; sig <= SIGRTMAX; sig++)
		signal(sig, SIG_DFL); /* signals that can't be set stay as they are */
	for (i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
		signal(ignored[i], SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

void
detach_stderr(void)
{
	dup2(STDOUT_FILENO, STDERR_FILENO); /* stdout is /dev/null */
}

/* One after the other from FIRST on, and nothing above them. */
static bool
gather(int *fds, int n)
{
	int i;

	for (i = 0; i < n; i++)
		if (fds[i] < FIRST + n && fds[i] != FIRST + i &&
		    (fds[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, FIRST + n)) == -1)
			return false;
	for (i = 0; i < n; i++) {
		if (fds[i] != FIRST + i && dup2(fds[i], FIRST + i) == -1)
			return false;
		fds[i] = FIRST + i;
		fcntl(fds[i], F_SETFD, FD_CLOEXEC);
	}
	process_close_from(FIRST + n);
	return true;
}

bool
detach(int *fds, int n, bool quiet)
{
	int null = flki_above_stdio(open("/dev/null", O_RDWR | O_CLOEXEC));

	forget_signals();
	setsid();
	if (null == -1)
		return false;
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	if (quiet || fcntl(STDERR_FILENO, F_GETFD) == -1)
		detach_stderr();
	/* We must keep no end of any guard or socket open: its reader would never see it end. */
	if (!gather(fds, n))
		return false;
	prctl(PR_SET_NAME, "store-keeper");
	umask(077);
	(void)!chdir("/"); /* if that fails, we only keep a directory busy */
	return true;
}

void
detach_say(const char *limiter, const char *format, ...)
{
	struct pollfd out = { .fd = STDERR_FILENO, .events = POLLOUT };
	char text[900];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	if (poll(&out, 1, 0) == 1 && (out.revents & POLLOUT) != 0)
		say(limiter, "%s", text);
}
