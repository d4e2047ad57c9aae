/* SPDX-License-Identifier: ISC */
/*
 * ready.c - one socket between the command and the manager.
 *
 * The kernel says which user and process sent a datagram: it is believed if it is from our user,
 * from root, or from the command or a descendant of it, which may have changed its user.  Any other
 * sender was told the socket's name: we drop what it sends, because the manager would take it for
 * ours.
 *
 * A thread, the reader, reads, passes on and closes, and sleeps as long as these take: a process that
 * receives a descriptor also closes it, and that may take any time.  The first thread, which waits
 * for signals, waits for the reader only at the end, for LAST_CHANCE.  The order is kept, and if the
 * manager has no room the command waits in its report as it would without us.  Descriptors
 * (FDSTORE=1, BARRIER=1) go with their datagram.  Without a manager they are closed, which is what
 * the sender of BARRIER=1 waits for.
 *
 * Only the first thread may release the permit: the kernel ties a permit to the thread that took it.
 * So at READY=1 the reader sends SIGIO to it, and waits for its turn.
 */
#include "ready.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "explain.h"
#include "notify_socket.h"
#include "now.h"
#include "options.h"
#include "process.h"
#include "say.h"
#include "signal_wait.h"

#define MOST_FDS    253    /* in one datagram: the kernel's SCM_MAX_FD */
#define MOST_BYTES  65536  /* systemd reads no more than 4096 */
#define LAST_CHANCE SECOND /* for what the command reported before it ended */

struct ready {
	const struct options *o;
	void (*is_ready)(void *context);
	void *context;
	pid_t command;
	uint64_t since;
	struct notify_socket in;
	int out; /* -1 without a manager */
	struct sockaddr_un manager;
	socklen_t manager_size;

	sem_t turn;        /* the reader's, after ready_from() and after is_ready() */
	bool released;     /* is_ready() was called */
	atomic_int asks;   /* the reader: for is_ready() */
	_Atomic bool over; /* the reader has ended, or was not started */

	/* What follows is the reader's. */
	bool was_ready, said;
	size_t size, fds; /* of the datagram that it reads */
	int fd[MOST_FDS];
	char data[MOST_BYTES];
};

static int
find_manager(struct ready *r)
{
	const char *text = getenv("NOTIFY_SOCKET");

	if (text == NULL || *text == '\0')
		return 0;
	if (notify_address(text, &r->manager, &r->manager_size))
		return (r->out = notify_datagrams()) == -1 ? errno : 0;
	if (!r->o->want.how.quiet)
		say(r->o->want.limiter,
		    "--until-ready: NOTIFY_SOCKET '%s' is neither a path nor @NAME: nothing is "
		    "passed on to it",
		    text);
	return 0;
}

/* ---- one datagram ---- */

static void
forget(struct ready *r)
{
	while (r->fds > 0)
		close(r->fd[--r->fds]);
	r->size = 0;
}

static void
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
		if (!r->said && !r->o->want.how.quiet)
			say(r->o->want.limiter,
			    "--until-ready: cannot pass a report of the command on to "
			    "NOTIFY_SOCKET: %s",
			    strerror(errno));
		r->said = true;
	}
	forget(r);
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

/*
 * False at the end: ready_close() has shut the socket down, and all is read.  A datagram that is not
 * to be believed, or was cut, leaves size 0.
 */
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
		n = recvmsg(r->in.fd, &m, MSG_CMSG_CLOEXEC);
	while (n == -1 && errno == EINTR);
	if (n == -1 || m.msg_controllen == 0) /* each datagram has its sender */
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

/* Before we pass it on: when the manager learns of it, the permit is back. */
static void
note_ready(struct ready *r)
{
	if (r->was_ready || !says_ready(r->data, r->size))
		return;
	r->was_ready = true;
	r->asks = true;
	kill(getpid(), SIGIO);
	sem_wait(&r->turn);
}

static void *
read_reports(void *ready)
{
	struct ready *r = ready;

	sem_wait(&r->turn);
	while (receive(r)) {
		note_ready(r);
		pass_on(r);
	}
	r->over = true;
	kill(getpid(), SIGIO);
	return NULL;
}

/* ---- what the first thread calls ---- */

/* systemd means our pid by WATCHDOG_PID, and the command is to send what the watchdog waits for. */
static void
pass_watchdog_on(void)
{
	const char *pid = getenv("WATCHDOG_PID");

	if (pid != NULL && atol(pid) == (long)getpid())
		unsetenv("WATCHDOG_PID");
}

/* The reader has our mask: all signals are blocked in it. */
static int
start_reader(struct ready *r)
{
	pthread_attr_t detached;
	pthread_t thread;
	int error;

	pthread_attr_init(&detached);
	pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
	error = pthread_create(&thread, &detached, read_reports, r);
	pthread_attr_destroy(&detached);
	r->over = error != 0;
	return error;
}

struct ready *
ready_open(const struct options *o, void (*is_ready)(void *context), void *context)
{
	struct ready *r = calloc(1, sizeof(*r));
	const char *where = "";
	int error = ENOMEM;

	if (r != NULL) {
		r->o = o;
		r->is_ready = is_ready;
		r->context = context;
		r->since = now_ns();
		r->in.fd = r->out = -1;
		r->over = true;
		sem_init(&r->turn, 0, 0);
		error = find_manager(r);
	}
	if (error == 0 && (error = notify_open(&r->in)) != 0)
		where =
		    r->in.dir[0] == '\0' ? " no socket in /run, /tmp or /dev/shm:" : " its socket:";
	if (error == 0)
		error = start_reader(r);
	if (error == 0) {
		pass_watchdog_on();
		return r;
	}
	say(o->want.limiter, "--until-ready:%s %s%s", where, strerror(error), remedy_for(error));
	ready_close(r);
	return NULL;
}

void
ready_from(struct ready *r, pid_t command)
{
	if (r == NULL)
		return;
	r->command = command;
	sem_post(&r->turn);
}

bool
ready_hears(struct ready *r, const siginfo_t *info)
{
	char span[32];

	if (r == NULL || info->si_signo != SIGIO)
		return false;
	/* Whichever process sent it: the reader's was merged with one that was pending. */
	if (atomic_exchange(&r->asks, 0)) {
		r->is_ready(r->context);
		r->released = true;
		if (r->o->want.how.verbose)
			say(r->o->want.limiter, "ready after %s: the permit is released",
			    say_duration((double)(now_ns() - r->since) / 1e9, span));
		sem_post(&r->turn);
	}
	return info->si_pid == 0 || info->si_pid == getpid();
}

bool
ready_is_awaited(const struct ready *r)
{
	return r != NULL && !r->released;
}

/* The reader may sleep on in a close or in the manager's socket: it ends with this process. */
void
ready_close(struct ready *r)
{
	uint64_t until = now_ns() + LAST_CHANCE;
	siginfo_t info;
	sigset_t io;

	if (r == NULL)
		return;
	sigemptyset(&io);
	sigaddset(&io, SIGIO);
	shutdown(r->in.fd, SHUT_RD);
	sem_post(&r->turn);
	while (!r->over && signal_wait(&io, until, &info) > 0)
		;
	notify_close(&r->in);
}
