/* SPDX-License-Identifier: ISC */
/*
 * conduct.h - the conductor, a thread that runs no command: it reads signals, ends the commands
 * when everything is to end, and keeps the screen up to date.
 */
#ifndef CONDUCT_H
#define CONDUCT_H

#include <stdbool.h>
#include <sys/queue.h>

#include "flocklimit.h"
#include "options.h"

/* A process that runs; the thread that waits for it has this on its stack. */
struct running {
	LIST_ENTRY(running) entry;
	int pidfd;
};

/* A taker that waits in a line, but not for the map; its thread has this on its stack. */
struct queued {
	LIST_ENTRY(queued) entry;
	struct flk_taker *taker;
};

/* For struct flk_options: no terminal stops us while any thread is inside the limiter's region. */
void conduct_inside(void *context, bool is_inside);

/*
 * Blocks the signals that end or stop us.  Returns a descriptor that becomes readable when no more
 * command may begin, or -1 and errno.
 */
int conduct_prepare(void);

/*
 * Call it with SIGTTOU before a write to fd, and with SIGTTIN when a read from fd gave EIO: if fd
 * is our terminal and we are in the background, it stops us as the terminal would.  True: try the
 * read again.
 */
bool conduct_await_terminal(int fd, int sig);

/* Starts the thread: 0, or an errno value. */
int conduct_start(const struct options *o);

/*
 * No more command begins; `now' also ends those that run.  From any thread.  True: the first call.
 */
bool conduct_end(bool now);
bool conduct_is_ending(void);

/*
 * The map that runs from now on, and is not freed: another thread may be about to stop it.  False: the
 * conductor has not been started.
 */
bool conduct_lead(struct flk_map *map);

/* How many commands run. */
unsigned conduct_running(void);

/* Whether a command that failed may have failed because everything is to end. */
bool conduct_has_sent(void);

/*
 * Before such a wait and after it: when no more command may begin, flk_cancel() ends it.  False: that
 * is so already.
 */
bool conduct_queue(struct queued *q, struct flk_taker *taker);
void conduct_unqueue(struct queued *q);

void conduct_add(struct running *r, int pidfd);
void conduct_remove(struct running *r);
void conduct_send(int pidfd, int sig);

/* Ends the thread; returns the signal that ended everything, or 0. */
int conduct_stop(void);

#endif
