/*
 * conduct.h - the thread that has nothing to run: it hears signals, ends what runs when all is to
 * end, and keeps the screen up to date.
 */
#ifndef CONDUCT_H
#define CONDUCT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "flocklimit.h"
#include "options.h"

/* A process that runs; whoever waits for it has this on its stack. */
struct running {
	LIST_ENTRY(running) entry;
	int pidfd;
};

/* For struct flk_options: no terminal stops us while any thread is inside. */
void conduct_inside(void *context, bool is_inside);

/* Signals that end or stop us are blocked from here on.  Returns the descriptor that is readable once
 * nothing more is to begin, or -1 and errno. */
int conduct_prepare(void);

/*
 * Call it with SIGTTOU before a write to fd, and with SIGTTIN when a read from fd gave EIO: if fd is our
 * terminal and we are in the background, it stops us as the terminal would.  True if it is worth another try.
 */
bool conduct_await_terminal(int fd, int sig);

/* map may be NULL.  0, or an errno value. */
int conduct_start(const struct options *o, struct flk_map *map);

/* Begins nothing more, and if `now' ends what runs.  From any thread.  True for the first. */
bool conduct_end(bool now);
bool conduct_is_ending(void);

/* How many commands run. */
unsigned conduct_running(void);

/* Whether what failed may have failed because all is to end. */
bool conduct_has_sent(void);

void conduct_add(struct running *r, int pidfd);
void conduct_remove(struct running *r);
void conduct_send(int pidfd, int sig);

/* The thread ends; returns the signal that ended it all, or 0. */
int conduct_stop(void);

#endif
