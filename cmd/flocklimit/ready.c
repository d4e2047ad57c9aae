/* SPDX-License-Identifier: ISC */
/*
 * ready.c - one socket between the command and the manager.
 *
 * The socket has a random name in the abstract namespace, so that a killed wrapper leaves nothing
 * behind, and a command that outlives its wrapper cannot report to a later one by mistake.  Any
 * process of the machine can send to it.  The kernel says which user and process did: a datagram is
 * believed if it is from our user, from root, or from the command or a descendant of it, which may
 * have changed its user.  We read any other and drop it; we must not pass it on, because the
 * manager would take it for ours.
 *
 * A datagram that the manager has no room for stays with us, and we read no other before it.  So
 * the order is kept, and the command waits in its report as it would without us.  Descriptors
 * (FDSTORE=1, BARRIER=1) go with their datagram.  Without a manager they are closed, which is what
 * the sender of BARRIER=1 waits for.
 *
 * The socket sends us SIGIO, which the loop of run.c reads as it reads the other signals.
 */
#include "ready.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "descriptor.h"
#include "now.h"
#include "options.h"
#include "process.h"
#include "say.h"

#define MOST_FDS    253           /* in one datagram: the kernel's SCM_MAX_FD */
#define MOST_BYTES  65536         /* systemd reads no more than 4096 */
#define AT_ONCE     64            /* datagrams, before we look at signals again */
#define NO_ROOM     (SECOND / 10) /* until we try again to pass a datagram on */
#define LAST_CHANCE SECOND        /* for what the command reported before it ended */

struct ready {
	const struct options *o;
	void (*is_ready)(void *context);
	void *context;
	pid_t command;
	uint64_t since, again; /* again: when to call ready_look() */
	bool news, was_ready, said;
	int in, out; /* out: -1 without a manager */
	struct sockaddr_un manager;
	socklen_t manager_size;
	/* The datagram that is to be passed on; size 0: none. */
	size_t size, fds;
	int fd[MOST_FDS];
	char data[MOST_BYTES];
};

/* ---- the sockets ---- */

/* As sd_notify(3) has it: a path, or '@' and a name in the abstract namespace. */
static bool
parse_address(const char *text, struct sockaddr_un *address, socklen_t *size)
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

static int
new_socket(void)
{
	return flki_above_stdio(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

static int
listen_to_command(struct ready *r)
{
	struct sockaddr_un address;
	socklen_t size;
	uint64_t number;
	char name[48];
	int yes = 1;

	if (getrandom(&number, sizeof(number), 0) != (ssize_t)sizeof(number))
		return errno;
	snprintf(name, sizeof(name), "@flocklimit/ready/%016" PRIx64, number);
	if (!parse_address(name, &address, &size))
		return EINVAL;
	r->in = new_socket();
	if (r->in == -1 || setsockopt(r->in, SOL_SOCKET, SO_PASSCRED, &yes, sizeof(yes)) == -1 ||
	    bind(r->in, (struct sockaddr *)&address, size) == -1 ||
	    fcntl(r->in, F_SETOWN, getpid()) == -1 ||
	    fcntl(r->in, F_SETFL, O_NONBLOCK | O_ASYNC) == -1)
		return errno;
	return setenv("NOTIFY_SOCKET", name, 1) == 0 ? 0 : errno;
}

static int
find_manager(struct ready *r)
{
	const char *text = getenv("NOTIFY_SOCKET");

	if (text == NULL || *text == '\0')
		return 0;
	if (parse_address(text, &r->manager, &r->manager_size))
		return (r->out = new_socket()) == -1 ? errno : 0;
	if (!r->o->quiet)
		say(r->o->want.limiter,
		    "--until-ready: NOTIFY_SOCKET '%s' is neither a path nor @NAME: nothing is "
		    "passed on to it",
		    text);
	return 0;
}

/* systemd means our pid by WATCHDOG_PID, and the command is to send what the watchdog waits for. */
static void
pass_watchdog_on(void)
{
	const char *pid = getenv("WATCHDOG_PID");

	if (pid != NULL && atol(pid) == (long)getpid())
		unsetenv("WATCHDOG_PID");
}

struct ready *
ready_open(const struct options *o, void (*is_ready)(void *context), void *context)
{
	struct ready *r = calloc(1, sizeof(*r));
	int error = ENOMEM;

	if (r != NULL) {
		r->o = o;
		r->is_ready = is_ready;
		r->context = context;
		r->since = now_ns();
		r->again = NEVER;
		r->in = r->out = -1;
		error = find_manager(r);
	}
	if (error == 0)
		error = listen_to_command(r);
	if (error == 0) {
		pass_watchdog_on();
		return r;
	}
	say(o->want.limiter, "--until-ready: %s", strerror(error));
	ready_close(r);
	return NULL;
}

void
ready_from(struct ready *r, pid_t command)
{
	if (r != NULL)
		r->command = command;
}

/* ---- one datagram ---- */

static void
forget(struct ready *r)
{
	while (r->fds > 0)
		close(r->fd[--r->fds]);
	r->size = 0;
}

/* False if there is no room for it now. */
static bool
pass_on(struct ready *r)
{
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(sizeof(r->fd))];
	} control;
	struct iovec data = { .iov_base = r->data, .iov_len = r->size };
	struct msghdr m = { .msg_name = &r->manager,
			    .msg_namelen = r->manager_size,
			    .msg_iov = &data,
			    .msg_iovlen = 1 };
	struct cmsghdr *c = &control.align;
	size_t bytes = r->fds * sizeof(r->fd[0]);

	if (r->fds > 0) {
		memset(&control, 0, sizeof(control));
		m.msg_control = control.room;
		m.msg_controllen = (socklen_t)CMSG_SPACE(bytes);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = (socklen_t)CMSG_LEN(bytes);
		memcpy(CMSG_DATA(c), r->fd, bytes);
	}
	if (r->out != -1 && r->size > 0 && sendmsg(r->out, &m, MSG_NOSIGNAL) == -1) {
		if (errno == EAGAIN || errno == ENOBUFS)
			return false;
		if (!r->said && !r->o->quiet)
			say(r->o->want.limiter,
			    "--until-ready: cannot pass a report of the command on to "
			    "NOTIFY_SOCKET: %s",
			    strerror(errno));
		r->said = true;
	}
	forget(r);
	return true;
}

