/* SPDX-License-Identifier: ISC */
/*
 * clients.c - a table of programs that use a jobserver.  If the command is one of them, or launches
 * one of them (launchers.c), we ask that for its version.  Any other command, a shell say, may start
 * make: we ask the make in $PATH.
 */
#include "clients.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/wait.h>

#include "descriptor.h"
#include "launchers.h"
#include "makeflags.h"
#include "now.h"
#include "say.h"

#define PATIENCE (2 * SECOND) /* with a program that is asked for its version */
#define ANSWER   120          /* bytes of the answer that matter */

enum speech { DEAF, PIPE, FIFO, UNKNOWN };

struct client {
	const char *name, *ask; /* ask: the option that prints its version */
	const char *answer;     /* a format for scanf(3) */
	/*
	 * The first version that can use descriptors, and a FIFO: 100 * major + minor; 0: none can.
	 */
	int pipe, fifo;
	const char *with_value; /* letters of options that take a value; NULL: it has no -j */
	bool minds_both;        /* with -j it heeds the jobserver all the same */
};

#define MAKE (&clients[0])

static const struct client clients[] = {
	{ "make", "--version", "GNU Make %d.%d", 402, 404, MAKE_WITH_VALUE, false },
	{ "gmake", "--version", "GNU Make %d.%d", 402, 404, MAKE_WITH_VALUE, false },
	{ "ninja", "--version", "%d.%d", 0, 113, "Cdfkltw", false },
	{ "ninja-build", "--version", "%d.%d", 0, 113, "Cdfkltw", false },
	{ "samu", NULL, NULL, 0, 0, "Cdfkltw", false },
	{ "cargo", "--version", "cargo %d.%d", 1, 170, "CFZp", true },
	{ "gcc", "-dumpfullversion", "%d.%d", 1, 1300, NULL, true },
	{ "g++", "-dumpfullversion", "%d.%d", 1, 1300, NULL, true },
};

static const struct client *
find(const char *program)
{
	const char *name = launchers_name(program);
	size_t i;

	for (i = 0; i < sizeof(clients) / sizeof(clients[0]); i++)
		if (strcmp(clients[i].name, name) == 0)
			return &clients[i];
	return NULL;
}

/* ---- versions ---- */

/* Reads the first line that the program writes; gives up after PATIENCE. */
static void
read_line(int fd, char text[ANSWER])
{
	struct pollfd input = { .fd = fd, .events = POLLIN };
	uint64_t until = now_ns() + PATIENCE, now;
	ssize_t got = 1;
	size_t n = 0;

	text[0] = '\0';
	while (got > 0 && n < ANSWER - 1 && strchr(text, '\n') == NULL &&
	       (now = now_ns()) < until) {
		if (poll(&input, 1, (int)((until - now) / 1000000) + 1) != 1)
			continue;
		got = read(fd, text + n, ANSWER - 1 - n);
		if (got > 0)
			n += (size_t)got;
		text[n] = '\0';
	}
	text[strcspn(text, "\n")] = '\0';
}

