/* SPDX-License-Identifier: ISC */
/*
 * explain.c - advice that names an option or a program: the library knows none of them.
 */
#include "explain.h"

#include <errno.h>
#include <stddef.h>

#include "kind.h"
#include "flocklimit.h"

static const struct {
	int code;
	const char *text;
} advice[] = {
	{ -FLK_FOREIGN, "belongs to another user: let its owner share it with a group of yours "
			"(--mode 0660), or choose another path" },
	{ -FLK_WRITABLE, "is writable by everybody: run chmod o-w on it" },
	{ -FLK_NETWORK, "is on a network file system, which shares no memory between machines: "
			"choose a local path, or use --store" },
	{ -FLK_VERSION, "is a limiter of another version of flocklimit: let its takers end, then "
			"flocklimitctl rm removes it" },
	{ -FLK_DAMAGED, "is damaged: run flocklimitctl check --repair, or let its takers end and "
			"flocklimitctl rm it" },
	{ -FLK_LEASED, "another process has a lease on the file: end that process, which lslocks "
		       "names, or try again in a minute, when the kernel has ended the lease" },
};

static const struct {
	int error;
	const char *text;
} remedies[] = {
	{ EAGAIN, ": raise ulimit -u, or the cgroup's pids.max, or let others end" },
	{ EMFILE, ": raise ulimit -n" },
	{ ENFILE, ": raise ulimit -n" },
	{ EFBIG, ": raise ulimit -f" },
	{ ENOMEM, ": raise ulimit -v, or let others end" },
};

const char *
remedy_for(int error)
{
	size_t i;

	for (i = 0; i < sizeof(remedies) / sizeof(remedies[0]); i++)
		if (remedies[i].error == error)
			return remedies[i].text;
	return "";
}

const char *
explain(int code)
{
	int minus = code > 0 ? -code : code;
	size_t i;

	for (i = 0; i < sizeof(advice) / sizeof(advice[0]); i++)
		if (advice[i].code == minus)
			return advice[i].text;
	return here.strerror(code);
}
