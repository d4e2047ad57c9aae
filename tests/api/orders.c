/* SPDX-License-Identifier: ISC */
/*
 * orders.c - orders to limiters that do not exist yet: they reach each one, also one that is being
 * made at that moment, and nobody else's orders count.
 *
 * The linker sends the library's linkat() here (--wrap), where a new limiter gets its name: so an
 * operator can act right before that, or right after.
 */
#include "../helpers/common.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>

#include "../helpers/scratch.h"
#include "../helpers/steer.h"

int __real_linkat(int olddir, const char *old, int newdir, const char *new, int flags);
int __wrap_linkat(int olddir, const char *old, int newdir, const char *new, int flags);

/* Called with false before the new limiter has its name, and with true after. */
static void (*operate)(bool named);

int
__wrap_linkat(int olddir, const char *old, int newdir, const char *new, int flags)
{
	int result;

	if (operate != NULL)
		operate(false);
	result = __real_linkat(olddir, old, newdir, new, flags);
	if (operate != NULL && result == 0)
		operate(true);
	return result;
}

static char dir[SCRATCH];

static const char *
in_dir(const char *name)
{
	static char path[SCRATCH + 40];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

/* What the limiter NAME began with, in one word: p paused, c closed, or o, then the override. */
static const char *
begins(const char *name)
{
	static char text[40];
	struct flk_snapshot *s;
	struct flk *f = attach(name);

	if (flk_snapshot(f, &s) != 0)
		tap_bail("no snapshot");
	snprintf(text, sizeof(text), "%s%s%lld", s->set.paused ? "p" : "", s->set.closed ? "c" : "",
		 (long long)s->set.override);
	free(s);
	flk_detach(f);
	return text;
}

/* The name of a limiter that was never used. */
static const char *
new_name(void)
{
	static char name[20];
	static int n;

	snprintf(name, sizeof(name), "n%d", n++);
	return name;
}

static void
new_begins(const char *want, const char *what)
{
	const char *got = begins(new_name());

	ok(strcmp(got, want) == 0, "%s: a new limiter begins %s, as it should: %s", what, got,
	   want);
}

static void
test_orders(void)
{
	struct flk_settings o;

	is(flk_orders(&o), 0, "orders are read where there is no directory yet");
	ok(!o.paused && !o.closed && o.override == FLK_AUTO, "and there are none");
	is(steer_order(FLK_SET_PAUSED, 0), 0, "an order that was not given can be taken back");
	ok(access(dir, F_OK) == -1, "that makes no directory");
	is(begins("old")[0], '-', "a limiter is made without orders");
	is(steer_order(FLK_SET_PAUSED, 1), 0, "pause all");
	new_begins("p-1", "paused");
	is(begins("old")[0], '-', "one that was there is as it was");
	is(steer_order(FLK_SET_CLOSED, 1), 0, "close all");
	is(steer_order(FLK_SET_OVERRIDE, 3), 0, "limit all");
	is(steer_order(FLK_SET_OVERRIDE, 0), 0, "limit all anew");
	new_begins("pc0", "paused, closed and limited");
	is(flk_orders(&o), 0, "orders are read");
	ok(o.paused && o.closed && o.override == 0, "and are all there");
	is(begins(in_dir("by-path"))[0], '-', "a limiter that is made by its path has no orders");
	errno = EPERM; /* of an earlier call, and without meaning */
	is(steer_order(FLK_SET_PAUSED, 0), 0, "resume all");
	is(steer_order(FLK_SET_PAUSED, 0), 0, "and again, when nothing of it is left");
	is(steer_order(FLK_SET_CLOSED, 0), 0, "open all");
	new_begins("0", "limited");
	is(steer_order(FLK_SET_OVERRIDE, FLK_AUTO), 0, "no limit any more");
	new_begins("-1", "without orders again");
	is(steer_order(FLK_SET_DECLARED, 2), -EINVAL, "there is no such order");
	is(steer_order(FLK_SET_OVERRIDE, (int64_t)FLK_MAX_UNITS + 1), -EINVAL, "nor is too much");
	is(steer_order(FLK_SET_OVERRIDE, -2), -EINVAL, "nor is too little");
}

static void
plant(const char *order, const char *text)
{
	const char *path = in_dir(order);

	unlink(path);
	if (symlink(text, path) == -1)
		tap_bail("symlink: %s", strerror(errno));
}

/* What is no order of this boot, or not by anybody whom we trust. */
static void
test_lies(void)
{
	static const char *const texts[] = { "1",
					     "1@",
					     "@",
					     "1@0123456789abcdef0123456789abcdef",
					     "nonsense",
					     "-1@",
					     "99999999999999999999@" };
	char text[80] = "";
	size_t i;
	int fd;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		plant(".all-paused", texts[i]);
		plant(".all-closed", texts[i]);
		plant(".all-limit", texts[i]);
		new_begins("-1", texts[i]);
	}
	steer_order(FLK_SET_CLOSED, 0);
	steer_order(FLK_SET_OVERRIDE, FLK_AUTO);
	unlink(in_dir(".all-paused"));
	fd = open(in_dir(".all-paused"), O_CREAT | O_WRONLY, 0600);
	close(fd);
	new_begins("-1", "a file of that name");
	is(steer_order(FLK_SET_PAUSED, 1), 0, "an order replaces it");
	new_begins("p-1", "then");
	if (geteuid() != 0 || readlink(in_dir(".all-paused"), text, sizeof(text) - 1) == -1) {
		tap_skip("another user's order: needs root");
		return;
	}
	chmod(dir, 01777);
	lchown(in_dir(".all-paused"), 65534, 65534);
	new_begins("-1", "another user's order where everybody may make files");
	chmod(dir, 0775);
	new_begins("p-1", "a colleague's order where only colleagues may make files");
	chmod(dir, 0700);
	steer_order(FLK_SET_PAUSED, 0);
}

