/* SPDX-License-Identifier: ISC */
#include "conduct.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>

#include "now.h"
#include "pidfd.h"
#include "screen.h"
#include "signals.h"

#define GRACE (5 * SECOND) /* from TERM to KILL, if -k does not say */

static const int endings[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM };

static struct {
	pthread_mutex_t lock; /* guards the fields down to map */
	LIST_HEAD(all_running, running) running;
	LIST_HEAD(all_queued, queued) queued;
	unsigned count;
	bool ending, ended; /* ended: the thread is to end */
	bool halted;        /* the map has ended, and no taker waits beside it */
	int sent;           /* to every running command: 0, SIGTERM or SIGKILL */
	uint64_t kill_at;
	int by_signal;
	struct flk_map *map;

	/* fixed once it has started */
	const struct options *o;
	bool started;
	pthread_t thread;
	int stop_fd, wake_fd, signal_fd, halt_fd;
} c = { .lock = PTHREAD_MUTEX_INITIALIZER, .kill_at = NEVER };

/*
 * A thread that is about to enter the limiter's region locks it for reading; the thread that lets
 * us be stopped locks it for writing.  So no thread is stopped inside, where it would keep everyone
 * out.  A waiting writer holds `door', so later readers queue behind it: not every C library has a
 * lock that lets a writer go first.
 */
static pthread_rwlock_t inside = PTHREAD_RWLOCK_INITIALIZER;
static pthread_mutex_t door = PTHREAD_MUTEX_INITIALIZER;

void
conduct_inside(void *context, bool is_inside)
{
	(void)context;
	if (is_inside) {
		pthread_mutex_lock(&door);
		pthread_rwlock_rdlock(&inside);
		pthread_mutex_unlock(&door);
	} else {
		pthread_rwlock_unlock(&inside);
	}
}

/*
 * The signals by which a terminal stops us.  A stop stops all threads, so all of them block these
 * signals; conduct() unblocks them for a moment while no thread is inside.  It does not read a
 * pending one from halt_fd: a SIGCONT that comes meanwhile must still remove it.
 */
static const int stops[] = { SIGTSTP, SIGTTIN, SIGTTOU };
static sigset_t stop; /* those of them that were neither ignored nor blocked when we began */

static void
let_stop(bool may)
{
	if (may) {
		pthread_mutex_lock(&door);
		pthread_rwlock_wrlock(&inside);
	}
	pthread_sigmask(may ? SIG_UNBLOCK : SIG_BLOCK, &stop, NULL);
	if (!may) {
		pthread_rwlock_unlock(&inside);
		pthread_mutex_unlock(&door);
	}
}

/*
 * A terminal does not stop a thread that blocks the signal: a read in the background fails, and a
 * write succeeds in spite of `stty tostop'.  Here we unblock the signals and call the terminal
 * again, for 0 bytes: the terminal stops us until we are in the foreground.
 */
bool
conduct_await_terminal(int fd, int sig)
{
	pid_t foreground = tcgetpgrp(fd);
	struct termios t;
	ssize_t n;
	char none;

	if (foreground == -1 || foreground == getpgrp() || !sigismember(&stop, sig))
		return false;
	if (sig == SIGTTOU && (tcgetattr(fd, &t) == -1 || !(t.c_lflag & TOSTOP)))
		return false;
	let_stop(true);
	n = sig == SIGTTIN ? read(fd, &none, 0) : write(fd, "", 0);
	let_stop(false);
	return n == 0;
}

/* ---- running commands ---- */

void
conduct_send(int pidfd, int sig)
{
	flki_pidfd_signal(pidfd, sig);
	flki_pidfd_signal(pidfd, SIGCONT); /* a stopped process can't end */
}

static void
send_all(int sig)
{
	struct running *r;

	c.sent = sig;
	LIST_FOREACH(r, &c.running, entry)
		conduct_send(r->pidfd, sig);
}

