/* SPDX-License-Identifier: ISC */
#include "meeting.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "close_fd.h"
#include "descriptor.h"
#include "directory.h"
#include "flocklimit.h"

#define BACKLOG 4096

/* ---- the directory ---- */

/* Users may share a limiter directory, but not this one. */
static int
open_own(int parent)
{
	char name[40];
	struct stat sb;
	int fd;

	snprintf(name, sizeof(name), ".keepers-%lu", (unsigned long)geteuid());
	if (mkdirat(parent, name, 0700) == -1 && errno != EEXIST)
		return -errno;
	fd = openat(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd == -1)
		return -errno;
	if (fstat(fd, &sb) == 0 && sb.st_uid == geteuid() && (sb.st_mode & 077) == 0)
		return flki_above_stdio(fd);
	close(fd);
	return -FLK_BADDIR;
}

/* The user's secret: the first process that needs one draws it. */
static int
read_key(int dir, uint64_t key[2])
{
	int fd = openat(dir, "key", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	const ssize_t size = 2 * sizeof(key[0]);
	int error = 0;

	if (fd == -1)
		return -errno;
	if (flock(fd, LOCK_EX) == -1)
		error = -errno;
	else if (read(fd, key, (size_t)size) != size && (getrandom(key, (size_t)size, 0) != size ||
							 pwrite(fd, key, (size_t)size, 0) != size))
		error = -EIO;
	close(fd);
	return error;
}

int
meeting_open(struct meeting *m)
{
	struct directory d;
	uint64_t key[2];
	int error, parent;

	/* The rules are the same whatever the limiter. */
	if ((error = flki_directory_open(&d, "keeper", true, &parent)) != 0)
		return error;
	m->dir = open_own(parent);
	close(parent);
	if (m->dir < 0 || (error = read_key(m->dir, key)) != 0) {
		error = m->dir < 0 ? m->dir : error;
		if (m->dir >= 0)
			close(m->dir);
		m->dir = -1;
		return error;
	}
	same_name(key, m->name);
	return 0;
}

/* ---- the board ---- */

int
meeting_board(const struct meeting *m, bool make)
{
	int fd = flki_above_stdio(
	    openat(m->dir, m->name, O_RDWR | O_NOFOLLOW | O_CLOEXEC | (make ? O_CREAT : 0), 0600));

	return fd == -1 ? -errno : fd;
}

static bool
is_named(const struct meeting *m, int file)
{
	struct stat is, has;

	return fstatat(m->dir, m->name, &is, AT_SYMLINK_NOFOLLOW) == 0 && fstat(file, &has) == 0 &&
	       is.st_ino == has.st_ino && is.st_dev == has.st_dev;
}

int
meeting_lock(const struct meeting *m, int file, int tries)
{
	while (flock(file, LOCK_EX | LOCK_NB) == -1)
		if (--tries <= 0 || poll(NULL, 0, 10) == -1)
			return -EAGAIN;
	if (is_named(m, file))
		return 0;
	flock(file, LOCK_UN);
	return -ENOENT;
}

/* ---- the socket ---- */

/* By way of the descriptor: the room of a socket's name is too small for some directories. */
static struct sockaddr_un
address(const struct meeting *m)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };

	snprintf(a.sun_path, sizeof(a.sun_path), "/proc/self/fd/%d/%s.socket", m->dir, m->name);
	return a;
}

static int
make_socket(void)
{
	int fd =
	    flki_above_stdio(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));

	return fd == -1 ? -errno : fd;
}

int
meeting_connect(const struct meeting *m)
{
	struct sockaddr_un a = address(m);
	int fd = make_socket(), error;

	if (fd < 0)
		return fd;
	if (connect(fd, (struct sockaddr *)&a, sizeof(a)) == 0 && meeting_peer(fd) != 0)
		return fd;
	error = -errno;
	close(fd);
	return error;
}

int
meeting_listen(const struct meeting *m)
{
	struct sockaddr_un a = address(m);
	char name[SAME_NAME + 8];
	int fd = make_socket(), error;

	if (fd < 0)
		return fd;
	snprintf(name, sizeof(name), "%s.socket", m->name);
	if ((unlinkat(m->dir, name, 0) == 0 || errno == ENOENT) &&
	    bind(fd, (struct sockaddr *)&a, sizeof(a)) == 0 && listen(fd, BACKLOG) == 0)
		return fd;
	error = -errno;
	close(fd);
	return error;
}

void
meeting_remove(const struct meeting *m)
{
	char name[SAME_NAME + 8];

	snprintf(name, sizeof(name), "%s.socket", m->name);
	unlinkat(m->dir, name, 0);
	unlinkat(m->dir, m->name, 0);
}

pid_t
meeting_peer(int socket)
{
	struct ucred peer = { .pid = 0 };
	socklen_t size = sizeof(peer);

	errno = EPERM;
	if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == -1 ||
	    peer.uid != geteuid())
		return 0;
	return peer.pid;
}
