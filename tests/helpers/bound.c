/*
 * bound COMMAND [ARG]... - becomes a test whose signals are as in a login shell: each has its default
 * action and none is blocked.  `make check' may itself run under nohup, in the background of a
 * script, below Python or in a CI runner, and each of these leaves some signals ignored; a test
 * would inherit that, and bash can't undo it.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sys/syscall.h>

/* By system call, because C libraries keep signals 32 to 34 to themselves. */
static void
default_signals(void)
{
	/* The kernel's struct sigaction of any machine: all zeros are SIG_DFL and no flags. */
	char by_default[128] = "";
	unsigned long none = 0;
	int sig;

	for (sig = 1; sig <= 64; sig++)
		syscall(SYS_rt_sigaction, sig, by_default, NULL, sizeof(none));
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &none, NULL, sizeof(none));
}

int
main(int argc, char **argv)
{
	if (argc < 2) {
		fputs("usage: bound COMMAND [ARG]...\n", stderr);
		return 2;
	}
	default_signals();
	execvp(argv[1], argv + 1);
	fprintf(stderr, "bound: %s: %s\n", argv[1], strerror(errno));
	return 127;
}
