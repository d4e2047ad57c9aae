/* SPDX-License-Identifier: ISC */
/*
 * orders.c - orders to all limiters of the directory, given and taken back, by operators
 * that are killed, and beside makers that are killed or stopped in the middle.
 *
 * The directory of the limiter is the limiter directory here, and makers find the limiter by its
 * name.  An operator does what flocklimitctl pause --all and resume --all do.
 */
#include "killstep.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/syscall.h>

#include "../helpers/common.h"
#include "../helpers/steer.h"

static const char *
name_in(const char *path)
{
	return strrchr(path, '/') + 1;
}

static void
in_dir(const struct stage *s, const char *name, char path[200])
{
	snprintf(path, 200, "%.*s%s", (int)(name_in(s->path) - s->path), s->path, name);
}

void
orders_begin(void)
{
	const char *path = fresh_path();
	char dir[200];

	snprintf(dir, sizeof(dir), "%.*s", (int)(name_in(path) - path - 1), path);
	setenv("FLOCKLIMIT_DIR", dir, 1);
}

/* ---- deeds ---- */

static int
be_made_by_name(struct part *p)
{
	return flk_attach(&p->f, name_in(p->path), NULL);
}

/* A limiter whose maker died, or that was removed meanwhile, is none. */
static int
steer(const char *name, bool paused)
{
	static const struct flk_options existing = { .existing = true };
	struct flk *f;
	int error = flk_attach(&f, name, &existing);

	if (error == 0) {
		error = paused ? steer_pause(f) : steer_resume(f);
		flk_detach(f);
	}
	return error == -ENOENT || error == -FLK_GONE ? 0 : error;
}

static int
steer_all(bool paused)
{
	int error = steer_order(FLK_SET_PAUSED, paused);
	struct dirent *e;
	DIR *d;

	if (error != 0)
		return error;
	if ((d = opendir(getenv("FLOCKLIMIT_DIR"))) == NULL)
		return -errno;
	while (error == 0 && (e = readdir(d)) != NULL)
		if (e->d_name[0] != '.')
			error = steer(e->d_name, paused);
	closedir(d);
	return error;
}

static int
pause_all(struct part *p)
{
	(void)p;
	return steer_all(true);
}

static int
resume_all(struct part *p)
{
	(void)p;
	return steer_all(false);
}

static int
order_all(struct part *p)
{
	int error = steer_order(FLK_SET_PAUSED, 1);

	(void)p;
	if (error == 0)
		error = steer_order(FLK_SET_CLOSED, 1);
	return error != 0 ? error : steer_order(FLK_SET_OVERRIDE, 1);
}

/* ---- what the others do ---- */

/* An actor that has no limiter open.  act() would make the limiter, and by its path. */
static void
operate(struct stage *s, deed *what)
{
	struct actor *a = &s->cast[THIRD];

	if (s->failed)
		return;
	if (a->where == NOT_THERE) {
		actor_start(a, s->path);
		a->extra = true;
	}
	actor_do(a, what);
	if (a->where != AT_DESK || a->desk->code != 0)
		stage_fail(s, "an operator fails: %s", flk_strerror(a->desk->code));
}

/* The rounds before left orders, and a process that was killed may have left a draft. */
static void
no_orders(struct stage *s)
{
	static const char *const links[] = {
		".all-paused",     ".all-closed",     ".all-limit",
		".all-paused.new", ".all-closed.new", ".all-limit.new"
	};
	char path[200];
	size_t i;

	for (i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
		in_dir(s, links[i], path);
		unlink(path);
	}
}

static void
ordered(struct stage *s)
{
	no_orders(s);
	operate(s, order_all);
}

static void
all_paused(struct stage *s)
{
	no_orders(s);
	operate(s, pause_all);
}

/* Another process makes the limiter, and is stopped right after it linked the name. */
static void
maker_links(struct stage *s)
{
	struct actor *maker = &s->cast[FOURTH];

	actor_start(maker, s->path);
	actor_begin(maker, be_made_by_name);
	while (access(s->path, F_OK) == -1 && actor_to_call(maker))
		;
	if (access(s->path, F_OK) == -1 || maker->where != AMID)
		stage_fail(s, "the maker is not in the middle");
}

/* It also reads the orders, for which it opens three links. */
static void
maker_reads(struct stage *s)
{
	struct actor *maker = &s->cast[FOURTH];
	unsigned opened = 0;
	long before;

	maker_links(s);
	while (opened < 3 && !s->failed) {
		before = maker->call;
		if (!actor_to_call(maker))
			break;
		opened += before == SYS_openat && maker->call == -1;
	}
	if (opened < 3 || maker->where != AMID)
		stage_fail(s, "the maker has not read the orders");
}

static void
maker_is_about_to_read(struct stage *s)
{
	no_orders(s);
	maker_links(s);
}

static void
maker_has_read(struct stage *s)
{
	no_orders(s);
	maker_reads(s);
}

static void
maker_is_about_to_read_an_order(struct stage *s)
{
	ordered(s);
	maker_links(s);
}

static void
maker_has_read_an_order(struct stage *s)
{
	ordered(s);
	maker_reads(s);
}

/* The operator naps until it gets the maker's lock. */
static void
maker_goes_on(struct stage *s)
{
	actor_run(&s->cast[FOURTH]);
	actor_wait_up(&s->cast[VICTIM]);
	if (s->cast[FOURTH].where != AT_DESK || s->cast[FOURTH].desk->code != 0)
		stage_fail(s, "the maker made no limiter");
}

