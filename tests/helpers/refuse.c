/* SPDX-License-Identifier: ISC */
/*
 * refuse ERROR CALL[,CALL]... COMMAND [ARG]... - becomes a command for which a filter answers these
 * system calls with EPERM or ENOSYS, as that of a container may.  clone is refused only new namespaces.
 */
#include <errno.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "pidfd.h"

#define NAMESPACES                                                                     \
	(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | \
	 CLONE_NEWPID | CLONE_NEWNET)

static const struct {
	const char *name;
	unsigned number;
	unsigned flags; /* refused only with one of these in the first argument; 0: always */
} calls[] = {
	{ "bpf", SYS_bpf, 0 },
	{ "clone", SYS_clone, NAMESPACES },
	{ "clone3", SYS_clone3, 0 },
	{ "get_robust_list", SYS_get_robust_list, 0 },
	{ "io_uring_setup", SYS_io_uring_setup, 0 },
	{ "keyctl", SYS_keyctl, 0 },
	{ "mount", SYS_mount, 0 },
	{ "perf_event_open", SYS_perf_event_open, 0 },
	{ "pidfd_open", SYS_pidfd_open, 0 },
	{ "pivot_root", SYS_pivot_root, 0 },
	{ "quotactl", SYS_quotactl, 0 },
	{ "rt_sigtimedwait", SYS_rt_sigtimedwait, 0 },
	{ "set_robust_list", SYS_set_robust_list, 0 },
	{ "setns", SYS_setns, 0 },
	{ "signalfd4", SYS_signalfd4, 0 },
	{ "umount2", SYS_umount2, 0 },
	{ "unshare", SYS_unshare, 0 },
};

/* The lower half of the first argument. */
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define FIRST (offsetof(struct seccomp_data, args) + 4)
#else
#define FIRST offsetof(struct seccomp_data, args)
#endif

static int
refuse(const char *name, unsigned error)
{
	size_t i;

	for (i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		struct sock_filter code[] = {
			BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, calls[i].number,
				 calls[i].flags == 0 ? 2 : 0, 3),
			BPF_STMT(BPF_LD | BPF_W | BPF_ABS, FIRST),
			BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, calls[i].flags, 0, 1),
			BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
			BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		};
		struct sock_fprog program = { .len = sizeof(code) / sizeof(code[0]),
					      .filter = code };
		if (strcmp(name, calls[i].name) == 0)
			return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
	}
	fprintf(stderr, "refuse: no call %s\n", name);
	return -1;
}

int
main(int argc, char **argv)
{
	char *name, *rest = NULL;

	if (argc < 4 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == -1)
		return 99;
	for (name = strtok_r(argv[2], ",", &rest); name != NULL; name = strtok_r(NULL, ",", &rest))
		if (refuse(name, strcmp(argv[1], "EPERM") == 0 ? EPERM : ENOSYS) == -1)
			return 99;
	execvp(argv[3], argv + 3);
	return 99;
}
