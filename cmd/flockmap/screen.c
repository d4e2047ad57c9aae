/* SPDX-License-Identifier: ISC */
#include "screen.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "now.h"
#include "say.h"

#define SHOW     SECOND /* a run shorter than that needs no progress line */
#define INTERVAL (SECOND / 4)

/* A line that waits to be printed. */
struct news {
	STAILQ_ENTRY(news) entry;
	const char *limiter;
	char *text;
};

static struct {
	pthread_mutex_t lock; /* guards the fields down to waiting; never held during a write */
	STAILQ_HEAD(all_news, news) news;
	uint64_t ended, skipped, failed;
	struct { /* the first job that failed, in the order of the items */
		uint64_t number;
		char item[104], fate[64];
	} first;
	char waiting[PLACE_TEXT];

	/*
	 * Guards stdout and stderr.  A thread may hold it for as long as a reader makes it wait, so
	 * a thread with a permit never waits for it.
	 */
	pthread_mutex_t screen;
	bool shown; /* the progress line is on the screen */

	/* fixed once it has started */
	const char *limiter;
	bool line, quiet;
	uint64_t total, since;
} c = { .lock = PTHREAD_MUTEX_INITIALIZER,
	.screen = PTHREAD_MUTEX_INITIALIZER,
	.news = STAILQ_HEAD_INITIALIZER(c.news) };

void
screen_start(const char *limiter, bool line, bool quiet, uint64_t total)
{
	c.limiter = limiter;
	c.line = line;
	c.quiet = quiet;
	c.total = total;
	c.since = now_ns();
}

/* ---- lines ---- */

static void
hide(void)
{
	if (c.shown)
		say_status("", "");
	c.shown = false;
}

static struct news *
next_news(void)
{
	struct news *n;

	pthread_mutex_lock(&c.lock);
	n = STAILQ_FIRST(&c.news);
	if (n != NULL)
		STAILQ_REMOVE_HEAD(&c.news, entry);
	pthread_mutex_unlock(&c.lock);
	return n;
}

/* Called with the screen taken. */
static void
say_news(void)
{
	struct news *n;

	while ((n = next_news()) != NULL) {
		hide();
		say(n->limiter, "%s", n->text);
		free(n->text);
		free(n);
	}
}

void
screen_take(void)
{
	pthread_mutex_lock(&c.screen);
	hide();
}

static bool
has_news(void)
{
	bool has;

	pthread_mutex_lock(&c.lock);
	has = !STAILQ_EMPTY(&c.news);
	pthread_mutex_unlock(&c.lock);
	return has;
}

/*
 * screen_say() leaves its line to the thread that has the screen.  That thread looks again after
 * the unlock: a line may have come between its last look and the unlock.
 */
void
screen_give(void)
{
	do {
		say_news();
		pthread_mutex_unlock(&c.screen);
	} while (has_news() && pthread_mutex_trylock(&c.screen) == 0);
}

void
screen_say(const char *limiter, const char *format, ...)
{
	struct news *n = malloc(sizeof(*n));
	va_list ap;

	va_start(ap, format);
	if (n != NULL && vasprintf(&n->text, format, ap) == -1) {
		free(n);
		n = NULL;
	}
	va_end(ap);
	if (n == NULL) {
		say(limiter, "no memory to say what is wrong");
		return;
	}
	n->limiter = limiter;
	pthread_mutex_lock(&c.lock);
	STAILQ_INSERT_TAIL(&c.news, n, entry);
	pthread_mutex_unlock(&c.lock);
	if (pthread_mutex_trylock(&c.screen) == 0)
		screen_give();
}

/* ---- how far it is ---- */

void
screen_ended(void)
{
	pthread_mutex_lock(&c.lock);
	c.ended++;
	pthread_mutex_unlock(&c.lock);
}

void
screen_skipped(void)
{
	pthread_mutex_lock(&c.lock);
	c.skipped++;
	pthread_mutex_unlock(&c.lock);
}

void
screen_failed(uint64_t number, const char *item, const char *fate)
{
	pthread_mutex_lock(&c.lock);
	if (c.failed++ == 0 || number < c.first.number) {
		c.first.number = number;
		snprintf(c.first.item, sizeof(c.first.item), "%s", item);
		say_cut(c.first.item, 100);
		snprintf(c.first.fate, sizeof(c.first.fate), "%s", fate);
	}
	pthread_mutex_unlock(&c.lock);
}

void
screen_wait(const char *text)
{
	pthread_mutex_lock(&c.lock);
	snprintf(c.waiting, sizeof(c.waiting), "%s", text);
	pthread_mutex_unlock(&c.lock);
}

size_t
screen_width(void)
{
	return c.line ? say_status_width(c.limiter) : PLACE_TEXT;
}

static void
show(uint64_t done, uint64_t failed, unsigned running, const char *waiting)
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
	say_status(c.limiter, running == 0 && *waiting != '\0' ? waiting : text);
	c.shown = true;
}

uint64_t
screen_tick(unsigned running)
{
	uint64_t now = now_ns(), done, failed;
	char waiting[PLACE_TEXT];

	if (!c.line)
		return NEVER;
	pthread_mutex_lock(&c.lock);
	done = c.ended + c.skipped;
	failed = c.failed;
	memcpy(waiting, c.waiting, sizeof(waiting));
	pthread_mutex_unlock(&c.lock);
	/* If another thread has the screen, it may wait for a reader: skip this progress line. */
	if (now - c.since >= SHOW && pthread_mutex_trylock(&c.screen) == 0) {
		show(done, failed, running, waiting);
		screen_give();
	}
	return now + INTERVAL;
}

void
screen_end(uint64_t said)
{
	char span[32];

	hide();
	say_news();
	if (c.quiet)
		return;
	if (c.failed > said)
		say(c.limiter, "%llu of %llu failed; first: item %llu '%s': %s",
		    (unsigned long long)c.failed, (unsigned long long)c.ended,
		    (unsigned long long)c.first.number, c.first.item, c.first.fate);
	else if (c.line && c.failed == 0 && c.ended + c.skipped > 0)
		say(c.limiter, "%llu done, in %s", (unsigned long long)c.ended + c.skipped,
		    say_duration((double)(now_ns() - c.since) / 1e9, span));
}
