/*
 * desk.h - what an operator does with a store: one question at a time, in this process, each
 * waited for.  No keeper has a part in it.
 */
#ifndef DESK_H
#define DESK_H

#include <stdint.h>
#include <time.h>

#include "elsewhere.h"
#include "engine.h"
#include "flocklimit.h"
#include "url.h"

#define DESK_PATIENCE UINT64_C(5000000000) /* ns for an answer */
#define DESK_NEVER    UINT64_MAX

/* One limiter, or with no name all of them, as the functions here see it. */
struct desk;

/*
 * That of a limiter: 0, or -FLK_STORE or -ENOMEM.  It is kept for the next call, as a connection
 * costs more than a question; so hold on to it in a function, and no longer.  One thread only.
 */
int desk_of(const struct flk *f, struct desk **desk);

/* That of all limiters. */
int desk_of_all(struct desk **desk);

/* The answer, of code 0 or -FLK_DAMAGED, while it lasts; returns what desk_ask() shall. */
typedef int desk_take(void *context, const struct engine_answer *answer);

/*
 * Asks, and waits until the answer is there: its code, or what take() made of it.  A store that
 * can't be reached is -FLK_STORE, and flk_strerror() says why.
 */
int desk_ask(struct desk *d, const struct engine_question *q, uint64_t patience_ns, desk_take *take,
	     void *context);

/* ---- news.c ---- */

/* Follows what happens, once.  0, or why it can't. */
int desk_follow(struct desk *d);

/* The number of the newest event; 0: none yet. */
uint64_t desk_newest(const struct desk *d);

/* Copies the events after NUMBER, as flk_history(). */
size_t desk_events(const struct desk *d, uint64_t number, struct flk_event *event, size_t room);
const char *desk_host(const struct desk *d, uint64_t number);

/*
 * Sleeps until there is an event after NUMBER or, where NUMBER is DESK_NEVER, until all is told
 * from now on.  until_ns: CLOCK_BOOTTIME.  0, -ETIMEDOUT, -EINTR, -FLK_GONE, -FLK_STORE.
 */
int desk_sleep(struct desk *d, uint64_t number, uint64_t until_ns);

/* ---- between desk.c and news.c ---- */

struct news;
void news_free(struct news *n);
struct news **desk_news(struct desk *d);
const struct news *desk_news_of(const struct desk *d);
struct engine *desk_engine(struct desk *d);

/* Drives the engine once: sleeps until it has something to do, at most until then.  0, -EINTR. */
int desk_drive(struct desk *d, uint64_t until_ns);

/* The last question had no answer, as the store could not be reached. */
bool desk_was_away(void);

uint64_t desk_now_ns(void); /* CLOCK_BOOTTIME */

/* ---- names of machines ---- */

void desk_me(char host[STORE_HOST]);

/* NULL if it is this one; else a copy that lasts as long as the process. */
const char *desk_machine(const char *host);

#endif
