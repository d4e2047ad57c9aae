/* SPDX-License-Identifier: ISC */
/*
 * choice.c - what a taker is to be, at random, and the words of its program.
 */
#include "driver.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void
add(struct words *w, const char *word)
{
	w->word[w->n++] = (char *)(uintptr_t)word;
	w->word[w->n] = NULL;
}

/* One word: an option, a number, its unit. */
static void
add_number(struct words *w, const char *option, uint64_t value, const char *unit)
{
	char *text = w->text[w->texts++];

	snprintf(text, sizeof(w->text[0]), "%s%" PRIu64 "%s", option, value, unit);
	add(w, text);
}

static void
add_weights(struct words *w, unsigned least, unsigned most)
{
	char *text = w->text[w->texts++];

	snprintf(text, sizeof(w->text[0]), "-w%u-%u", least, most);
	add(w, text);
}

/* Every two of the busy limiters, whichever is -f: with a key, both count by it. */
static void
choose_also(struct choice *c)
{
	c->also = (c->lim + 1 + below(QUIET - 1)) % QUIET;
	c->also_n = chance(15) ? 0 : limiter[c->also].n;
	c->also_w = c->also_n == 0 ? 1 : chance(6) ? c->also_n : 1 + below(4);
}

struct choice
choose(bool quiet)
{
	struct choice c = { .lim = below(QUIET) };

	if (quiet)
		c.lim = QUIET;
	c.want.limit = limiter[c.lim].n;
	if (chance(15))
		c.want.limit = 4 + 4 * below(LIMIT / 4);
	c.want.weight = chance(6) ? c.want.limit : 1 + below(4);
	if (chance(2))
		c.flags = AGENT | IDLER;
	else if (chance(12))
		c.flags = AGENT | (chance(50) ? RESTLESS : 0);
	else if (chance(10))
		c.flags = CLOSE;
	else if (chance(12))
		c.flags = EXEC;
	if (!(c.flags & AGENT) && chance(8)) {
		c.want.limit = 0;
		c.want.weight = 1;
	}
	c.want.most = c.want.weight;
	if (c.want.limit != 0 && chance(15))
		c.want.most = chance(50) ? c.want.limit : c.want.weight + below(4);
	if (chance(18))
		request_draw(&c.want, below);
	if (chance(15)) {
		c.flags |= WAIT;
		c.wait_ms = chance(20) && !(c.flags & AGENT) ? 0 : 1 + below(400);
	}
	if (!(c.flags & AGENT) && chance(5))
		c.flags |= QUEUE;
	if (!(c.flags & (AGENT | EXEC)) && chance(10)) {
		c.flags |= RUN | (chance(50) ? KILL : 0);
		c.run_ms = 5 + below(25);
	}
	if (!(c.flags & AGENT) && c.lim != QUIET && chance(10))
		choose_also(&c);
	if (c.lim == FAIR || (c.also_w != 0 && c.also == FAIR))
		c.key = below(KEYS + 1);
	return c;
}

/* Most last some ms: the limiter is to be the bottleneck, not the machine. */
static uint64_t
how_long_us(unsigned lim)
{
	if (lim == QUIET)
		return 10000 + below(150000);
	return chance(10) ? 0 : chance(5) ? below(150000) : below(40000);
}

static void
agent_words(struct words *w, const struct choice *c, uint64_t id, const char *self)
{
	const char *path = limiter[c->lim].path;
	size_t i;

	add(w, self);
	add(w, c->flags & IDLER ? "idler" : c->flags & RESTLESS ? "restless" : "agent");
	add_number(w, "", id, "");
	add(w, path);
	if (c->flags & IDLER) {
		add_number(w, "", 400, "");
		return;
	}
	add_number(w, "", c->key, "");
	add_number(w, "", c->wait_ms, "");
	add_number(w, "", how_long_us(c->lim), "");
	for (i = 0; i < REQUEST_NUMBERS; i++)
		add_number(w, "", request_value(&c->want, i), "");
}

/* Those with a rule of their own have other words. */
static void
add_options(struct words *w, const struct flk_request *want)
{
	size_t i;

	for (i = 0; i < REQUEST_NUMBERS; i++)
		if (request_numbers[i].most > 0 && request_value(want, i) > 0) {
			char *text = w->text[w->texts++];
			snprintf(text, sizeof(w->text[0]), "--%s=%u", request_numbers[i].name,
				 request_value(want, i));
			add(w, text);
		}
}

/* NAME=W[/N], in the directory of the limiters. */
static void
add_also(struct words *w, const struct choice *c)
{
	char *text = w->text[w->texts++], *end = text + sizeof(w->text[0]);

	text += snprintf(text, (size_t)(end - text), "%s=%u",
			 strrchr(limiter[c->also].path, '/') + 1, c->also_w);
	if (c->also_n != 0)
		snprintf(text, (size_t)(end - text), "/%u", c->also_n);
	add(w, "--and");
	add(w, w->text[w->texts - 1]);
}

static void
wrapper_words(struct words *w, const struct choice *c, uint64_t id, const char *self)
{
	const char *path = limiter[c->lim].path;
	unsigned style = c->flags & KILL ? STUBBORN : c->flags & RUN ? POLITE : below(3);
	bool nested = !(c->flags & (EXEC | RUN)) && chance(4);

	add(w, getenv("FLOCKLIMIT"));
	add(w, "-q");
	add(w, "-f");
	add(w, path);
	if (c->want.limit > 0)
		add_number(w, "-n", c->want.limit, "");
	if (c->want.most > c->want.weight)
		add_weights(w, c->want.weight, c->want.most);
	else
		add_number(w, "-w", c->want.weight, "");
	add_options(w, &c->want);
	if (c->key != 0)
		add_number(w, "--key=k", c->key, "");
	if (c->flags & CLOSE)
		add(w, "-o");
	if (c->flags & EXEC)
		add(w, "-F");
	if (c->flags & WAIT)
		add_number(w, "-t", c->wait_ms, "ms");
	if (c->flags & QUEUE)
		add_number(w, "--max-queue=", below(60), "");
	if (c->flags & RUN)
		add_number(w, "-T", c->run_ms, "ms");
	if (c->flags & KILL)
		add(w, "-k10ms");
	if (c->also_w != 0)
		add_also(w, c);
	add(w, "--");
	add(w, self);
	add(w, nested ? "nest" : "command");
	add_number(w, "", id, "");
	if (nested) {
		add_number(w, "", how_long_us(c->lim), "");
		add(w, c->also_w != 0 && chance(50) ? limiter[c->also].path : path);
	} else {
		add_number(w, "", style, "");
		add_number(w, "", c->flags & KILL && chance(50) ? 200000 : how_long_us(c->lim), "");
		add_number(w, "", chance(10) ? how_long_us(c->lim) : 0, "");
	}
	if (c->also_w != 0) {
		add_number(w, "", id - 1, "");
		add(w, limiter[c->also].path);
	}
}

void
choice_words(struct words *w, const struct choice *c, uint64_t id, const char *self)
{
	if (c->flags & AGENT)
		agent_words(w, c, id, self);
	else
		wrapper_words(w, c, id, self);
}
