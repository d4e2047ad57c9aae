/* SPDX-License-Identifier: ISC */
#include "place_kept.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "fnv.h"
#include "job.h"
#include "line.h"
#include "passing.h"
#include "say.h"

#define TRIES 100 /* of a keeper that goes just when we come */

/* What makes a place: the limiter, and the words of the call and its directory, or the word of --place. */
static uint64_t
hash_of(const struct job *j)
{
	uint64_t hash = fnv(FNV_START, VERSION, sizeof(VERSION));
	const char *word = j->o.want.how.place;
	char directory[PATH_MAX] = "";
	char **w;

	hash = fnv(hash, j->path, strlen(j->path) + 1);
	if (word != NULL)
		return fnv(hash, word, strlen(word));
	if (getcwd(directory, sizeof(directory)) == NULL)
		directory[0] = '\0';
	hash = fnv(hash, directory, strlen(directory) + 1);
	for (w = j->words; *w != NULL; w++)
		hash = fnv(hash, *w, strlen(*w) + 1);
	return hash;
}

/* In no directory, so that nothing is left by a keeper that was killed. */
static socklen_t
name_of(const struct job *j, struct sockaddr_un *name)
{
	int n;

	*name = (struct sockaddr_un){ .sun_family = AF_UNIX };
	n = snprintf(name->sun_path + 1, sizeof(name->sun_path) - 1,
		     "flocklimit-place-%u-%016" PRIx64, (unsigned)geteuid(), hash_of(j));
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
}

/* Not our child: process 1 reaps it, and no wait of ours sees it. */
static int
begin_keeper(const struct job *j, const struct flk_request *want, int listener, int ours)
{
	pid_t child = fork();

	if (child == -1)
		return -errno;
	if (child > 0) {
		while (waitpid(child, NULL, 0) == -1 && errno == EINTR)
			;
		return 0;
	}
	child = fork();
	if (child != 0)
		_exit(0);
	/* Our end of the socket must have no other user, as its end is ours; nor the descriptor. */
	close(ours);
	close(j->kept);
	place_keeper_run(j, want, listener);
}

pid_t
place_peer(int socket)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
		       peer.uid == geteuid()
		   ? peer.pid
		   : -1;
}

/* The keeper of this place, begun if there is none: a socket, or a negative code. */
static int
connect_to(const struct job *j, const struct flk_request *want)
{
	struct sockaddr_un name;
	socklen_t size = name_of(j, &name);
	int s = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), listener, error = 0;

	if (s == -1)
		return -errno;
	while (error == 0 && connect(s, (struct sockaddr *)&name, size) == -1) {
		if (errno != ECONNREFUSED) {
			error = -errno;
			break;
		}
		listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
		if (listener == -1)
			error = -errno;
		else if (bind(listener, (struct sockaddr *)&name, size) == 0 &&
			 listen(listener, 8) == 0)
			error = begin_keeper(j, want, listener, s);
		else if (errno != EADDRINUSE) /* else another has begun one meanwhile */
			error = -errno;
		if (listener != -1)
			close(listener);
	}
	if (error == 0 && place_peer(s) == -1)
		error = -EACCES;
	if (error != 0)
		close(s);
	return error != 0 ? error : s;
}

/* The next answer: its code, or -ECONNRESET without one: the keeper has ended. */
static int
hear(int socket, struct place_answer *a)
{
	ssize_t n;

	do
		n = recv(socket, a, sizeof(*a), 0);
	while (n == -1 && errno == EINTR);
	return n == sizeof(*a) ? a->code : -ECONNRESET;
}

static int
attach(struct job *j, int socket)
{
	struct place_answer a = { .code = 0 };
	struct place_hello hello = { .keep_ns = j->o.want.how.keep_ns };
	int code;

	if (passing_send(socket, &hello, sizeof(hello), j->kept, 0) != 0)
		return -ECONNRESET;
	code = hear(socket, &a);
	if (code == -EINPROGRESS) {
		j->slot = a.slot;
		code = line_wait_kept(j->taker, &j->o, socket, a.slot, &j->deadline,
				      &j->heritage.mask);
		if (code == 0 && (code = hear(socket, &a)) == -ECONNRESET)
			say(j->o.want.limiter, "--keep-place: the keeper of the place has died: "
					       "waiting anew, behind all others");
	}
	if (code != 0)
		line_say(j->taker, &j->o, code, &j->slot, 0);
	if (code == -EALREADY)
		say(j->o.want.limiter,
		    "--keep-place: pid %d waits with this place already: wait for it, or give "
		    "each its own --place",
		    (int)a.front);
	if (code == 0) {
		j->slot = a.slot;
		j->permit = a.permit;
	}
	return code;
}

/* Where no keeper can be had, the wait is an ordinary one. */
static int
wait_alone(struct job *j, const struct flk_request *want, int error)
{
	if (!j->o.want.how.quiet)
		say(j->o.want.limiter, "--keep-place: no place is kept: %s",
		    error == -EACCES ? "another user has its name: use --place" : strerror(-error));
	return line_take(j->taker, &j->o, want, &j->deadline, &j->heritage.mask);
}

int
place_take(struct job *j, const struct flk_request *want)
{
	int socket, code = -ECONNRESET, tries;

	for (tries = 0; code == -ECONNRESET && tries < TRIES; tries++) {
		if ((j->kept = flk_guard_open(j->limiter)) < 0)
			return j->kept;
		socket = connect_to(j, want);
		if (socket >= 0) {
			code = attach(j, socket);
			close(socket);
		}
		if (socket < 0 || code != 0)
			close(j->kept);
		if (socket < 0)
			return wait_alone(j, want, socket);
	}
	j->is_kept = code == 0;
	return code;
}
