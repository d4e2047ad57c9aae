/* SPDX-License-Identifier: ISC */
/*
 * store.c - the contract's limiters are in a fake etcd (tests/store/fake/), which ends with the test.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/wait.h>

#include "contract.h"
#include "settings.h"
#include "wrapper/store.h"

static pid_t fake, starter;

static void
end_fake(void)
{
	if (getpid() != starter)
		return;
	kill(fake, SIGKILL);
	waitpid(fake, NULL, 0);
}

static unsigned
start_fake(void)
{
	const char *build = getenv("TESTS_BUILD");
	char path[4096];
	unsigned port;
	FILE *said;
	int ends[2];

	if (build == NULL || pipe(ends) == -1)
		tap_bail("no TESTS_BUILD: start this by make check");
	snprintf(path, sizeof(path), "%s/store/fake/fake", build);
	starter = getpid();
	fake = fork_child();
	if (fake == 0) {
		dup2(ends[1], STDOUT_FILENO);
		close(ends[0]);
		close(ends[1]);
		execl(path, path, (char *)NULL);
		_exit(127);
	}
	atexit(end_fake);
	close(ends[1]);
	said = fdopen(ends[0], "r");
	if (said == NULL || fscanf(said, "%u", &port) != 1)
		tap_bail("%s does not start", path);
	fclose(said);
	return port;
}

static void
begin_store(void)
{
	static char url[100];
	const char *wrong;

	snprintf(url, sizeof(url), "etcd://127.0.0.1:%u/contract", start_fake());
	if ((wrong = url_parse(&settings.url, url)) != NULL)
		tap_bail("%s: %s", url, wrong);
	settings.grace_s = 7;
}

const struct side side = { .which = STORE,
			   .begin = begin_store,
			   .attach = store_attach,
			   .locate = store_locate,
			   .map_new = store_map_new,
			   .strerror = store_strerror };
