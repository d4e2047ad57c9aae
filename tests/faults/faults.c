/* SPDX-License-Identifier: ISC */
/*
 * faults.c - whatever fails, when it fails: the caller hears of it, nothing is left lying about, and
 * the limiter is whole.
 *
 *	faults.t [TRIAL]	only the trial that has this in its name; with -TRIAL all others
 *
 * Each trial is done again and again, each time in a process of its own, with the first, second,
 * third ... call of each function failing, by each errno that it may plausibly have, once or from
 * then on, until there is no such call any more.
 */
#include "faults.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "alive.h"
#include "layout.h"

#define MOST_CALLS 100 /* of one function in one operation: more is a loop without end */

static const int errors[CALLS][9] = {
	[CALLOC] = { ENOMEM },
	[MALLOC] = { ENOMEM },
	[OPEN_BOOT] = { ENOENT, EACCES, EMFILE, ENFILE },
	[OPEN_SELF] = { EMFILE, ENFILE, ENOENT, EACCES, ENOMEM },
	[OPEN_DIR] = { EMFILE, ENFILE, EACCES, ENOTDIR, ENOMEM },
	[MKDIR] = { EACCES, ENOSPC, EDQUOT, EROFS, EMLINK, EIO },
	[OPENAT_FILE] = { EMFILE, ENFILE, EACCES, ELOOP, EISDIR, ENXIO, EROFS, EIO },
	[OPENAT_ORDER] = { EMFILE, ENFILE, EIO },
	[OPENAT_TMPFILE] = { EOPNOTSUPP, EISDIR, EINVAL, EMFILE, EACCES, ENOSPC, EDQUOT, EROFS },
	[OPENAT_CREATE] = { EMFILE, EACCES, EEXIST, ENOSPC, EDQUOT, EROFS, EIO },
	[READ] = { EIO, EINTR },
	[DUPFD] = { EMFILE },
	[SETLK] = { EAGAIN, EACCES, ENOLCK, EINVAL },
	[GETLK] = { EINVAL, EOVERFLOW },
	[SETLKW] = { ENOLCK, EINTR, EINVAL },
	[FSTAT] = { EIO, ENOMEM },
	[LSTAT] = { EACCES },
	[FSTATFS] = { EIO, ENOSYS },
	[MMAP] = { ENOMEM, ENODEV, EPERM, EAGAIN },
	[FCHMOD] = { EPERM, EROFS, EIO },
	[LINKAT] = { EEXIST, ENOENT, EACCES, ENOSPC, EDQUOT, EPERM, EROFS, EIO },
	[FALLOCATE] = { ENOSPC, EDQUOT, EFBIG, EIO, EINTR, EOPNOTSUPP, EINVAL, ENOSYS },
	[PUNCH] = { EOPNOTSUPP, EIO, EINTR, ENOSPC },
	[FTRUNCATE] = { EIO, EPERM },
	[PWRITE] = { ENOSPC, EDQUOT, EIO, EINTR, EFBIG },
	[THREAD] = { EAGAIN, EPERM },
	[FUTEX_WAITV] = { EINTR, EAGAIN, ENOMEM, ENOSYS, EPERM, EINVAL },
	[FUTEX_WAIT] = { EINTR, EAGAIN },
};

/* What a child leaves to us; in memory that both have. */
static struct verdict {
	bool met, failed, done;
	int result;
	char path[sizeof(trial_path)];
	char words[240];
} * verdict;

void
trial_fails(const char *words, ...)
{
	va_list args;

	va_start(args, words);
	vsnprintf(verdict->words, sizeof(verdict->words), words, args);
	va_end(args);
	verdict->failed = true;
	_exit(0);
}

/* Where a retry is the answer, "for ever" is not plausible; or it takes us 2 s and more. */
static bool
passes_by_itself(const struct trial *t, const struct fault *f)
{
	if (f->call == SETLK && (f->error == EAGAIN || f->error == EACCES))
		return !t->patient || f->nth > 1 || f->error == EACCES;
	return f->error == EINTR || (f->call == FUTEX_WAITV && f->error == EAGAIN) ||
	       f->call == FUTEX_WAIT || f->call == GETLK;
}

static bool
is_right(const struct trial *t, const struct fault *f, int result)
{
	const struct lenience *l;
	bool lenient = false;

	for (l = t->lenient; l->call != CALLS; l++) {
		if (l->call != f->call || (l->error != 0 && l->error != f->error))
			continue;
		if (l->result == result)
			return true;
		lenient = true;
	}
	return !lenient && result == -f->error;
}

static int
count_descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0;

	if (d == NULL)
		return 0;
	while (readdir(d) != NULL)
		n++;
	closedir(d);
	return n;
}

/* A vigil may be about to end. */
static void
nothing_is_leaked(int descriptors, int allocated)
{
	uint64_t until = now_ns() + UINT64_C(5000000000);

	while (count_descriptors() != descriptors || faults_allocated() != allocated) {
		if (now_ns() > until)
			trial_fails("descriptors: %d, not %d; allocated: %d, not %d",
				    count_descriptors(), descriptors, faults_allocated(),
				    allocated);
		usleep(1000);
	}
}

