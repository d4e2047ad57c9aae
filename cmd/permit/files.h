/* SPDX-License-Identifier: ISC */
/*
 * files.h - limiters that are files of this machine, as kind.h has it.
 */
#ifndef FILES_H
#define FILES_H

#include "kind.h"
#include "store_exec.h"

/*
 * A permit ends with its taker and its guard, so nothing is tended.  A child has stored its pid by
 * flki_working_child(), so nothing looks at the limiter's file while a command runs: were the file cut
 * short then, a fault would end us before we know how the command ends.
 */
#define KIND_OF_FILES                                                                      \
	.is_file = true, .choose = store_exec, .attach = flk_attach, .locate = flk_locate, \
	.strerror = flk_strerror, .keep_for = files_keep_for

/*
 * No command inherits this guard, but flocklimitctl knows a true keeper by it from a forged record.
 * A keeper that has none gets no signal from flocklimitctl, and holds all the same.
 */
static inline void
files_keep_for(struct flk_taker *t, pid_t pid, int pidfd)
{
	int fd, error = flk_guard(t, &fd);

	(void)pid;
	(void)pidfd;
	(void)error;
}

#endif
