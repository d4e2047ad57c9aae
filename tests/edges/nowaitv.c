/* SPDX-License-Identifier: ISC */
/*
 * nowaitv.c - runs a program where the system call futex_waitv is not there, as on kernels
 * before 5.16 and under old seccomp filters.
 *
 *	nowaitv PROGRAM [ARG]...
 *	nowaitv_NAME.t [ARG]...		NAME.t of tests/api
 *	nowaitv_eperm_NAME.t [ARG]...
 *
 * All that the program starts is in the same case.  Filters answer ENOSYS or EPERM: the second
 * with TEST_NO_WAITV=EPERM in the environment, or by the name.
 */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>

#define FUTEX_WAITV 449 /* the same everywhere */

static int
take_it_away(unsigned error)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, FUTEX_WAITV, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { .len = sizeof(code) / sizeof(code[0]), .filter = code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == -1)
		return -1;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}

int
main(int argc, char **argv)
{
	static const char prefix[] = "nowaitv_", eperm[] = "eperm_";
	char path[4096];
	const char *answer = getenv("TEST_NO_WAITV");
	char *name = strrchr(argv[0], '/'), *test = NULL;
	size_t dir;

	name = name != NULL ? name + 1 : argv[0];
	dir = (size_t)(name - argv[0]);
	if (strncmp(name, prefix, strlen(prefix)) == 0)
		test = name + strlen(prefix);
	if (test != NULL && strncmp(test, eperm, strlen(eperm)) == 0) {
		test += strlen(eperm);
		answer = "EPERM";
	}
	if (answer == NULL || strcmp(answer, "EPERM") != 0)
		answer = "ENOSYS";
	if (take_it_away(strcmp(answer, "EPERM") == 0 ? EPERM : ENOSYS) == -1) {
		puts("1..0 # SKIP no system call filter here");
		return 0;
	}
	setenv("TEST_NO_WAITV", answer, 1);
	if (test != NULL) {
		snprintf(path, sizeof(path), "%.*s../api/%s", (int)dir, argv[0], test);
		argv[0] = path;
		execv(path, argv);
	} else if (argc > 1) {
		execvp(argv[1], argv + 1);
	}
	perror("nowaitv");
	return 99;
}
