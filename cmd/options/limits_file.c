/* SPDX-License-Identifier: ISC */
#include "limits_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>

#include "name.h"
#include "option.h"
#include "say.h"
#include "user.h"

/* ---- words ---- */

static int
bad_line(const struct limits_line *line, const char *what)
{
	say(NULL, "%s:%u: %s", line->file, line->number, what);
	return OPTION_BAD;
}

/*
 * The next word, as a shell splits them: quotes and backslashes, and nothing else.  It is written over
 * the text, which is never shorter.  NULL at the end of the line, and *wrong says why if it has none.
 */
static char *
next_word(char **text, const char **wrong)
{
	char *from = *text + strspn(*text, " \t\r"), *to = from, *word = from, quote = '\0';

	if (*from == '\0' || *from == '#') {
		*text = from + strlen(from);
		return NULL;
	}
	for (; *from != '\0' && (quote != '\0' || strchr(" \t\r", *from) == NULL); from++) {
		if (quote == '\0' && (*from == '\'' || *from == '"')) {
			quote = *from;
		} else if (*from == quote) {
			quote = '\0';
		} else if (*from == '\\' && quote != '\'' &&
			   (quote == '\0' || from[1] == '"' || from[1] == '\\')) {
			if (*++from == '\0')
				break;
			*to++ = *from;
		} else {
			*to++ = *from;
		}
	}
	if (quote != '\0') {
		*wrong = "a quote without its end";
		return NULL;
	}
	*text = from + (*from != '\0');
	*to = '\0';
	return word;
}

static int
split(struct limits_line *line, char *text)
{
	size_t room = strlen(text) / 2 + 3;
	const char *wrong = NULL;
	char *word;

	line->word = calloc(room, sizeof(*line->word));
	if (line->word == NULL)
		return bad_line(line, strerror(ENOMEM));
	while ((word = next_word(&text, &wrong)) != NULL)
		line->word[line->words++] = word;
	return wrong != NULL ? bad_line(line, wrong) : OPTION_OK;
}

/* ---- lines ---- */

static int
refuse_name(const struct limits_line *line, const char *why)
{
	char what[200];

	snprintf(what, sizeof(what), "%s '%.60s': %s", line->command ? "command" : "limiter",
		 line->name, why);
	return bad_line(line, what);
}

/* The words have been split; the first says what the line is. */
static int
read_line(struct limits_line *line)
{
	char what[120];

	line->command = strcmp(line->word[0], "command") == 0;
	if (!line->command && strcmp(line->word[0], "limiter") != 0) {
		snprintf(what, sizeof(what),
			 "'%.40s': unknown: a line begins with limiter or command", line->word[0]);
		return bad_line(line, what);
	}
	if (line->words < 2) {
		snprintf(what, sizeof(what), "%s: which? write %s NAME OPTION...", line->word[0],
			 line->word[0]);
		return bad_line(line, what);
	}
	line->word++;
	line->words--;
	line->name = line->word[0];
	if (line->command && line->name[strspn(line->name, " \t")] == '\0')
		return refuse_name(line, "not a command");
	if (!line->command && !flki_is_name(line->name))
		return refuse_name(line, "not a name: use letters, digits and . _ + @ % -");
	return OPTION_OK;
}

static int
add_line(struct limits_file *f, char *text, unsigned number)
{
	struct limits_line line = { .file = f->path, .number = number }, *more;
	int status = split(&line, text);
	char **words = line.word;

	if (status == OPTION_OK && line.words > 0)
		status = read_line(&line);
	if (status != OPTION_OK || line.words == 0) {
		free(words);
		return status;
	}
	more = realloc(f->line, (f->lines + 1) * sizeof(*more));
	if (more == NULL) {
		free(words);
		return bad_line(&line, strerror(ENOMEM));
	}
	f->line = more;
	f->line[f->lines++] = line;
	return OPTION_OK;
}

int
limits_file_parse(struct limits_file *f, char *text)
{
	unsigned number;
	int status = OPTION_OK;
	char *end;

	for (number = 1; *text != '\0' && status == OPTION_OK; number++, text = end) {
		end = text + strcspn(text, "\n");
		if (*end != '\0')
			*end++ = '\0';
		status = add_line(f, text, number);
	}
	return status;
}

