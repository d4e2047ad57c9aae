/* SPDX-License-Identifier: ISC */
/*
 * map.c - what flockmap makes of its input: words of a template, items, a log of jobs.  The input's
 * first byte chooses.
 */
#include "fuzz.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct bytes rest; /* what is read next: a byte for how much, and that */
static char *expected;    /* all that was read, one after the other */
static size_t expected_n;

static ssize_t
fake_read(int fd, void *text, size_t size)
{
	size_t n = take8(&rest);

	require(fd == STDIN_FILENO && size > 0);
	if (n == 255) {
		errno = EINTR;
		return -1;
	}
	n = n % 16 == 0 ? n * 256 + 1 : n;
	if (n > size)
		n = size;
	if (n > rest.left)
		n = rest.left;
	memcpy(text, rest.p, n);
	memcpy(expected + expected_n, rest.p, n);
	expected_n += n;
	rest.p += n;
	rest.left -= n;
	return (ssize_t)n;
}

static int
fake_poll(struct pollfd *fds, nfds_t n, int ms)
{
	require(n == 2 && ms == -1);
	fds[0].revents = POLLIN;
	fds[1].revents = 0;
	return 1;
}

#define read fake_read
#define poll fake_poll
#include "cmd/flockmap/input.c"
#undef read
#undef poll
#undef CHUNK
#include "cmd/flockmap/template.c"
#define path log_path
#include "cmd/flockmap/joblog.c"
#undef path

static unsigned said;

void
screen_say(const char *limiter, const char *format, ...)
{
	char line[4096];
	va_list ap;

	(void)limiter;
	va_start(ap, format);
	vsnprintf(line, sizeof(line), format, ap);
	va_end(ap);
	said++;
}

/* fake_read() fails as for a signal only, never as a terminal does. */
bool
conduct_await_terminal(int terminal, int sig)
{
	(void)terminal;
	(void)sig;
	return false;
}

int
job_exit(const struct job *j)
{
	return j->status & 0xff;
}

/* ---- a template ---- */

static char *
octal(char *to, const char **from)
{
	*to++ = (char)(((*from)[1] - '0') * 64 + ((*from)[2] - '0') * 8 + ((*from)[3] - '0'));
	*from += 4;
	return to;
}

/* One word as a shell would read it; moves on to the next. */
static const char *
unquote(const char *p, char *to)
{
	bool dollar;

	while (*p != ' ' && *p != '\0') {
		dollar = p[0] == '$' && p[1] == '\'';
		if (dollar || *p == '\'') {
			for (p += dollar ? 2 : 1; *p != '\'';) {
				require(*p != '\0');
				require(!dollar || *p != '\\' || (p[1] >= '0' && p[1] <= '3'));
				if (dollar && *p == '\\')
					to = octal(to, &p);
				else
					*to++ = *p++;
			}
			p++;
		} else if (*p == '\\') {
			*to++ = p[1];
			p += 2;
		} else {
			require(strchr("\"`$&|;<>()*?[]#~!{}\n\t", *p) == NULL);
			*to++ = *p++;
		}
	}
	*to = '\0';
	return *p == ' ' ? p + 1 : p;
}

static void
check_quoting(char **argv)
{
	char *line = template_quote(argv), *word;
	const char *p = line;

	require(line != NULL && strchr(line, '\n') == NULL && strchr(line, '\t') == NULL);
	word = malloc(strlen(line) + 1);
	require(word != NULL);
	for (; *argv != NULL; argv++) {
		p = unquote(p, word);
		require(strcmp(word, *argv) == 0);
	}
	require(*p == '\0');
	free(word);
	free(line);
}

static bool
is_among(const char *word, char **words)
{
	for (; *words != NULL; words++)
		if (strcmp(*words, word) == 0)
			return true;
	return false;
}

/* There is room for what was measured, and each further item takes what the one before took. */
static void
check_measure(const struct template *t, const struct filling *f, char **argv)
{
	char *items[3] = { f->items[0], f->items[0], f->items[0] };
	struct filling same = { items, 1, 0, 0 };
	size_t all[3], joined[3], real = sizeof(*argv), line = 0, i;

	template_measure(t, f, &all[0], &joined[0]);
	for (i = 0; argv[i] != NULL; i++) {
		real += strlen(argv[i]) + 1 + sizeof(*argv);
		line = t->line ? strlen(argv[i]) : 0;
	}
	require(real <= all[0] && line <= joined[0]);
	for (i = 0; i < 3; i++, same.n++)
		template_measure(t, &same, &all[i], &joined[i]);
	if (template_has_numbers(t))
		return;
	require(all[1] - all[0] == all[2] - all[1]);
	require(joined[1] - joined[0] == joined[2] - joined[1]);
}

static void
check_line(char *line, const char *place, const struct filling *f)
{
	char *words[] = { (char *)(uintptr_t) "sh", (char *)(uintptr_t) "-c", line, NULL };
	struct template t = { words, place, true };
	char **argv;

	if (!template_has_items(&t) || !template_line_is_safe(&t))
		return;
	argv = template_fill(&t, f);
	require(argv != NULL && argv[2] != NULL && argv[3] == NULL);
	check_measure(&t, f, argv);
	free(argv);
}

