/* SPDX-License-Identifier: ISC */
/*
 * tend_local.c - a limiter file needs no tending: its permits end with their takers and guards.
 */
#include "tend.h"

#include "now.h"

void
tend_quiet(bool quiet)
{
	(void)quiet;
}

void
tend_open(const sigset_t *mask)
{
	(void)mask;
}

void
tend_by_signal(void)
{
}

bool
tend_hears(const siginfo_t *info)
{
	(void)info;
	return false;
}

int
tend_fd(void)
{
	return -1;
}

uint64_t
tend_look(void)
{
	return NEVER;
}

void
tend_hush(void)
{
}

/*
 * The child has stored its pid, by flk_working_child().  So nothing here looks at the limiter's file
 * while a command runs: were the file cut short then, a fault would end us before we know how the
 * command ends.
 */
void
tend_working(struct flk_taker *t, pid_t pid)
{
	(void)t;
	(void)pid;
}

/*
 * No command inherits this guard, but flocklimitctl knows a true keeper by it from a forged record.
 */
void
tend_for(struct flk_taker *t, pid_t pid, int pidfd)
{
	int fd;

	(void)pid;
	(void)pidfd;
	flk_guard(t, &fd);
}

const char *
tend_line(const struct flk_taker *t)
{
	(void)t;
	return "";
}

const char *
tend_evictor(const struct flk_taker *t)
{
	(void)t;
	return NULL;
}

bool
tend_lost(struct flk_taker *t)
{
	(void)t;
	return false;
}

const char *
tend_key(const struct flk_taker *t)
{
	(void)t;
	return NULL;
}
