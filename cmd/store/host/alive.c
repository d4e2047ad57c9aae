/* SPDX-License-Identifier: ISC */
#include "alive.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "pidfd.h"

static struct flock
byte(short type, uint32_t at)
{
	return (struct flock){ .l_type = type, .l_whence = SEEK_SET, .l_start = at, .l_len = 1 };
}

bool
alive_take_cell(int file, uint32_t cell)
{
	struct flock f = byte(F_WRLCK, cell);

	return fcntl(file, F_OFD_SETLK, &f) == 0;
}

void
alive_leave_cell(int file, uint32_t cell)
{
	struct flock f = byte(F_UNLCK, cell);

	fcntl(file, F_OFD_SETLK, &f);
}

bool
alive_has_cell(int file, uint32_t cell)
{
	struct flock f = byte(F_WRLCK, cell);

	return fcntl(file, F_OFD_GETLK, &f) == -1 || f.l_type != F_UNLCK;
}

bool
alive_say(int file, uint32_t who)
{
	struct flock f = byte(F_WRLCK, who);

	return fcntl(file, F_SETLK, &f) == 0;
}

static pid_t
owner(int file, uint32_t who)
{
	struct flock f = byte(F_WRLCK, who);

	return fcntl(file, F_GETLK, &f) == 0 && f.l_type != F_UNLCK ? f.l_pid : 0;
}

/* If the process has the lock after we have its pidfd, the number was its own when we opened that. */
void
alive_kill(int file, uint32_t who)
{
	pid_t pid = owner(file, who);
	int pidfd = pid > 0 ? flki_pidfd_open(pid) : -1;

	if (pidfd == -1)
		return;
	if (owner(file, who) == pid)
		flki_pidfd_signal(pidfd, SIGKILL);
	close(pidfd);
}