/* ---- the judge ---- */

static bool
is_ordered(struct stage *s)
{
	struct flk_settings o;
	int error = flk_orders(&o);

	if (error != 0)
		stage_fail(s, "the orders can't be read: %s", flk_strerror(error));
	return o.paused;
}

static bool
is_paused(const char *name)
{
	struct flk *f = attach(name);
	bool paused = f->file.h->paused != 0;

	flk_detach(f);
	return paused;
}

/* Did the victim come to the end of what it did? */
static bool
victim_is_done(const struct stage *s)
{
	return s->cast[VICTIM].desk->at;
}

/* A limiter that is made now obeys the orders as they are; and then the next operator succeeds. */
static void
new_ones_obey(struct stage *s)
{
	bool is = is_ordered(s);
	char path[200];

	if (is_paused("another") != is)
		stage_fail(s, "a new limiter does not obey the order");
	in_dir(s, "another", path);
	unlink(path);
	operate(s, is ? resume_all : pause_all);
	if (!s->failed && is_ordered(s) == is)
		stage_fail(s, "an order is without effect");
	if (!s->failed && is_paused(name_in(s->path)) == is)
		stage_fail(s, "the next operator did not reach the limiter");
}

/* The limiter was there before the operator came. */
static void
obeyed_or_not_given(struct stage *s, bool want)
{
	bool is = is_ordered(s), paused = is_paused(name_in(s->path));

	if (paused == want && is != want)
		stage_fail(s, "the limiter was steered before the order was changed");
	if (victim_is_done(s) && (is != want || paused != want))
		stage_fail(s, "the operator is done, and not everything is as it wants");
	new_ones_obey(s);
}

static void
pause_is_whole(struct stage *s)
{
	obeyed_or_not_given(s, true);
}

static void
resume_is_whole(struct stage *s)
{
	obeyed_or_not_given(s, false);
}

/* The maker, which was stopped beside the operator, comes to its end. */
static void
maker_ends(struct stage *s)
{
	if (s->cast[FOURTH].where != AT_DESK)
		maker_goes_on(s);
	if (!s->failed && s->eye == NULL)
		s->eye = attach(s->path);
}

/* The maker reads after the operator died, so it sees what the operator left. */
static void
maker_obeys(struct stage *s)
{
	maker_ends(s);
	if (!s->failed && is_paused(name_in(s->path)) != is_ordered(s))
		stage_fail(s, "the limiter does not obey the order");
	new_ones_obey(s);
	newcomer_finds_it_whole(s);
}

static void
pause_reaches_the_made(struct stage *s)
{
	maker_ends(s);
	obeyed_or_not_given(s, true);
	newcomer_finds_it_whole(s);
}

static void
resume_reaches_the_made(struct stage *s)
{
	maker_ends(s);
	obeyed_or_not_given(s, false);
	newcomer_finds_it_whole(s);
}

/* Killed or not: a limiter that can be used obeys all three orders. */
static void
made_as_ordered(struct stage *s)
{
	struct flk *f = attach(name_in(s->path));
	const struct header *h = f->file.h;

	if (!h->paused || !h->closed || h->override != 1)
		stage_fail(s, "a limiter does not obey the orders");
	flk_detach(f);
	newcomer_finds_it_whole(s);
}

/* The maker is dead; then the operator comes. */
static void
operator_reaches_what_is_left(struct stage *s)
{
	operate(s, pause_all);
	if (!s->failed && !is_paused(name_in(s->path)))
		stage_fail(s, "a limiter escapes the order");
	newcomer_finds_it_whole(s);
}

/* ---- the table ---- */

const struct operation order_operations[] = {
	{ "pause all", "flk_order", no_orders, NULL, NULL, pause_all, NULL, 0, pause_is_whole,
	  NEW_FILE },
	{ "resume all", "flk_order", all_paused, NULL, NULL, resume_all, NULL, 0, resume_is_whole,
	  NEW_FILE },
	{ "pause all before a maker reads", "flk_order flk_attach", maker_is_about_to_read, NULL,
	  NULL, pause_all, maker_goes_on, 0, maker_obeys, RAW | NO_FILE | SLEEPS_ON },
	{ "pause all after a maker has read", "flk_order flk_attach", maker_has_read, NULL, NULL,
	  pause_all, maker_goes_on, 0, pause_reaches_the_made, RAW | NO_FILE | SLEEPS_ON },
	{ "resume all before a maker reads", "flk_order flk_attach",
	  maker_is_about_to_read_an_order, NULL, NULL, resume_all, maker_goes_on, 0, maker_obeys,
	  RAW | NO_FILE | SLEEPS_ON },
	{ "resume all after a maker has read", "flk_order flk_attach", maker_has_read_an_order,
	  NULL, NULL, resume_all, maker_goes_on, 0, resume_reaches_the_made,
	  RAW | NO_FILE | SLEEPS_ON },
	{ "make one that is ordered", "flk_attach", ordered, NULL, NULL, be_made_by_name, NULL, 0,
	  made_as_ordered, RAW | NO_FILE },
	{ "make one, and then pause all", "flk_attach flk_order", no_orders, NULL, NULL,
	  be_made_by_name, NULL, 0, operator_reaches_what_is_left, RAW | NO_FILE },
};

const unsigned order_operations_count = sizeof(order_operations) / sizeof(order_operations[0]);