/* Beside the limiter's file, nothing; and that is whole, or not there. */
static void
directory_is_clean(int result, bool was_there)
{
	DIR *d = opendir(trial_dir);
	struct dirent *e;
	struct header h = { .layout = 0 };
	struct stat sb;
	int fd;

	while (d != NULL && (e = readdir(d)) != NULL)
		if (strcmp(e->d_name, "limiter") != 0 && e->d_name[0] != '.')
			trial_fails("left in the directory: %s", e->d_name);
	if (d != NULL)
		closedir(d);
	if (result >= 0 || was_there || stat(trial_path, &sb) == -1)
		return;
	/* Without a nameless file to begin with, an unborn one stays, of which the next makes one. */
	if (world_lacks_tmpfile)
		return;
	/*
	 * A whole limiter may stay, which could be made, but not opened then; or one without its magic,
	 * if the orders could not be read.  Of that the next process makes the limiter.
	 */
	fd = open(trial_path, O_RDONLY);
	if (fd == -1 || read(fd, &h, sizeof(h)) != sizeof(h) || !header_is_ours(&h) ||
	    (atomic_load(&h.magic) != MAGIC && atomic_load(&h.magic) != 0))
		trial_fails("left: half a limiter, or an empty file");
	close(fd);
}

static void
try_it(const struct trial *t, const struct fault *f)
{
	int descriptors, allocated, result;
	struct stat sb;
	bool was_there;

	alarm(1800);
	t->prepare();
	strcpy(verdict->path, trial_path);
	was_there = stat(trial_path, &sb) == 0;
	descriptors = count_descriptors();
	allocated = faults_allocated();
	faults_arm(*f);
	result = t->act();
	faults_disarm();
	verdict->met = faults_met();
	verdict->result = result;
	if (verdict->met ? !is_right(t, f, result) : result != t->normal)
		trial_fails("the result is %d: %s", result, flk_strerror(result));
	if (t->after != NULL)
		t->after(result);
	nothing_is_leaked(descriptors, allocated);
	directory_is_clean(result, was_there);
	verdict->done = true;
	_exit(0);
}

/* By another process, which knows nothing of all this: everything is to be had. */
static void
take_everything(void)
{
	const struct flk_request all = { .weight = 100, .limit = 100 };
	struct timespec end = in_ms(PATIENCE_MS);
	char why[100] = "";
	struct flk_taker *t;
	struct flk *f;
	int error;

	alarm(1800);
	*strrchr(strcpy(trial_dir, verdict->path), '/') = '\0';
	mkdir(trial_dir, 0700);
	if ((error = flk_attach(&f, verdict->path, NULL)) != 0)
		trial_fails("it can't be opened afterwards: %s", flk_strerror(error));
	if ((error = flk_taker_new(&t, f)) != 0 || (error = flk_acquire(t, &all, &end)) != 0)
		trial_fails("not everything is to be had afterwards: %s", flk_strerror(error));
	if (flk_check(f, why, sizeof(why)) != 0)
		trial_fails("not whole afterwards: %s", why);
	flk_taker_free(t);
	flk_detach(f);
	_exit(0);
}

static bool
try_with(const struct trial *t, const struct fault *f)
{
	int status;
	pid_t pid;

	memset(verdict, 0, sizeof(*verdict));
	strcpy(trial_dir, fresh_path());
	snprintf(trial_path, sizeof(trial_path), "%s/limiter", trial_dir);
	if (mkdir(trial_dir, 0700) == -1)
		tap_bail("mkdir");
	if ((pid = fork_child()) == 0)
		try_it(t, f);
	status = reap_child(pid);
	if (!verdict->failed && (!verdict->done || status != 0))
		snprintf(verdict->words, sizeof(verdict->words), "it ends with status %#x", status);
	if (verdict->words[0] == '\0') {
		if ((pid = fork_child()) == 0)
			take_everything();
		if ((status = reap_child(pid)) != 0)
			snprintf(verdict->words, sizeof(verdict->words),
				 "to take everything ends with status %#x", status);
	}
	if (verdict->words[0] == '\0')
		return true;
	tap_note("%s number %u fails%s (%s): %s", call_names[f->call], f->nth,
		 f->sticky ? " from then on" : "", strerror(f->error), verdict->words);
	return false;
}

/* All faults of one errno in one function; returns how many there were. */
static unsigned
try_errno(const struct trial *t, enum call call, int error, unsigned *bad)
{
	struct fault f = { .call = call, .error = error };
	unsigned n = 0;

	for (f.nth = 1; f.nth <= MOST_CALLS; f.nth++) {
		f.sticky = false;
		*bad += !try_with(t, &f);
		if (!verdict->met)
			return n;
		n++;
		f.sticky = true;
		if (passes_by_itself(t, &f))
			continue;
		*bad += !try_with(t, &f);
		n++;
	}
	tap_note("%s is called without end", call_names[call]);
	++*bad;
	return n;
}

static unsigned
try_all(const struct trial *t)
{
	unsigned call, i, n, all = 0, bad = 0;

	for (call = 0; call < CALLS; call++)
		for (i = 0; errors[call][i] != 0; i++) {
			n = try_errno(t, call, errors[call][i], &bad);
			all += n;
			if (n == 0)
				break; /* this trial never calls it */
		}
	ok(bad == 0, "%s: %u faults, and each is told, leaves nothing and breaks nothing", t->name,
	   all);
	return all;
}

int
main(int argc, char **argv)
{
	const char *word = argc > 1 ? argv[1] : "";
	bool others = word[0] == '-';
	unsigned i, all = 0;

	begin();
	if (argc > 1)
		alarm(3600);
	verdict =
	    mmap(NULL, sizeof(*verdict), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (verdict == MAP_FAILED)
		tap_bail("mmap");
	/* What a process asks for once, and keeps. */
	flki_alive_prepare();
	flki_alive_unprepare();
	for (i = 0; i < trial_count; i++)
		if ((strstr(trials[i].name, word + others) == NULL) == others)
			all += try_all(&trials[i]);
	ok(all > 0, "%u faults in all", all);
	return tap_done();
}
