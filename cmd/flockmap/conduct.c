#include "conduct.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>

#include "now.h"
#include "say.h"

#define GRACE    (5 * SECOND) /* from TERM to KILL, if -k does not say */
#define SHOW     SECOND       /* a run shorter than that needs no progress line */
#define INTERVAL (SECOND / 4)

static const int endings[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM };

static struct {
	pthread_mutex_t lock; /* guards all that is not said to be fixed */
	LIST_HEAD(, running) running;
	unsigned count;
	uint64_t done, failed;
	bool ending, ended; /* ended: the thread is to end */
	int sent;           /* to all that runs: 0, SIGTERM or SIGKILL */
	uint64_t kill_at;
	int by_signal;

	pthread_mutex_t screen; /* guards stdout and stderr; may be held for long, and never waited
				 * for by who holds the other */
	bool shown;             /* the progress line is there */

	/* fixed once it has started */
	struct flk_map *map;
	const struct options *o;
	uint64_t total, since;
	bool terminal, started;
	pthread_t thread;
	int stop_fd, wake_fd, signal_fd;
} c = { .lock = PTHREAD_MUTEX_INITIALIZER, .screen = PTHREAD_MUTEX_INITIALIZER, .kill_at = NEVER };

/* ---- what runs ---- */

void
conduct_send(int pidfd, int sig)
{
	syscall(SYS_pidfd_send_signal, pidfd, sig, NULL, 0);
	syscall(SYS_pidfd_send_signal, pidfd, SIGCONT, NULL, 0); /* who is stopped can't end */
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

void
conduct_count(bool failed)
{
	pthread_mutex_lock(&c.lock);
	c.done++;
	c.failed += failed;
	pthread_mutex_unlock(&c.lock);
}

/* ---- the end ---- */

static void
add_to(int fd)
{
	uint64_t one = 1;
	ssize_t n = write(fd, &one, sizeof(one));

	(void)n; /* it can be read already */
}

void
conduct_end(bool now)
{
	pthread_mutex_lock(&c.lock);
	c.ending = true;
	if (now && c.sent == 0) {
		send_all(SIGTERM);
		if (c.o->want.kill_after_ns != NEVER)
			c.kill_at = now_ns() + c.o->want.kill_after_ns;
		else if (c.by_signal == 0)
			c.kill_at = now_ns() + GRACE;
	}
	pthread_mutex_unlock(&c.lock);
	add_to(c.stop_fd);
	add_to(c.wake_fd);
	if (c.map != NULL)
		flk_map_stop(c.map);
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

bool
conduct_has_sent(void)
{
	bool sent;

	pthread_mutex_lock(&c.lock);
	sent = c.sent != 0;
	pthread_mutex_unlock(&c.lock);
	return sent;
}

void
conduct_die(int sig)
{
	struct rlimit none = { 0, 0 };
	sigset_t one;

	setrlimit(RLIMIT_CORE, &none);
	signal(sig, SIG_DFL);
	sigemptyset(&one);
	sigaddset(&one, sig);
	pthread_sigmask(SIG_UNBLOCK, &one, NULL);
	kill(getpid(), sig);
}

/* The first ends it all, the second at once.  The last resort is for when nobody reads on. */
static void
hear(int sig)
{
	bool again, idle;

	pthread_mutex_lock(&c.lock);
	again = c.by_signal != 0;
	c.by_signal = sig;
	idle = c.count == 0 || c.sent == SIGKILL;
	if (again)
		send_all(SIGKILL);
	pthread_mutex_unlock(&c.lock);
	if (!again)
		conduct_end(true);
	else if (idle)
		conduct_die(sig);
}

/* ---- the progress line ---- */

static void
show(uint64_t done, uint64_t failed, unsigned running)
{
	char text[200], span[32], left[48] = "", total[32] = "";
	double s = (double)(now_ns() - c.since) / 1e9, rate = (double)done / s;

	if (c.total > 0)
		snprintf(total, sizeof(total), "/%llu", (unsigned long long)c.total);
	if (c.total > done && done > 0)
		snprintf(left, sizeof(left), ", %s left",
			 say_duration((double)(c.total - done) / rate, span));
	snprintf(text, sizeof(text), "%llu%s done, %u running, %llu failed, %.3g/s%s",
		 (unsigned long long)done, total, running, (unsigned long long)failed, rate, left);
	say_status(c.o->want.limiter, text);
	c.shown = true;
}

static void
hide(void)
{
	if (c.shown)
		say_status("", "");
	c.shown = false;
}

void
conduct_pause(void)
{
	pthread_mutex_lock(&c.screen);
	hide();
}

void
conduct_go_on(void)
{
	pthread_mutex_unlock(&c.screen);
}

/* ---- the thread ---- */

/* Returns when there is more to do. */
static uint64_t
do_what_is_due(void)
{
	uint64_t now = now_ns(), next, done, failed;
	unsigned running;

	pthread_mutex_lock(&c.lock);
	if (now >= c.kill_at) {
		send_all(SIGKILL);
		c.kill_at = NEVER;
	}
	next = c.kill_at;
	done = c.done;
	failed = c.failed;
	running = c.count;
	pthread_mutex_unlock(&c.lock);
	if (!c.terminal)
		return next;
	/* Whoever prints may have to wait for a reader; a line less is no harm. */
	if (now - c.since >= SHOW && pthread_mutex_trylock(&c.screen) == 0) {
		show(done, failed, running);
		pthread_mutex_unlock(&c.screen);
	}
	return next < now + INTERVAL ? next : now + INTERVAL;
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
				  { .fd = c.wake_fd, .events = POLLIN } };
	struct signalfd_siginfo info;
	struct timespec left;
	uint64_t next, now, count;

	(void)unused;
	while (!has_ended()) {
		next = do_what_is_due();
		now = now_ns();
		next = next > now ? next - now : 0;
		left.tv_sec = (time_t)(next / SECOND);
		left.tv_nsec = (long)(next % SECOND);
		ppoll(ready, 2, next > NEVER / 2 ? NULL : &left, NULL);
		if (read(c.wake_fd, &count, sizeof(count)) == -1 && errno != EAGAIN)
			break;
		if (read(c.signal_fd, &info, sizeof(info)) == sizeof(info))
			hear((int)info.ssi_signo);
	}
	return NULL;
}

int
conduct_prepare(void)
{
	sigset_t set;
	size_t i;

	sigemptyset(&set);
	for (i = 0; i < sizeof(endings) / sizeof(endings[0]); i++)
		sigaddset(&set, endings[i]);
	c.stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	c.wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	c.signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	sigaddset(&set, SIGPIPE); /* who reads our output has gone: write(2) tells */
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	return c.stop_fd == -1 || c.wake_fd == -1 || c.signal_fd == -1 ? -1 : c.stop_fd;
}

int
conduct_start(const struct options *o, struct flk_map *map, uint64_t total)
{
	sigset_t all, saved;
	int error;

	c.o = o;
	c.map = map;
	c.total = total;
	c.since = now_ns();
	c.terminal = !o->quiet && isatty(STDERR_FILENO);
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
	char span[32];

	pthread_mutex_lock(&c.lock);
	c.ended = true;
	pthread_mutex_unlock(&c.lock);
	add_to(c.wake_fd);
	if (c.started)
		pthread_join(c.thread, NULL);
	hide();
	if (c.terminal && c.done > 0)
		say(c.o->want.limiter, "%llu done, %llu failed, in %s", (unsigned long long)c.done,
		    (unsigned long long)c.failed,
		    say_duration((double)(now_ns() - c.since) / 1e9, span));
	return c.by_signal;
}