static bool
is_trusted(const struct ready *r, const struct ucred *sender)
{
	return sender->uid == geteuid() || sender->uid == getuid() || sender->uid == 0 ||
	       (r->command != 0 && sender->pid > 0 && process_is_below(sender->pid, r->command));
}

/*
 * The descriptors, and the sender, which the kernel adds to each datagram.  musl's CMSG_NXTHDR() does
 * not compile without warnings.
 */
static void
take_control(struct ready *r, const struct msghdr *m, struct ucred *sender)
{
	char *room = m->msg_control;
	struct cmsghdr *c;
	size_t at;

	for (at = 0; at + sizeof(*c) <= m->msg_controllen;
	     at += CMSG_SPACE(c->cmsg_len - CMSG_LEN(0))) {
		c = (struct cmsghdr *)(void *)(room + at);
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_CREDENTIALS)
			memcpy(sender, CMSG_DATA(c), sizeof(*sender));
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS) {
			r->fds = (c->cmsg_len - CMSG_LEN(0)) / sizeof(r->fd[0]);
			memcpy(r->fd, CMSG_DATA(c), r->fds * sizeof(r->fd[0]));
		}
	}
}

/* False if there is none.  One that is not to be believed, or was cut, leaves size 0. */
static bool
receive(struct ready *r)
{
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(sizeof(r->fd)) + CMSG_SPACE(sizeof(struct ucred))];
	} control;
	struct iovec data = { .iov_base = r->data, .iov_len = sizeof(r->data) };
	struct msghdr m = { .msg_iov = &data,
			    .msg_iovlen = 1,
			    .msg_control = control.room,
			    .msg_controllen = sizeof(control) };
	struct ucred sender = { .pid = 0, .uid = (uid_t)-1, .gid = (gid_t)-1 };
	ssize_t n;

	do
		n = recvmsg(r->in, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	while (n == -1 && errno == EINTR);
	if (n == -1)
		return false;
	take_control(r, &m, &sender);
	r->size = (size_t)n;
	if ((m.msg_flags & MSG_TRUNC) != 0 || !is_trusted(r, &sender))
		forget(r);
	return true;
}

/* READY=1 is a line of its own, and there may be others. */
static bool
says_ready(const char *text, size_t size)
{
	static const char word[] = "READY=1";
	const char *end = text + size, *line, *newline;

	for (line = text; line < end; line = newline + 1) {
		newline = memchr(line, '\n', (size_t)(end - line));
		if (newline == NULL)
			newline = end;
		if ((size_t)(newline - line) == sizeof(word) - 1 &&
		    memcmp(line, word, sizeof(word) - 1) == 0)
			return true;
	}
	return false;
}

/* ---- what the loop calls ---- */

/* Before it is passed on: when the manager hears of it, the permit is back. */
static void
note_ready(struct ready *r)
{
	char span[32];

	if (r->was_ready || !says_ready(r->data, r->size))
		return;
	r->was_ready = true;
	r->is_ready(r->context);
	if (r->o->verbose)
		say(r->o->want.limiter, "ready after %s: the permit is released",
		    say_duration((double)(now_ns() - r->since) / 1e9, span));
}

bool
ready_hears(struct ready *r, const siginfo_t *info)
{
	if (r == NULL || info->si_signo != SIGIO)
		return false;
	/* A SIGIO of ours may have been merged with another that was pending. */
	r->news = true;
	return info->si_code > 0;
}

uint64_t
ready_look(struct ready *r)
{
	int n = 0;

	if (r == NULL || (!r->news && (r->again == NEVER || now_ns() < r->again)))
		return r != NULL ? r->again : NEVER;
	r->news = false;
	r->again = NEVER;
	while (pass_on(r)) {
		if (++n > AT_ONCE) {
			r->again = now_ns() + SECOND / 1000;
			return r->again;
		}
		if (!receive(r))
			return NEVER;
		note_ready(r);
	}
	r->again = now_ns() + NO_ROOM;
	return r->again;
}

void
ready_close(struct ready *r)
{
	uint64_t until = now_ns() + LAST_CHANCE, next;

	if (r == NULL)
		return;
	r->was_ready = true;
	if (r->in != -1) {
		r->news = true;
		while ((next = ready_look(r)) != NEVER && next < until)
			poll(NULL, 0, (int)(NO_ROOM / 10 / 1000000));
		forget(r);
		close(r->in);
	}
	if (r->out != -1)
		close(r->out);
	free(r);
}