/* ---- while a limiter is being made ---- */

static const char *made;
static pid_t operator_pid;

static void
order_before(bool named)
{
	if (!named)
		steer_order(FLK_SET_PAUSED, 1);
}

/* Like flocklimitctl pause --all, which has found the name. */
static _Noreturn void
pause_all(void)
{
	static const struct flk_options existing = { .existing = true };
	struct flk *f;
	int error = steer_order(FLK_SET_PAUSED, 1);

	if (error == 0 && (error = flk_attach(&f, made, &existing)) == 0)
		error = steer_pause(f);
	_exit(error == 0 ? 0 : error == -ENOENT ? 2 : 1);
}

/* The operator has given its order, and sleeps: it waits for us. */
static bool
operator_waits(void)
{
	struct flk_settings o;

	return flk_orders(&o) == 0 && o.paused && is_asleep(operator_pid);
}

static bool
operator_ended(void)
{
	char text[STAT_TEXT];
	const char *stat = stat_of(operator_pid, text);

	return stat == NULL || *stat == 'Z';
}

static void
order_after(bool named)
{
	if (!named)
		return;
	if ((operator_pid = fork_child()) == 0) {
		operate = NULL;
		pause_all();
	}
	while (!operator_waits() && !operator_ended())
		usleep(1000);
}

static void
test_races(void)
{
	made = new_name();
	operate = order_before;
	is(begins(made)[0], 'p',
	   "an order that is given before the limiter has its name reaches it");
	operate = NULL;
	steer_order(FLK_SET_PAUSED, 0);

	made = new_name();
	operate = order_after;
	flk_detach(attach(made));
	operate = NULL;
	is(reap_child(operator_pid), 0,
	   "an operator who finds the name waits until it is a limiter");
	is(begins(made)[0], 'p', "and that is paused then");
	steer_order(FLK_SET_PAUSED, 0);
}

static void
die(bool named)
{
	if (named)
		_exit(0);
}

static void
test_death(void)
{
	static const struct flk_options existing = { .existing = true };
	struct flk *f = NULL;
	pid_t pid;

	made = new_name();
	if ((pid = fork_child()) == 0) {
		operate = die;
		flk_detach(attach(made));
		_exit(1);
	}
	is(reap_child(pid), 0, "a maker dies when the limiter has its name");
	is(flk_attach(&f, made, &existing), -ENOENT, "it is no limiter");
	steer_order(FLK_SET_PAUSED, 1);
	is(begins(made)[0], 'p', "an order reaches the one that is made of it");
	steer_order(FLK_SET_PAUSED, 0);
}

int
main(void)
{
	begin();
	scratch_dir(dir);
	rmdir(dir);
	setenv("FLOCKLIMIT_DIR", dir, 1);
	test_orders();
	test_lies();
	test_races();
	test_death();
	if (system("rm -rf \"$FLOCKLIMIT_DIR\"") != 0)
		tap_note("the directory is left behind");
	return tap_done();
}
