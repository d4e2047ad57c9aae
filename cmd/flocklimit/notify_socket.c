/* SPDX-License-Identifier: ISC */
/*
 * notify_socket.c - no other user's process may reach the socket: each datagram costs us time, and
 * a descriptor in one of them may keep the reader busy for ever.
 *
 * A name in the abstract namespace would be in /proc/net/unix for everybody.  So the socket is in a
 * directory that others can pass, but not list.  /proc/net/unix shows the name that the socket was
 * bound to, and we rename it to a random one before we let others pass.  A command that has changed
 * its user finds it all the same, by NOTIFY_SOCKET.
 */
#include "notify_socket.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "descriptor.h"

#define PREFIX "flocklimit-ready-"
#define WHOLE  0711 /* the mode of a directory with its lock and its socket */

bool
notify_address(const char *text, struct sockaddr_un *address, socklen_t *size)
{
	size_t n = strlen(text);

	if ((text[0] != '/' && text[0] != '@') || n < 2 || n >= sizeof(address->sun_path))
		return false;
	*address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	memcpy(address->sun_path, text, n);
	if (text[0] == '@')
		address->sun_path[0] = '\0';
	*size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n + (text[0] == '/'));
	return true;
}

int
notify_datagrams(void)
{
	return flki_above_stdio(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
}

/* A killed wrapper has left this directory, if it is ours and whole, and nothing has it locked. */
static void
remove_stale(const char *dir)
{
	struct dirent *entry;
	struct stat sb;
	DIR *entries;
	int fd;

	/* Others may have made many. */
	if (lstat(dir, &sb) == -1 || sb.st_uid != geteuid())
		return;
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	entries = fd != -1 ? fdopendir(fd) : NULL;
	if (entries == NULL)
		return;
	if (fstat(fd, &sb) == 0 && sb.st_uid == geteuid() && (sb.st_mode & 0777) == WHOLE &&
	    flock(fd, LOCK_EX | LOCK_NB) == 0) {
		while ((entry = readdir(entries)) != NULL)
			unlinkat(fd, entry->d_name, 0);
		rmdir(dir);
	}
	closedir(entries);
}

/*
 * It stays locked until we end, by a descriptor that nothing closes.  systemd-tmpfiles(8) removes no
 * locked directory either, however old it is.
 */
static int
make_directory(struct notify_socket *s)
{
	static const char *const parents[] = { "/run", "/tmp", "/dev/shm" };
	bool made = false;
	glob_t others;
	size_t i, n;
	int fd;

	for (i = 0; i < sizeof(parents) / sizeof(parents[0]) && !made; i++) {
		snprintf(s->dir, sizeof(s->dir), "%s/" PREFIX "??????", parents[i]);
		if (glob(s->dir, GLOB_NOSORT, NULL, &others) == 0) {
			for (n = 0; n < others.gl_pathc; n++)
				remove_stale(others.gl_pathv[n]);
			globfree(&others);
		}
		snprintf(s->dir, sizeof(s->dir), "%s/" PREFIX "XXXXXX", parents[i]);
		made = mkdtemp(s->dir) != NULL;
	}
	if (!made) {
		s->dir[0] = '\0';
		return errno;
	}
	fd = flki_above_stdio(open(s->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	return fd != -1 && flock(fd, LOCK_EX) == 0 ? 0 : errno;
}

int
notify_open(struct notify_socket *s)
{
	struct sockaddr_un address;
	socklen_t size;
	uint64_t number;
	char random[sizeof(s->path)];
	int error, yes = 1;

	if ((error = make_directory(s)) != 0)
		return error;
	if (getrandom(&number, sizeof(number), 0) != (ssize_t)sizeof(number))
		return errno;
	/* s->path is always the name that it has, for notify_close(). */
	snprintf(s->path, sizeof(s->path), "%s/socket", s->dir);
	snprintf(random, sizeof(random), "%s/%016" PRIx64, s->dir, number);
	if (!notify_address(s->path, &address, &size))
		return EINVAL;
	s->fd = notify_datagrams();
	if (s->fd == -1 || setsockopt(s->fd, SOL_SOCKET, SO_PASSCRED, &yes, sizeof(yes)) == -1 ||
	    bind(s->fd, (struct sockaddr *)&address, size) == -1 || chmod(s->path, 0666) == -1 ||
	    rename(s->path, random) == -1)
		return errno;
	memcpy(s->path, random, sizeof(random));
	if (chmod(s->dir, WHOLE) == -1)
		return errno;
	return setenv("NOTIFY_SOCKET", s->path, 1) == 0 ? 0 : errno;
}

void
notify_close(struct notify_socket *s)
{
	unlink(s->path);
	rmdir(s->dir);
}
