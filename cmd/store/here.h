/*
 * here.h - --local: this machine's limiter of the same name, of which each taker has a permit before
 * it asks the store for one.  Nobody takes them in the other order, so that nobody waits in a
 * ring.
 *
 * Codes are those of flocklimit.h.  All of it may be called with NULL where it says so.
 */
#ifndef HERE_H
#define HERE_H

#include <signal.h>
#include <stdint.h>
#include <time.h>
#include <sys/types.h>

#include "engine.h"

struct here;
struct here_taker;

int here_open(struct here **h, const char *name, uint32_t limit, const struct flk_options *options);
void here_close(struct here *h); /* or NULL */

struct here_taker *here_taker_new(struct here *h);
void here_taker_free(struct here_taker *t); /* or NULL */

int here_enqueue(struct here_taker *t, const struct engine_want *want);
int here_try(struct here_taker *t, const struct engine_want *want);
int here_wait(struct here_taker *t, const struct timespec *deadline, const sigset_t *mask);
void here_cancel(struct here_taker *t);
void here_interrupt(struct here_taker *t);

/* Out of the line, or the permit goes back. */
void here_leave(struct here_taker *t);

/* A descriptor: for as long as anybody has it open, the permit lasts; or a negative code. */
int here_guard(struct here_taker *t);

/* Who took it out of the line: -FLK_EVICTED. */
void here_evictor(const struct here_taker *t, pid_t *pid, uid_t *uid);

int here_place(struct here_taker *t, struct flk_place *place);

const char *here_strerror(int code);

#endif
