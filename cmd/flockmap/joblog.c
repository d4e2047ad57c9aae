/* SPDX-License-Identifier: ISC */
#include "joblog.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "fnv.h"
#include "option.h"
#include "parse.h"
#include "screen.h"
#include "template.h"

#define HEADER "Seq\tHost\tStarttime\tJobRuntime\tSend\tReceive\tExitval\tSignal\tCommand\n"

static int fd = -1;
static const char *path;

/* The lines of the log: for each job's number a hash of its command; sorted by number. */
static struct line {
	uint64_t number, value;
	size_t order; /* in the file: the last line of a number counts */
	bool failed;
} * known;
static size_t count, room;
static bool uses_seat, runs_failed_again;
static uint64_t failures; /* commands that were skipped and had failed */

static uint64_t
hash(const char *text, size_t n)
{
	uint64_t h = fnv(FNV_START, text, n);

	return h != 0 ? h : 1;
}

static bool
note(uint64_t number, uint64_t value, bool failed)
{
	struct line *grown;

	if (count == room) {
		grown = realloc(known, (room * 2 + 64) * sizeof(*grown));
		if (grown == NULL)
			return false;
		known = grown;
		room = room * 2 + 64;
	}
	known[count] = (struct line){ number, value, count, failed };
	count++;
	return true;
}

static int
compare(const void *one, const void *other)
{
	const struct line *a = one, *b = other;

	if (a->number != b->number)
		return a->number < b->number ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

static void
sort(void)
{
	size_t i, kept = 0;

	if (count == 0)
		return;
	qsort(known, count, sizeof(*known), compare);
	for (i = 1; i < count; i++) {
		if (known[i].number != known[kept].number)
			kept++;
		known[kept] = known[i];
	}
	count = kept + 1;
}

/* Notes a line.  A line that has not our columns is skipped.  False: no memory. */
static bool
read_line(char *line, size_t n)
{
	enum { SEQ, EXITVAL = 6, SIGNAL, COMMAND };
	char *column[COMMAND + 1] = { line }, *tab, *end = line + n - 1;
	uint64_t number, exitval, sig;
	int i;

	for (i = 1; i <= COMMAND; i++) {
		tab = memchr(column[i - 1], '\t', (size_t)(end - column[i - 1]));
		if (tab == NULL)
			return true;
		*tab = '\0';
		column[i] = tab + 1;
	}
	if (!parse_number(column[SEQ], 1, UINT64_MAX / 20, &number) ||
	    !parse_number(column[EXITVAL], 0, 255, &exitval) ||
	    !parse_number(column[SIGNAL], 0, 255, &sig))
		return true;
	return note(number, hash(column[COMMAND], (size_t)(end - column[COMMAND])),
		    exitval != 0 || sig != 0);
}

/* Reads the log, and cuts off a last line that its writer did not finish: 0, or an errno value. */
static int
read_all(void)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0), error = 0;
	FILE *f = copy != -1 ? fdopen(copy, "r") : NULL;
	char *line = NULL;
	size_t size = 0;
	off_t whole = 0;
	ssize_t n;

	if (f == NULL) {
		error = errno;
		if (copy != -1)
			close(copy);
		return error;
	}
	while (error == 0 && (n = getline(&line, &size, f)) != -1 && line[n - 1] == '\n') {
		whole += n;
		if (!read_line(line, (size_t)n))
			error = ENOMEM;
	}
	if (error == 0 && (ferror(f) || ftruncate(fd, whole) == -1))
		error = errno;
	free(line);
	fclose(f);
	sort();
	return error;
}

/*
 * Writes the line whole or not at all.  After a failure it writes no more lines, so that the log
 * stays readable for other programs.
 */
static int
write_line(const char *line, size_t n)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static bool broken;
	ssize_t written;

	pthread_mutex_lock(&lock);
	if (!broken) {
		written = write(fd, line, n);
		broken = written != (ssize_t)n;
		if (broken)
			screen_say(NULL, "--joblog %s: %s", path,
				   written == -1 ? strerror(errno) : "no space left");
		if (written > 0 && broken && ftruncate(fd, lseek(fd, 0, SEEK_CUR) - written) == -1)
			screen_say(NULL, "--joblog %s: its last line is incomplete: %s", path,
				   strerror(errno));
	}
	pthread_mutex_unlock(&lock);
	return broken ? -1 : 0;
}

