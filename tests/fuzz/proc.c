/* SPDX-License-Identifier: ISC */
/*
 * proc.c - what the system and the caller tell us in text: /proc/PID/stat, the cgroup's files, the
 * chain in FLOCKLIMIT_HELD, and an environment to hand on.  The input's first byte chooses.
 */
#include "fuzz.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct bytes files; /* what is read next: a length, and so many bytes */

static int
fake_open(const char *path, int flags)
{
	require(path[0] == '/' && strlen(path) < 4096 && (flags & O_ACCMODE) == O_RDONLY);
	if (take8(&files) % 4 == 0) {
		errno = ENOENT;
		return -1;
	}
	return 1000;
}

static ssize_t
fake_read(int fd, void *text, size_t size)
{
	size_t n = take16(&files);

	require(fd == 1000);
	if (n == UINT16_MAX) {
		errno = EIO;
		return -1;
	}
	if (n > files.left)
		n = files.left;
	if (n > size)
		n = size;
	memcpy(text, files.p, n);
	files.p += n;
	files.left -= n;
	return (ssize_t)n;
}

static int
fake_close(int fd)
{
	require(fd == 1000);
	return 0;
}

#define open  fake_open
#define read  fake_read
#define close fake_close
#include "cmd/process/process.c"
#include "lib/cgroup.c"
#include "cmd/process/suspended.c"
#include "lib/cpus.c"
#include "lib/measure.c"
#undef open
#undef read
#undef close
#include "cmd/permit/environment.c"

/* A limiter with the permits of slots 0 to 3, by tickets 1 to 4. */
uint64_t
flk_identity(const struct flk *limiter)
{
	(void)limiter;
	return 0xabcdef;
}

bool
flk_holds(struct flk *limiter, uint32_t slot, uint64_t ticket, struct flk_permit *permit)
{
	(void)limiter;
	*permit = (struct flk_permit){ .ticket = ticket, .weight = 1, .limit = 4, .seat = slot };
	return slot < 4 && ticket == slot + 1;
}

int
flk_entrusted(struct flk *limiter, int fd, struct flk_permit *permit)
{
	(void)limiter;
	(void)fd;
	(void)permit;
	return -FLK_NOPERMIT;
}

static void
check_environment(void)
{
	struct flk_permit permit = { .weight = UINT32_MAX,
				     .limit = UINT32_MAX,
				     .seat = UINT32_MAX,
				     .ticket = UINT64_MAX,
				     .seats = UINT64_MAX };
	char **saved = environ, *fake[16], **envp, *name, link[HELD_LINK];
	size_t n, i, held = 0;

	name = take_line(&files);
	for (n = 0; n < 15 && (fake[n] = take_line(&files)) != NULL; n++)
		;
	fake[n] = NULL;
	environ = fake;
	if (environment_find(NULL, &permit))
		require(permit.seat < 4 && permit.ticket == permit.seat + 1);
	environment_link(NULL, UINT32_MAX, UINT64_MAX, link);
	require(strlen(link) < sizeof(link));
	envp = environment_make(name != NULL ? name : "", &permit, n % 2 ? link : NULL,
				n % 3 ? link : NULL);
	environ = saved;
	require(envp != NULL);
	for (i = 0; envp[i] != NULL; i++)
		held += strncmp(envp[i], "FLOCKLIMIT_HELD=", 16) == 0;
	require(held == 1 && i <= n + 9);
	free(envp);
	free(name);
	while (n > 0)
		free(fake[--n]);
}

static void
check_measures(void)
{
	static const char all[] = "mem>1 running<1 psi.cpu<1 psi.mem<1 psi.io<1";
	struct pressures p = { .looks = take32(&files) };
	char wrong[CONDITION_TEXT];
	const char *text = all;
	struct condition c;
	unsigned i;

	for (i = 0; i < 4; i++)
		p.look[i].at_ns = take64(&files);
	while (flki_condition_next(&text, &c, wrong) == 1)
		flki_measure(&c, NULL);
	flki_measure_pressures(&p);
	for (text = all; flki_condition_next(&text, &c, wrong) == 1;)
		flki_measure(&c, &p);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char state, remedy[REMEDY_TEXT];
	pid_t parent;
	uint8_t which;
	uint32_t n;

	files = (struct bytes){ data, size };
	which = take8(&files);
	switch (which == UINT8_MAX ? 3 : which % 3) {
	case 0:
		process_stat((pid_t)take32(&files), &state, &parent);
		process_suspended(-1, remedy);
		break;
	case 1:
		n = flk_cpus(take32(&files) % 100000 + 1);
		require(n >= 1 && n <= FLK_MAX_UNITS);
		break;
	case 3:
		check_measures();
		break;
	default:
		check_environment();
		break;
	}
	return 0;
}