/* Runs the program as we will run the command, but with /dev/null as its stdin and stderr. */
static void
ask(const char *program, const char *option, const struct heritage *heritage, char text[ANSWER])
{
	char *argv[] = { (char *)(uintptr_t)program, (char *)(uintptr_t)option, NULL };
	struct heritage h = *heritage;
	int ends[2], null, error;
	pid_t pid;

	text[0] = '\0';
	if (pipe2(ends, O_CLOEXEC) == -1)
		return;
	/* Above stdio: dup2(2) to the same number would leave close-on-exec set. */
	ends[1] = flki_above_stdio(ends[1]);
	null = flki_above_stdio(open("/dev/null", O_RDWR | O_CLOEXEC));
	h.guard_fd = -1;
	h.stdio[0] = h.stdio[2] = null;
	h.stdio[1] = ends[1];
	pid = null != -1 && ends[1] != -1 ? spawn(argv, environ, &h, &error) : -1;
	if (ends[1] != -1)
		close(ends[1]);
	if (pid != -1) {
		read_line(ends[0], text);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	close(ends[0]);
	if (null != -1)
		close(null);
}

/* The best form of the protocol that the client understands, and its version for a message. */
static enum speech
speech_of(const struct client *c, const char *program, const struct heritage *heritage,
	  char version[ANSWER])
{
	int major = 0, minor = 0, number;

	version[0] = '\0';
	if (c->ask == NULL)
		return DEAF;
	ask(program, c->ask, heritage, version);
	if (version[0] == '\0')
		return UNKNOWN;
	/* Kitware's ninja has been patched for it, whatever its version. */
	if (c->pipe == 0 && strstr(version, "jobserver") != NULL)
		return PIPE;
	/* cppcheck-suppress wrongPrintfScanfArgNum ; every form in the table has two numbers */
	if (sscanf(version, c->answer, &major, &minor) != 2)
		return DEAF; /* another program of that name */
	number = 100 * major + minor;
	if (c->fifo != 0 && number >= c->fifo)
		return FIFO;
	return c->pipe != 0 && number >= c->pipe ? PIPE : DEAF;
}

/* ---- numbers of jobs ---- */

/* cmake passes its own number of jobs on, and all words that follow a `--'. */
static bool
sets_jobs(const struct client *c, const struct launched *l, const char *word, size_t *keep,
	  bool *next)
{
	static const char by_cmake[] = "--parallel";
	size_t n = sizeof(by_cmake) - 1;

	if (makeflags_sets_jobs(word, c->with_value, keep, next))
		return true;
	*next = strcmp(word, by_cmake) == 0;
	return l->by_cmake && strncmp(word, by_cmake, n) == 0;
}

static bool
ends_options(const struct launched *l, const char *word)
{
	return strcmp(word, "--") == 0 && !l->by_cmake;
}

static const char *
word_about_jobs(const struct client *c, const struct launched *l)
{
	char *const *word = l->words;
	size_t keep;
	bool next;

	if (c->with_value == NULL || c->minds_both)
		return NULL;
	for (word++; *word != NULL && !ends_options(l, *word); word++)
		if (sets_jobs(c, l, *word, &keep, &next))
			return *word;
	return NULL;
}

char **
clients_drop_jobs(char **command, const char *limiter_name, bool verbose)
{
	struct launched l;
	const struct client *c;
	size_t n = 0, to = 0, keep;
	char **words, **word;
	bool next;

	launchers_look_through(command, &l);
	c = find(l.program);
	if (c == NULL || c->with_value == NULL)
		return command;
	while (command[n] != NULL)
		n++;
	words = calloc(n + 1, sizeof(*words));
	if (words == NULL)
		return NULL;
	for (word = command; *word != NULL; word++) {
		if (word > l.words && ends_options(&l, *word))
			break;
		if (word <= l.words || !sets_jobs(c, &l, *word, &keep, &next)) {
			words[to++] = *word;
			continue;
		}
		next = next && word[1] != NULL && makeflags_is_number(word[1]);
		if (verbose)
			say(limiter_name, "--jobserver=force: leaves out '%s%s%s'", *word + keep,
			    next ? " " : "", next ? word[1] : "");
		if (keep > 0 && (words[to++] = strndup(*word, keep)) == NULL) {
			free(words);
			return NULL;
		}
		word += next;
	}
	memcpy(words + to, word, (size_t)(command + n - word) * sizeof(*words));
	return words;
}

/* ---- what is said ---- */

/* True if there was something to say. */
static bool
warn(const struct client *c, const struct launched *l, const char *version,
     const char *limiter_name, const char *why)
{
	const char *word = word_about_jobs(c, l);

	if (why != NULL)
		say(limiter_name,
		    "--jobserver: %s (version \"%s\") %s: it runs as many jobs as it likes; see "
		    "flocklimit(1) for programs that use it, or give it a -j",
		    c->name, version, why);
	else if (word != NULL)
		say(limiter_name,
		    "--jobserver: %s ignores the jobserver because of the word '%s': leave it "
		    "out, or use --jobserver=force",
		    c->name, word);
	return why != NULL || word != NULL;
}

bool
clients_know_fifo(char *const *command, enum jobserver_style style, const struct heritage *heritage,
		  const char *limiter_name, bool *quiet)
{
	struct launched launched;
	const struct client *c;
	const char *why = NULL;
	char version[ANSWER];
	enum speech speech;

	launchers_look_through(command, &launched);
	c = find(launched.program);
	if (c == NULL)
		return style == JOBSERVER_FIFO ||
		       (style == JOBSERVER_BEST &&
			speech_of(MAKE, "make", heritage, version) != PIPE);
	speech = speech_of(c, launched.program, heritage, version);
	/* A client that can use a FIFO can use descriptors as well, if any version of it can. */
	if (speech == DEAF)
		why = "knows no jobserver";
	else if (style == JOBSERVER_FIFO && speech == PIPE)
		why = "knows no --jobserver=fifo";
	else if (style == JOBSERVER_PIPE && speech == FIFO && c->pipe == 0)
		why = "knows no --jobserver=pipe";
	if (!*quiet)
		*quiet = warn(c, &launched, version, limiter_name, why);
	return style == JOBSERVER_FIFO || (style == JOBSERVER_BEST && speech != PIPE);
}