/*
 * Whether the file is a joblog: it begins with HEADER, or with a part of HEADER if its writer was
 * killed there.  We neither cut nor extend any other file, so that a mistyped name does no harm.  A
 * file that is not regular, /dev/null say, has no content to lose.
 */
static int
check_that_ours(bool *ours)
{
	char start[sizeof(HEADER) - 1];
	struct stat sb;
	ssize_t n;

	if (fstat(fd, &sb) == -1)
		return errno;
	*ours = true;
	if (!S_ISREG(sb.st_mode))
		return 0;
	if ((n = pread(fd, start, sizeof(start), 0)) == -1)
		return errno;
	*ours = memcmp(start, HEADER, (size_t)n) == 0;
	return 0;
}

int
joblog_open(const struct options *o)
{
	bool ours = true;
	int error;

	path = o->joblog;
	runs_failed_again = o->resume_failed;
	uses_seat = template_has_seat(&o->command);
	if (path == NULL)
		return OPTION_OK;
	fd = open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
	error = fd == -1 ? errno : check_that_ours(&ours);
	if (error == 0 && ours && o->resume)
		error = read_all();
	/* EINVAL: not a regular file, which can't be cut. */
	else if (error == 0 && ours && ftruncate(fd, 0) == -1 && errno != EINVAL)
		error = errno;
	if (error != 0 || !ours) {
		screen_say(NULL, "--joblog %s: %s", path,
			   error != 0 ? strerror(error)
				      : "not a joblog, and left unchanged: choose another file");
		return OPTION_BAD;
	}
	if (lseek(fd, 0, SEEK_END) <= 0 && write_line(HEADER, strlen(HEADER)) != 0)
		return OPTION_BAD;
	return OPTION_OK;
}

/* All columns but the command are short: 200 bytes are enough for them. */
int
joblog_add(const struct job *j)
{
	char *command, *line;
	size_t room_of_line;
	int n, error = -1;

	if (fd == -1)
		return 0;
	command = template_quote(j->argv);
	room_of_line = 200 + (command != NULL ? strlen(command) : 0);
	line = command != NULL ? malloc(room_of_line) : NULL;
	if (line != NULL) {
		n = snprintf(
		    line, room_of_line, "%llu\t:\t%llu.%03llu\t%10.3f\t0\t%llu\t%d\t%d\t%s\n",
		    (unsigned long long)j->number, (unsigned long long)(j->began_ns / 1000000000),
		    (unsigned long long)(j->began_ns / 1000000 % 1000), (double)j->ran_ns / 1e9,
		    (unsigned long long)j->out.total + j->err.total,
		    WIFSIGNALED(j->status) && !j->timed_out && !j->lost ? 0 : job_exit(j),
		    WIFSIGNALED(j->status) && !j->timed_out && !j->lost ? WTERMSIG(j->status) : 0,
		    command);
		error = write_line(line, (size_t)n);
	} else {
		screen_say(NULL, "--joblog %s: no memory for a line", path);
	}
	free(line);
	free(command);
	return error;
}

int
joblog_has(const struct job *j)
{
	size_t low = 0, high = count, middle;
	char *command;
	uint64_t is;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (known[middle].number < j->number)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == count || known[low].number != j->number ||
	    (known[low].failed && runs_failed_again))
		return 0;
	command = template_quote(j->argv);
	is = command != NULL ? hash(command, strlen(command)) : 0;
	free(command);
	/* A command with {%} in it differs each time: compare only the number. */
	if (uses_seat || known[low].value == is) {
		failures += known[low].failed;
		return 1;
	}
	screen_say(
	    NULL,
	    "--resume: command %llu differs from that in %s: give the same items in the same "
	    "order",
	    (unsigned long long)j->number, path);
	return -1;
}

uint64_t
joblog_skipped_failures(void)
{
	return failures;
}

void
joblog_close(void)
{
	free(known);
	known = NULL;
	count = room = 0;
	if (fd != -1)
		close(fd);
}