void
conduct_add(struct running *r, int pidfd)
{
	r->pidfd = pidfd;
	pthread_mutex_lock(&c.lock);
	LIST_INSERT_HEAD(&c.running, r, entry);
	c.count++;
	if (c.sent != 0)
		conduct_send(pidfd, c.sent);
	pthread_mutex_unlock(&c.lock);
}

void
conduct_remove(struct running *r)
{
	pthread_mutex_lock(&c.lock);
	LIST_REMOVE(r, entry);
	c.count--;
	pthread_mutex_unlock(&c.lock);
}

/* ---- those that wait ---- */

bool
conduct_queue(struct queued *q, struct flk_taker *taker)
{
	bool may;

	q->taker = taker;
	pthread_mutex_lock(&c.lock);
	may = !c.halted;
	if (may)
		LIST_INSERT_HEAD(&c.queued, q, entry);
	pthread_mutex_unlock(&c.lock);
	return may;
}

void
conduct_unqueue(struct queued *q)
{
	pthread_mutex_lock(&c.lock);
	LIST_REMOVE(q, entry);
	pthread_mutex_unlock(&c.lock);
}

/* The map must have ended before, or it would take a cancelled wait for a refusal. */
static void
cancel_queued(void)
{
	struct queued *q;

	pthread_mutex_lock(&c.lock);
	c.halted = true;
	LIST_FOREACH(q, &c.queued, entry)
		flk_cancel(q->taker);
	pthread_mutex_unlock(&c.lock);
}

/* ---- the end ---- */

static void
add_to(int fd)
{
	uint64_t one = 1;
	ssize_t n = write(fd, &one, sizeof(one));

	(void)n; /* it fails if the counter is full, and so readable already */
}

bool
conduct_end(bool now)
{
	struct flk_map *map;
	bool first;

	pthread_mutex_lock(&c.lock);
	first = !c.ending;
	c.ending = true;
	if (now && c.sent == 0) {
		send_all(SIGTERM);
		if (c.o->want.kill_after_ns != NEVER)
			c.kill_at = now_ns() + c.o->want.kill_after_ns;
		else if (c.by_signal == 0)
			c.kill_at = now_ns() + GRACE;
	}
	map = c.map;
	pthread_mutex_unlock(&c.lock);
	add_to(c.stop_fd);
	add_to(c.wake_fd);
	if (map != NULL)
		flk_map_stop(map);
	cancel_queued();
	return first;
}

bool
conduct_is_ending(void)
{
	bool ending;

	pthread_mutex_lock(&c.lock);
	ending = c.ending;
	pthread_mutex_unlock(&c.lock);
	return ending;
}

/* A map that a caller of conduct_end() missed is stopped here. */
bool
conduct_lead(struct flk_map *map)
{
	bool ending;

	pthread_mutex_lock(&c.lock);
	c.map = map;
	ending = c.ending;
	pthread_mutex_unlock(&c.lock);
	if (map != NULL && ending)
		flk_map_stop(map);
	return c.started;
}

unsigned
conduct_running(void)
{
	unsigned n;

	pthread_mutex_lock(&c.lock);
	n = c.count;
	pthread_mutex_unlock(&c.lock);
	return n;
}

/*
 * A terminal sends its signal to the command and to us before we can see that the command has
 * ended.  So if read_signal() has not read the signal yet, it is pending.
 */
bool
conduct_has_sent(void)
{
	struct pollfd signal = { .fd = c.signal_fd, .events = POLLIN };
	bool sent;

	pthread_mutex_lock(&c.lock);
	sent = c.sent != 0 || c.by_signal != 0 || poll(&signal, 1, 0) > 0;
	pthread_mutex_unlock(&c.lock);
	return sent;
}

/*
 * Reads a signal.  The first one ends everything, with SIGTERM to the commands; the second one
 * sends SIGKILL.  If no command is left to end then, a thread hangs in a write that no reader
 * takes: we die.
 */
