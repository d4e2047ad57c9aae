/* SPDX-License-Identifier: ISC */
/*
 * signals FILE - writes its pid to FILE.up, and then the number of each signal that comes to it
 * to FILE, a line each.  Signal 64 ends it.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sys/syscall.h>

int
main(int argc, char **argv)
{
	unsigned long all = ~0ul;
	char path[4096], line[32];
	int fd, sig = 0;

	if (argc != 2)
		return 2;
	/* By system call: no C library lets one block all of them. */
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, NULL, sizeof(all));
	fd = open(argv[1], O_WRONLY | O_CREAT | O_APPEND, 0600);
	snprintf(path, sizeof(path), "%s.up", argv[1]);
	dprintf(open(path, O_WRONLY | O_CREAT, 0600), "%d\n", (int)getpid());
	while (sig != 64) {
		sig = (int)syscall(SYS_rt_sigtimedwait, &all, NULL, NULL, sizeof(all));
		if (sig <= 0)
			continue;
		snprintf(line, sizeof(line), "%d\n", sig);
		if (write(fd, line, strlen(line)) == -1)
			return 1;
	}
	return 0;
}
