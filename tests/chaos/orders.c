/* SPDX-License-Identifier: ISC */
/*
 * orders.c - orders to all limiters of a directory of their own, while wrappers make limiters
 * there and the operator removes them.  Makers are killed at any time, and so are the programs that
 * give the orders.
 *
 * The law: from the end of pause --all to the beginning of resume --all every limiter is paused, and
 * from the end of that to the beginning of the next pause --all none is.
 */
#include "driver.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include "flocklimit.h"
#include "../helpers/tap.h"

#define MAKERS 8
#define NAMES  12 /* of the limiters that they make */
#define SHORT  UINT64_C(200000000)

static char dir[220], ctl_path[400];
static pid_t maker[MAKERS], steerer;
static bool steerer_killed;
static bool wanted;   /* what the latest order was for */
static bool in_force; /* its walk has ended */
static uint64_t until;

unsigned orders_given, orders_killed;

void
orders_begin(const char *parent)
{
	snprintf(dir, sizeof(dir), "%s/all", parent);
	snprintf(ctl_path, sizeof(ctl_path), "%sctl", getenv("FLOCKLIMIT"));
	if (access(ctl_path, X_OK) == -1)
		ctl_path[0] = '\0';
	if (mkdir(dir, 0700) == -1)
		tap_bail("%s: %s", dir, strerror(errno));
	/* Nobody else here uses names. */
	setenv("FLOCKLIMIT_DIR", dir, 1);
}

bool
orders_possible(void)
{
	return ctl_path[0] != '\0';
}

static void
told(int result)
{
	if (result != 0)
		chaos_say("Q %" PRIu64 " 0 %d %d", chaos_now(), (int)ORDER, result);
}

static pid_t
run(char *const *words)
{
	pid_t pid = fork();

	if (pid == -1)
		tap_bail("fork: %s", strerror(errno));
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execv(words[0], words);
		_exit(97);
	}
	return pid;
}

static char *
word(const char *text)
{
	return (char *)(uintptr_t)text;
}

/* In a paused limiter it gets no permit, and exits with 75. */
static void
start_maker(pid_t *pid)
{
	char name[20];

	snprintf(name, sizeof(name), "probe-%u", below(NAMES));
	*pid = run((char *[]){ getenv("FLOCKLIMIT"), word("-q"), word("-N"), name,
			       word("--nonblock"), word("-n1"), word("true"), NULL });
}

static void
start_steerer(bool pause)
{
	in_force = false;
	steerer_killed = false;
	wanted = pause;
	steerer =
	    run((char *[]){ ctl_path, word(pause ? "pause" : "resume"), word("--all"), NULL });
}

/* Each limiter that there is, and maybe its end. */
static void
visit_all(bool remove)
{
	static const struct flk_options existing = { .existing = true };
	struct flk_snapshot *s;
	struct dirent *e;
	struct flk *f;
	DIR *d = opendir(dir);
	int error;

	while (d != NULL && (e = readdir(d)) != NULL) {
		if (e->d_name[0] == '.' || flk_attach(&f, e->d_name, &existing) != 0)
			continue;
		error = flk_snapshot(f, &s);
		if (error == 0) {
			if (s->set.paused != wanted) {
				tap_note("%s is %spaused", e->d_name, wanted ? "not " : "");
				told(-FLK_DAMAGED);
			}
			free(s);
		} else if (error != -FLK_GONE) {
			told(error);
		}
		if (remove && chance(50)) {
			error = flk_remove(f);
			told(error == -FLK_BUSY || error == -FLK_GONE ? 0 : error);
		}
		flk_detach(f);
	}
	if (d != NULL)
		closedir(d);
}

void
orders_act_for(double seconds)
{
	unsigned i;

	if (!orders_possible())
		return;
	for (i = 0; i < MAKERS; i++) {
		if (maker[i] == 0 && due(4, seconds))
			start_maker(&maker[i]);
		else if (maker[i] != 0 && due(20, seconds))
			kill(maker[i], SIGKILL);
	}
	if (steerer != 0) {
		if (due(20, seconds)) {
			steerer_killed = true;
			kill(steerer, SIGKILL);
		}
		return;
	}
	if (in_force && due(20, seconds))
		visit_all(chance(30));
	/* An order that was killed is given again: it may be in part in force. */
	if (!in_force || chaos_now() > until)
		start_steerer(in_force ? !wanted : wanted);
}

bool
orders_reaped(pid_t pid, int status)
{
	unsigned i;

	for (i = 0; i < MAKERS; i++)
		if (maker[i] == pid) {
			maker[i] = 0;
			if (WIFEXITED(status) && WEXITSTATUS(status) != 0 &&
			    WEXITSTATUS(status) != 75)
				told(status);
			return true;
		}
	if (steerer != pid)
		return false;
	steerer = 0;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
		in_force = true;
		until = chaos_now() + SHORT;
		orders_given++;
		visit_all(false);
	} else if (steerer_killed && WIFSIGNALED(status)) {
		orders_killed++;
	} else {
		told(status);
	}
	return true;
}

void
orders_calm(void)
{
	unsigned i;

	for (i = 0; i < MAKERS; i++)
		if (maker[i] != 0)
			kill(maker[i], SIGKILL);
	if (steerer != 0) {
		steerer_killed = true;
		kill(steerer, SIGKILL);
	}
}

void
orders_clean_up(void)
{
	struct dirent *e;
	DIR *d = opendir(dir);

	while (d != NULL && (e = readdir(d)) != NULL)
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			unlinkat(dirfd(d), e->d_name, 0);
	if (d != NULL)
		closedir(d);
	rmdir(dir);
}
