/* SPDX-License-Identifier: ISC */
/*
 * deaf ignore|block COMMAND [ARG]... - becomes a command for which every signal is ignored, or
 * blocked.
 */
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>
#include <sys/syscall.h>

int
main(int argc, char **argv)
{
	/* The kernel's struct sigaction of any machine begins with the handler. */
	uintptr_t ignore[16] = { (uintptr_t)SIG_IGN };
	unsigned long all = ~0ul;
	int sig;

	if (argc < 3)
		return 2;
	if (strcmp(argv[1], "block") == 0)
		syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, NULL, sizeof(all));
	else
		for (sig = 1; sig <= 64; sig++)
			syscall(SYS_rt_sigaction, sig, ignore, NULL, sizeof(all));
	execvp(argv[2], argv + 2);
	return 127;
}