static void
check_template(struct bytes *b)
{
	char *command[10], *items[10], **argv, *replace = take_line(b);
	size_t words = 0, n = 0, i;
	struct filling f = { items, 0, UINT64_MAX, UINT32_MAX };
	const char *place = replace != NULL && *replace != '\0' ? replace : "{}";
	struct template t = { command, place, false };

	while (words < 9 && (command[words] = take_line(b)) != NULL && *command[words] != '\0')
		words++;
	if (words < 9)
		free(command[words]);
	command[words] = NULL;
	while (n < 9 && (items[n] = take_line(b)) != NULL)
		n++;
	items[n] = NULL;
	f.n = n;
	if (n > 0) {
		argv = template_fill(&t, &f);
		require(argv != NULL);
		for (i = 0; !template_has_items(&t) && i < n; i++)
			require(is_among(items[i], argv));
		check_quoting(argv);
		check_measure(&t, &f, argv);
		free(argv);
		if (words > 0)
			check_line(command[0], place, &f);
	}
	for (i = 0; i < words; i++)
		free(command[i]);
	for (i = 0; i < n; i++)
		free(items[i]);
	free(replace);
}

/* ---- items ---- */

/* Each is what stands before the next delimiter, and all together are all that was read. */
static void
check_input(struct bytes *b)
{
	struct options o = { .per_command = 1 };
	struct input *in;
	size_t at = 0, n;
	bool failed;
	char *item;

	o.lines = take8(b) % 2 == 0;
	o.delimiter = (char)take8(b);
	if (o.lines)
		o.delimiter = '\n';
	rest = *b;
	expected = malloc(b->left + 1);
	expected_n = 0;
	said = 0;
	in = input_open(&o, -1);
	require(in != NULL && expected != NULL);
	while ((item = input_next(in, &failed)) != NULL) {
		while (o.lines && at < expected_n && expected[at] == '\n')
			at++;
		n = strlen(item);
		require(!failed && n <= LONGEST_WORD && at + n <= expected_n);
		require(!o.lines || n > 0);
		require(memcmp(item, expected + at, n) == 0);
		require(memchr(item, o.delimiter, n) == NULL);
		at += n;
		require(at == expected_n || expected[at] == o.delimiter);
		at++;
		free(item);
	}
	while (o.lines && at < expected_n && expected[at] == '\n')
		at++;
	require(failed ? said == 1 : said == 0 && at >= expected_n);
	input_close(in);
	free(expected);
}

/* ---- a log ---- */

static void
open_log(struct options *o, int expected_status)
{
	uses_seat = false;
	require(joblog_open(o) == expected_status);
}

static void
check_log(struct bytes *b)
{
	char *command[] = { (char *)(uintptr_t) "true", NULL }, name[200], last = '\n';
	struct options o = { .joblog = name, .resume = true, .command = { command, "{}", false } };
	struct job j = { .argv = command };
	const size_t header = sizeof(HEADER) - 1;
	int file, has[20], i;
	off_t size, before = 0;
	bool ours = true;
	unsigned flags;

	flags = take8(b);
	o.resume_failed = flags % 2 == 1;
	snprintf(name, sizeof(name), "%s/log", fuzz_dir());
	file = open(name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	/* Without the first line it is a joblog only where that line is not whole. */
	if (flags & 2) {
		before = (off_t)b->left;
		ours = b->left < header ? memcmp(b->p, HEADER, b->left) == 0
					: memcmp(b->p, HEADER, header) == 0;
	} else {
		require(write(file, HEADER, header) == (ssize_t)header);
	}
	require(file != -1 && write(file, b->p, b->left) == (ssize_t)b->left);
	open_log(&o, ours ? OPTION_OK : OPTION_BAD);
	if (!ours) {
		require(lseek(file, 0, SEEK_END) == before);
		joblog_close();
		close(file);
		return;
	}
	size = lseek(file, 0, SEEK_END);
	require(size > 0 && pread(file, &last, 1, size - 1) == 1 && last == '\n');
	for (i = 0; i < 20; i++) {
		j.number = (uint64_t)i + 1;
		has[i] = joblog_has(&j);
		require(has[i] >= -1 && has[i] <= 1);
		if (has[i] == 0)
			require(joblog_add(&j) == 0);
	}
	joblog_close();
	/* What was added is there, and nothing else is otherwise. */
	open_log(&o, OPTION_OK);
	for (i = 0; i < 20; i++) {
		j.number = (uint64_t)i + 1;
		require(joblog_has(&j) == (has[i] == 0 ? 1 : has[i]));
	}
	joblog_close();
	close(file);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes b = { data, size };

	switch (take8(&b) % 3) {
	case 0:
		check_template(&b);
		break;
	case 1:
		check_input(&b);
		break;
	default:
		check_log(&b);
		break;
	}
	return 0;
}