/* ---- the file ---- */

static int
bad_file(const struct limits_file *f, const char *what)
{
	say(NULL, "%s: %s; FLOCKLIMIT_LIMITS= reads no such file", f->path, what);
	return OPTION_BAD;
}

static bool
is_trusted(uid_t uid)
{
	return uid == 0 || uid == geteuid();
}

/* Whoever can write to it says what our commands wait for: so only root may, and this user. */
static int
check_owner(const struct limits_file *f, int fd, off_t *size)
{
	char user[USER_TEXT], what[USER_TEXT + 100];
	struct stat sb, link;

	if (fstat(fd, &sb) == -1 || lstat(f->path, &link) == -1)
		return bad_file(f, strerror(errno));
	if (!S_ISREG(sb.st_mode))
		return bad_file(f, "not a regular file");
	if (!is_trusted(sb.st_uid) || !is_trusted(link.st_uid)) {
		snprintf(what, sizeof(what),
			 "belongs to user %s, who is neither you nor root: chown it",
			 user_text(is_trusted(sb.st_uid) ? link.st_uid : sb.st_uid, user));
		return bad_file(f, what);
	}
	if ((sb.st_mode & 022) != 0)
		return bad_file(f, "others can write to it: chmod go-w");
	if (sb.st_size >= LIMITS_BYTES)
		return bad_file(f, "has more than 64 KiB");
	*size = sb.st_size;
	return OPTION_OK;
}

/* It may grow meanwhile, and lose its end: a line that is cut short. */
static int
read_text(const struct limits_file *f, int fd, char **text)
{
	off_t size;
	ssize_t n;
	int status = check_owner(f, fd, &size);

	if (status != OPTION_OK)
		return status;
	*text = calloc((size_t)size + 1, 1);
	if (*text == NULL)
		return bad_file(f, strerror(ENOMEM));
	n = read(fd, *text, (size_t)size);
	if (n == -1)
		return bad_file(f, strerror(errno));
	if (strlen(*text) != (size_t)n)
		return bad_file(f, "has a byte 0 in it");
	return OPTION_OK;
}

/* Under sudo, HOME may be that of another user. */
static bool
may_lack(enum limits_of whose, int error)
{
	return whose != LIMITS_ASKED_FOR && (error == ENOENT || error == ENOTDIR ||
					     (error == EACCES && whose == LIMITS_OF_USER));
}

int
limits_file_read(struct limits_file *f, const char *path, enum limits_of whose)
{
	char *text = NULL;
	int fd, error, status;

	/* The end of a FIFO that nobody writes to would be waited for. */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	error = errno;
	f->lines = 0;
	if (fd == -1 && may_lack(whose, error))
		return OPTION_OK;
	snprintf(f->path, sizeof(f->path), "%s", path);
	if (fd == -1)
		return bad_file(f, strerror(error));
	status = read_text(f, fd, &text);
	close(fd);
	if (status == OPTION_OK)
		status = limits_file_parse(f, text); /* it keeps the text */
	else
		free(text);
	return status;
}

/* ---- matching ---- */

/* Whether the word of N bytes is the program: by its last part, unless a path is meant. */
static bool
is_program(const char *word, size_t n, const char *program)
{
	const char *slash = memchr(word, '/', n) != NULL ? NULL : strrchr(program, '/');

	if (slash != NULL)
		program = slash + 1;
	return strlen(program) == n && memcmp(word, program, n) == 0;
}

bool
limits_is_about(const struct limits_line *line, const char *program)
{
	const char *word = line->name + strspn(line->name, " \t");

	return line->command && is_program(word, strcspn(word, " \t"), program);
}

unsigned
limits_match(const struct limits_line *line, char *const *command)
{
	const char *p = line->name + strspn(line->name, " \t");
	unsigned n = 0;
	size_t length;

	for (; *p != '\0'; p += length + strspn(p + length, " \t"), n++) {
		length = strcspn(p, " \t");
		if (command[n] == NULL)
			return 0;
		if (n == 0 ? !is_program(p, length, command[0])
			   : strlen(command[n]) != length || memcmp(p, command[n], length) != 0)
			return 0;
	}
	return n;
}
