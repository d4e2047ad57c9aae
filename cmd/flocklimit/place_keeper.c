/* SPDX-License-Identifier: ISC */
/*
 * place_keeper.c - the process that keeps a place in the line, and a permit until a front takes it.
 *
 * It sleeps in the line, and a socket can't wake it there: so the sockets send SIGIO, whose handler
 * interrupts the wait.  An interrupt that comes before the wait ends the next one: none is lost.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>
#include <sys/socket.h>

#include "job.h"
#include "kind.h"
#include "now.h"
#include "passing.h"
#include "place_kept.h"
#include "share.h"
#include "signals.h"
#include "split.h"

#define PATIENCE_S 1 /* for the first words of a front */

struct keeper {
	struct flk_taker *taker;
	int listener;
	int front; /* its socket; -1: there is none, and the place is kept UNTIL then */
	int fd;    /* the front's descriptor */
	pid_t pid; /* the front's */
	uint64_t keep_ns, until;
	bool is_waiting; /* in the line: a front is told so, and the slot */
};

static struct flk_taker *_Atomic waiting; /* for the handlers; NULL: nothing to interrupt */
static volatile sig_atomic_t ended;

static void
on_io(int sig)
{
	struct flk_taker *t = waiting;

	(void)sig;
	if (t != NULL)
		flk_interrupt(t);
}

static void
on_term(int sig)
{
	ended = 1;
	on_io(sig);
}

static void
listen_to(int socket)
{
	fcntl(socket, F_SETOWN, getpid());
	fcntl(socket, F_SETFL, fcntl(socket, F_GETFL) | O_ASYNC | O_NONBLOCK);
}

/* ---- fronts ---- */

static void
drop_front(struct keeper *k)
{
	if (k->front != -1) {
		close(k->front);
		close(k->fd);
	}
	k->front = k->fd = -1;
	k->until = now_ns() + k->keep_ns;
}

static bool
tell(int socket, const struct place_answer *a)
{
	return send(socket, a, sizeof(*a), MSG_NOSIGNAL) == sizeof(*a);
}

/* What a front says first: the descriptor, or -1. */
static int
hear(int socket, struct place_hello *hello)
{
	struct timeval patience = { .tv_sec = PATIENCE_S };
	int fd;

	setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	return passing_receive(socket, hello, sizeof(*hello), &fd, 0) == 0 ? fd : -1;
}

/* One place has one front: the second is told, and goes. */
static void
admit(struct keeper *k, int socket)
{
	struct place_answer a = { .code = -EALREADY, .front = k->pid };
	struct place_hello hello;
	pid_t peer = place_peer(socket);
	int fd = peer != -1 ? hear(socket, &hello) : -1;

	if (fd == -1 || k->front != -1) {
		if (fd != -1) {
			tell(socket, &a);
			close(fd);
		}
		close(socket);
		return;
	}
	k->front = socket;
	k->fd = fd;
	k->pid = peer;
	k->keep_ns = hello.keep_ns;
	listen_to(socket);
	a = (struct place_answer){ .code = -EINPROGRESS, .slot = flk_slot(k->taker) };
	if (k->is_waiting && !tell(socket, &a))
		drop_front(k);
}

/* Whoever has come or gone.  A front says nothing after its first words: what can be read is its end. */
static void
serve(struct keeper *k)
{
	struct pollfd front = { .fd = k->front, .events = POLLIN };
	int socket;

	if (k->front != -1 && poll(&front, 1, 0) == 1)
		drop_front(k);
	while ((socket = accept4(k->listener, NULL, NULL, SOCK_CLOEXEC)) != -1)
		admit(k, socket);
}

/* ---- the line ---- */

/* Before each sleep in the line. */
static uint64_t
look(void *keeper, struct flk_taker *t)
{
	struct keeper *k = keeper;

	serve(k);
	if (ended || (k->front == -1 && now_ns() >= k->until))
		flk_cancel(t);
	return k->front == -1 ? k->until : NEVER;
}

static int
wait_in_line(struct keeper *k, const struct flk_request *want, const sigset_t *mask)
{
	int code = flk_enqueue(k->taker, want);

	if (code != -EINPROGRESS)
		return code;
	k->is_waiting = true;
	waiting = k->taker;
	/* The first front has come already, or comes at once. */
	do
		code = flki_await(k->taker, want, NEVER, mask, look, k);
	while (code == -EINTR);
	waiting = NULL;
	k->is_waiting = false;
	return code;
}

/* Waits for a front to take the permit, or to hear of the refusal. */
static bool
await_front(struct keeper *k, const sigset_t *mask)
{
	struct pollfd listener = { .fd = k->listener, .events = POLLIN };
	struct timespec left;
	uint64_t now;

	for (serve(k); k->front == -1; serve(k)) {
		now = now_ns();
		if (ended || now >= k->until)
			return false;
		left = flki_timespec(k->until - now);
		ppoll(&listener, 1, &left, mask);
	}
	return true;
}

/* A front that has died gets nothing: the place is kept for the next one. */
static void
hand_over(struct keeper *k, const sigset_t *mask)
{
	struct place_answer a = { .slot = flk_slot(k->taker) };

	if (!await_front(k, mask))
		return;
	a.code = flk_permit(k->taker, &a.permit);
	if (a.code == 0)
		a.code = flk_entrust_to(k->taker, k->fd, k->pid);
	tell(k->front, &a);
}

static bool
be_patient(void *context, pid_t pid)
{
	(void)context;
	(void)pid;
	return !ended;
}

static void
catch_signals(sigset_t *mask)
{
	struct sigaction io = { .sa_handler = on_io }, term = { .sa_handler = on_term };

	sigfillset(&io.sa_mask);
	sigdelset(&io.sa_mask, SIGBUS);
	term.sa_mask = io.sa_mask;
	sigaction(SIGIO, &io, NULL);
	sigaction(SIGTERM, &term, NULL);
	sigaction(SIGHUP, &term, NULL);
	sigfillset(mask);
	sigdelset(mask, SIGIO);
	sigdelset(mask, SIGTERM);
	sigdelset(mask, SIGHUP);
}

void
place_keeper_run(const struct job *j, const struct flk_request *want, int listener)
{
	struct flk_options options = { .mode = j->o.want.mode, .stuck = be_patient };
	struct keeper k = { .listener = listener,
			    .front = -1,
			    .fd = -1,
			    .until = now_ns() + j->o.want.how.keep_ns,
			    .keep_ns = j->o.want.how.keep_ns };
	struct place_answer a = { .code = 0 };
	struct flk_request mine = *want;
	struct flk *limiter;
	sigset_t mask;

	mine.role = FLK_KEEPER;
	split_detach();
	catch_signals(&mask);
	listen_to(listener);
	a.code = here.attach(&limiter, j->path, &options);
	if (a.code == 0)
		a.code = flk_taker_new(&k.taker, limiter);
	if (a.code == 0)
		a.code = wait_in_line(&k, &mine, &mask);
	if (a.code == 0)
		hand_over(&k, &mask);
	else if (a.code != -FLK_CANCELLED && await_front(&k, &mask))
		tell(k.front, &a);
	flk_taker_free(k.taker);
	_exit(0);
}