static void
read_signal(void)
{
	struct signalfd_siginfo info;
	bool heard, again = false, idle = false;
	int sig = 0;

	pthread_mutex_lock(&c.lock);
	heard = read(c.signal_fd, &info, sizeof(info)) == sizeof(info);
	if (heard) {
		sig = (int)info.ssi_signo;
		again = c.by_signal != 0;
		c.by_signal = sig;
		idle = c.count == 0 || c.sent == SIGKILL;
		if (again)
			send_all(SIGKILL);
	}
	pthread_mutex_unlock(&c.lock);
	if (heard && !again)
		conduct_end(true);
	else if (again && idle)
		signal_die(sig);
}

/* ---- the thread ---- */

/* Returns when to call it again. */
static uint64_t
do_what_is_due(void)
{
	uint64_t next, show;
	unsigned running;

	pthread_mutex_lock(&c.lock);
	if (now_ns() >= c.kill_at) {
		send_all(SIGKILL);
		c.kill_at = NEVER;
	}
	next = c.kill_at;
	running = c.count;
	pthread_mutex_unlock(&c.lock);
	show = screen_tick(running);
	return next < show ? next : show;
}

static bool
has_ended(void)
{
	bool ended;

	pthread_mutex_lock(&c.lock);
	ended = c.ended;
	pthread_mutex_unlock(&c.lock);
	return ended;
}

static void *
conduct(void *unused)
{
	struct pollfd ready[] = { { .fd = c.signal_fd, .events = POLLIN },
				  { .fd = c.wake_fd, .events = POLLIN },
				  { .fd = c.halt_fd, .events = POLLIN } };
	struct timespec left;
	uint64_t next, now, count;

	(void)unused;
	while (!has_ended()) {
		next = do_what_is_due();
		now = now_ns();
		next = next > now ? next - now : 0;
		left = flki_timespec(next);
		ready[2].revents = 0;
		ppoll(ready, 3, next > NEVER / 2 ? NULL : &left, NULL);
		if (ready[2].revents != 0) {
			let_stop(true); /* the pending signal stops us here */
			let_stop(false);
		}
		if (read(c.wake_fd, &count, sizeof(count)) == -1 && errno != EAGAIN)
			break;
		read_signal();
	}
	return NULL;
}

int
conduct_prepare(void)
{
	struct sigaction was;
	sigset_t set, blocked;
	size_t i;

	/* An ignored signal stays ignored: signalfd(2) would report it if we blocked it. */
	sigemptyset(&set);
	for (i = 0; i < sizeof(endings) / sizeof(endings[0]); i++)
		if (sigaction(endings[i], NULL, &was) == 0 && was.sa_handler != SIG_IGN)
			sigaddset(&set, endings[i]);
	c.stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	c.wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	c.signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	pthread_sigmask(SIG_BLOCK, NULL, &blocked);
	sigemptyset(&stop);
	for (i = 0; i < sizeof(stops) / sizeof(stops[0]); i++)
		if (sigaction(stops[i], NULL, &was) == 0 && was.sa_handler != SIG_IGN &&
		    !sigismember(&blocked, stops[i]))
			sigaddset(&stop, stops[i]);
	c.halt_fd = signalfd(-1, &stop, SFD_CLOEXEC | SFD_NONBLOCK);
	pthread_sigmask(SIG_BLOCK, &stop, NULL);
	sigaddset(&set, SIGPIPE); /* when the reader of our output has gone, write(2) fails */
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	return c.stop_fd == -1 || c.wake_fd == -1 || c.signal_fd == -1 || c.halt_fd == -1
		   ? -1
		   : c.stop_fd;
}

int
conduct_start(const struct options *o)
{
	sigset_t all, saved;
	int error;

	c.o = o;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &saved);
	error = pthread_create(&c.thread, NULL, conduct, NULL);
	pthread_sigmask(SIG_SETMASK, &saved, NULL);
	c.started = error == 0;
	return error;
}

int
conduct_stop(void)
{
	pthread_mutex_lock(&c.lock);
	c.ended = true;
	pthread_mutex_unlock(&c.lock);
	add_to(c.wake_fd);
	if (c.started)
		pthread_join(c.thread, NULL);
	read_signal(); /* the signal that ended the last command may still be pending */
	return c.by_signal;
}
