#include "joblog.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/wait.h>

#include "option.h"
#include "say.h"
#include "template.h"

#define HEADER "Seq\tHost\tStarttime\tJobRuntime\tSend\tReceive\tExitval\tSignal\tCommand\n"

static int fd = -1;
static const char *path;

/* By number: a hash of the command, 0 if there is no line that counts. */
static uint64_t *done;
static size_t room;
static bool uses_seat;

static uint64_t
hash(const char *text, size_t n)
{
	uint64_t h = UINT64_C(14695981039346656037);

	while (n-- > 0)
		h = (h ^ (unsigned char)*text++) * UINT64_C(1099511628211);
	return h != 0 ? h : 1;
}

static bool
note(uint64_t number, uint64_t value)
{
	uint64_t *grown;
	size_t wanted = room;

	if (number >= UINT32_MAX)
		return true;
	while (wanted <= number)
		wanted = wanted * 2 + 1024;
	if (wanted > room) {
		grown = realloc(done, wanted * sizeof(*grown));
		if (grown == NULL)
			return false;
		memset(grown + room, 0, (wanted - room) * sizeof(*grown));
		done = grown;
		room = wanted;
	}
	done[number] = value;
	return true;
}

/* A line that its writer did not finish counts for nothing. */
static bool
read_line(char *line, ssize_t n, bool failed_too)
{
	unsigned long long number;
	int exitval, sig, at = 0;

	if (n < 1 || line[n - 1] != '\n' ||
	    sscanf(line, "%llu\t%*[^\t]\t%*[^\t]\t%*[^\t]\t%*[^\t]\t%*[^\t]\t%d\t%d\t%n", &number,
		   &exitval, &sig, &at) != 3 ||
	    at == 0)
		return true;
	if (failed_too || (exitval == 0 && sig == 0))
		return note(number, hash(line + at, (size_t)(n - at) - 1));
	return note(number, 0);
}

/* Returns true if the last line is whole, or false and an errno value. */
static bool
read_all(const struct options *o, int *error)
{
	FILE *f = fdopen(dup(fd), "r");
	char *line = NULL, last = '\n';
	size_t size = 0;
	ssize_t n;

	*error = f == NULL ? errno : 0;
	while (f != NULL && *error == 0 && (n = getline(&line, &size, f)) != -1) {
		last = n > 0 ? line[n - 1] : last;
		if (o->resume && !read_line(line, n, !o->resume_failed))
			*error = ENOMEM;
	}
	if (f != NULL && *error == 0 && ferror(f))
		*error = EIO;
	free(line);
	if (f != NULL)
		fclose(f);
	return last == '\n';
}

static int
write_line(const char *line, size_t n)
{
	ssize_t written = write(fd, line, n);

	if (written == (ssize_t)n)
		return 0;
	say(NULL, "--joblog %s: %s", path, written == -1 ? strerror(errno) : "no space left");
	return -1;
}

int
joblog_open(const struct options *o)
{
	char **word;
	bool whole;
	int error;

	path = o->joblog;
	for (word = o->command; *word != NULL; word++)
		uses_seat = uses_seat || strstr(*word, "{%}") != NULL;
	if (path == NULL)
		return OPTION_OK;
	fd = open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | (o->resume ? 0 : O_TRUNC), 0666);
	if (fd == -1) {
		say(NULL, "--joblog %s: %s", path, strerror(errno));
		return OPTION_BAD;
	}
	whole = read_all(o, &error);
	if (error != 0) {
		say(NULL, "--joblog %s: %s", path, strerror(error));
		return OPTION_BAD;
	}
	if (lseek(fd, 0, SEEK_END) == 0)
		return write_line(HEADER, strlen(HEADER)) == 0 ? OPTION_OK : OPTION_BAD;
	return whole || write_line("\n", 1) == 0 ? OPTION_OK : OPTION_BAD;
}

/* The columns but the command are short. */
void
joblog_add(const struct job *j)
{
	char *command, *line;
	size_t room_of_line;
	int n;

	if (fd == -1)
		return;
	command = template_quote(j->argv);
	room_of_line = 200 + (command != NULL ? strlen(command) : 0);
	line = command != NULL ? malloc(room_of_line) : NULL;
	if (line != NULL) {
		n = snprintf(
		    line, room_of_line, "%llu\t:\t%llu.%03llu\t%10.3f\t0\t%llu\t%d\t%d\t%s\n",
		    (unsigned long long)j->number, (unsigned long long)(j->began_ns / 1000000000),
		    (unsigned long long)(j->began_ns / 1000000 % 1000), (double)j->ran_ns / 1e9,
		    (unsigned long long)(j->out.total + j->err.total),
		    WIFSIGNALED(j->status) && !j->timed_out ? 0 : job_exit(j),
		    WIFSIGNALED(j->status) && !j->timed_out ? WTERMSIG(j->status) : 0, command);
		write_line(line, (size_t)n);
	}
	free(line);
	free(command);
}

int
joblog_has(const struct job *j)
{
	char *command;
	uint64_t was, is;

	if (j->number >= room || done[j->number] == 0)
		return 0;
	if (uses_seat)
		return 1; /* its words are others each time */
	was = done[j->number];
	command = template_quote(j->argv);
	is = command != NULL ? hash(command, strlen(command)) : 0;
	free(command);
	if (was == is)
		return 1;
	say(NULL,
	    "--resume: command %llu is another one in %s: give the same items in the same order",
	    (unsigned long long)j->number, path);
	return -1;
}

void
joblog_close(void)
{
	free(done);
	done = NULL;
	if (fd != -1)
		close(fd);
}
