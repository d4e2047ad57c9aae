/* SPDX-License-Identifier: ISC */
/*
 * flocksem - GNU parallel's sem(1), by limiters.
 *
 * It turns sem's words into flocklimit's, and is flocklimit from there on, in the same process.
 * Only --wait is its own, as an id that nobody has used is no error there.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "files.h"
#include "commands.h"
#include "flocklimit.h"
#include "sem_habits.h"
#include "jobs.h"
#include "limiter.h"
#include "option.h"
#include "parse.h"
#include "say.h"
#include "words.h"

const struct kind here = { KIND_OF_FILES };

#define FAILED 125

/*
 * What follows an id in the name of the limiter for those that started above the limit.  No id gives
 * such a name: words_name() writes two digits behind each '%'.
 */
#define OVERFLOW "%st"

/* What parallel gives a command between its TERM and its KILL. */
#define TERM_TO_KILL "350ms"

struct sem {
	char name[WORDS_NAME], overflow[WORDS_NAME + sizeof(OVERFLOW)];
	const char *id, *stdin_file;
	char *give_up, *run_timeout;
	uint32_t limit;
	bool foreground, wait, quote, dry_run, starts_anyway;
	char **words;
};

/* ---- options ---- */

static int
take_patience(const struct option_row *row, void *into, const char *option, char *word)
{
	struct sem *s = into;
	uint64_t ns;

	(void)row;
	s->give_up = word + (*word == '-');
	if (!parse_duration(s->give_up, &ns))
		return option_bad(option, word, PARSE_DURATION);
	s->starts_anyway = *word != '-' && ns > 0;
	if (ns == 0) /* as sem has it: no end of waiting */
		s->give_up = NULL;
	return OPTION_OK;
}

static int
take_nice(const struct option_row *row, void *into, const char *option, char *word)
{
	bool less = *word == '-';
	uint64_t n;

	(void)row;
	(void)into;
	if (!parse_number(word + less, 0, 40, &n))
		return option_bad(option, word, "not a niceness: use 0 to 19");
	errno = 0;
	if (nice(less ? -(int)n : (int)n) == -1 && errno != 0)
		return option_bad(option, word, strerror(errno));
	return OPTION_OK;
}

/* As sem has it, the last of --fg and --bg counts. */
static int
take_place(const struct option_row *row, void *into, const char *option, char *word)
{
	(void)option;
	(void)word;
	((struct sem *)into)->foreground = row->name[0] == 'f';
	return OPTION_OK;
}

static int
take_jobs(const struct option_row *row, void *into, const char *option, char *word)
{
	return jobs_parse(word, &((struct sem *)into)->limit)
		   ? OPTION_OK
		   : option_bad(option, word, row->wrong);
}

static int
take_run_timeout(const struct option_row *row, void *into, const char *option, char *word)
{
	uint64_t ns;

	return parse_duration(word, &ns) ? take_text(row, into, option, word)
					 : option_bad(option, word, PARSE_DURATION);
}

#define TO(member)  .at = offsetof(struct sem, member)
#define YES(member) .take = take_yes, TO(member)

/* clang-format off */
static const struct option_row rows[] = {
	{ .name = "id", .value = "NAME", .take = take_text, TO(id), .offers = "@ids",
	  .help = "the limiter (default: the name of the terminal)" },
	{ .name = "semaphorename", .value = "NAME", .is = "id" },
	{ .name = "semaphore-name", .value = "NAME", .is = "id" },
	{ .name = "jobs", .letters = "j", .value = "N|+N|-N|N%|FILE", .take = take_jobs, .offers = "1 2 4 8 16 +0 -1 50% 100% @files",
	  .wrong = "not a number of jobs: use N, +N, -N, N%, or a file",
	  .help = "at most N at once (1); +N and -N beside the CPUs,\n"
	          "N% of the CPUs; or what FILE says; 0: no limit" },
	{ .name = "max-procs", .letters = "P", .value = "N", .is = "jobs", .help = "the same" },
	{ .name = "bg", .take = take_place, .help = "return when COMMAND has its permit and runs (default)" },
	{ .name = "fg", .take = take_place, .help = "return when COMMAND has ended, with its status" },
	{ .name = "wait", YES(wait), .help = "wait until all commands of this limiter have ended" },
	{ .name = "st", .value = "DUR|-DUR", .take = take_patience,
	  .offers = "1s 10s 1m 10m 1h -1s -10s -1m -10m -1h",
	  .help = "after DUR start COMMAND above the limit; with a minus,\n"
	          "give up with status 1" },
	{ .name = "semaphoretimeout", .value = "DUR", .is = "st" },
	{ .name = "semaphore-timeout", .value = "DUR", .is = "st" },
	{ .name = "timeout", .value = "DUR", .take = take_run_timeout, TO(run_timeout), .offers = "@times",
	  .help = "end COMMAND when it has run for DUR" },
	{ .name = "quote", .letters = "q", YES(quote), .help = "pass the words to COMMAND as they are" },
	{ .name = "arg-file", .letters = "a", .value = "FILE", .take = take_text, TO(stdin_file), .offers = "@files",
	  .help = "COMMAND reads FILE as its standard input" },
	{ .name = "nice", .value = "N", .take = take_nice, .offers = "5 10 19",
	  .help = "run COMMAND with niceness N more" },
	{ .name = "dry-run", YES(dry_run), .help = "print the line and run nothing" },
	{ .name = "dryrun", .is = "dry-run" },
	{ .name = "help", .letters = "h", .help = "print this help" },
	{ .name = "version", .letters = "V", .help = "print the version" },
	/* What is so without them, or means nothing for one command. */
	{ .name = "semaphore" },
	{ .name = "ungroup", .letters = "u" },
	{ .name = "line-buffer" },
	{ .name = "linebuffer" },
	{ .name = "lb" },
	{ .name = "keep-order", .letters = "k" },
	{ .name = "no-run-if-empty", .letters = "r" },
	{ .name = "will-cite" },
	{ .name = "no-notice" },
	{ .name = "gnu" },
	{ .name = "plain" },
	{ .name = "env", .value = "NAME" },
	{ .name = NULL },
};
/* clang-format on */

static const struct command_line command_line = {
	.usage = "Usage: flocksem [OPTION]... COMMAND...\n"
		 "       flocksem [--id NAME] --wait\n"
		 "Run a shell line when a limiter has room for it, with the words of sem(1).\n",
	.rows = { rows },
	.habits = sem_habits,
	.more = "Other options of sem that have no effect here are accepted: -u, --line-buffer,\n"
		"-k, -r, --env NAME, --semaphore, --will-cite.\n"
		"Exit status: 0 COMMAND runs; with --fg its own; 1 --st was over; 75 the\n"
		"limiter is closed; 125 flocksem failed; 126 or 127 there is no shell to run.\n",
};

/* It is found here, and not after the wait, that the command could not start above the limit. */
static int
check_overflow(const struct sem *s)
{
	const char *store = getenv("FLOCKLIMIT_STORE");

	if (store != NULL && *store != '\0')
		return option_bad("--st", s->give_up,
				  "no store starts a command above its limit: to give up waiting "
				  "use a minus");
	if (*s->overflow == '\0')
		return option_bad("--id", s->id, "with --st use at most 61 characters");
	return OPTION_OK;
}

static int
parse(struct sem *s, int argc, char **argv)
{
	struct given given = { .n = 0 };
	int status = options_read(&command_line, s, &given, argc, argv);

	if (status != OPTION_OK)
		return status;
	s->words = argv + optind;
	if (!s->wait && *s->words == NULL) {
		say(NULL, "no command to run: see flocksem --help");
		return OPTION_BAD;
	}
	/* GNU sem uses what tty(1) prints as the id, and so do we.  There is one thread. */
	/* cppcheck-suppress ttynameCalled */
	if (s->id == NULL && (s->id = ttyname(STDIN_FILENO)) == NULL)
		s->id = "not a tty";
	if (!words_name(s->id, s->name))
		return option_bad("--id", s->id, "not an id: use 1 to 64 characters");
	if (strlen(s->name) + strlen(OVERFLOW) <= FLK_NAME_MAX)
		snprintf(s->overflow, sizeof(s->overflow), "%s%s", s->name, OVERFLOW);
	return s->starts_anyway ? check_overflow(s) : OPTION_OK;
}

/* ---- --wait ---- */

static int
wait_until_idle(const char *name)
{
	struct taker_options w = { .limiter = name };
	struct flk_options options = { .existing = true };
	struct flk *limiter = NULL;
	struct flk_taker *t = NULL;
	int error;

	error = here.attach(&limiter, name, &options);
	if (error == -ENOENT)
		return 0;
	if (error == 0)
		error = flk_taker_new(&t, limiter);
	if (error == 0)
		error = flk_wait_idle(t, NULL);
	if (error != 0)
		return limiter_refuse(&w, name, limiter, error);
	flk_taker_free(t);
	flk_detach(limiter);
	return 0;
}

static int
wait_for_all(struct sem *s)
{
	struct taker_options w = { .limiter = s->name };
	char ctl[] = "flocklimitctl", verb[] = "wait", *argv[] = { ctl, verb, s->name, NULL };
	int status;

	if ((status = here.choose(&w, argv)) != -1)
		return status;
	/* Those that wait in the first may go over to the second, and none comes back. */
	status = wait_until_idle(s->name);
	return status == 0 && *s->overflow != '\0' ? wait_until_idle(s->overflow) : status;
}

/* ---- the command ---- */

static char *
shell(void)
{
	char *sh = getenv("PARALLEL_SHELL");

	if (sh == NULL || *sh == '\0')
		sh = getenv("SHELL");
	return sh != NULL && *sh != '\0' ? sh : (char *)(uintptr_t) "/bin/sh";
}

static int
read_from(const char *path)
{
	int fd = open(path, O_RDONLY);

	if (fd == -1 || (fd != STDIN_FILENO && dup2(fd, STDIN_FILENO) == -1)) {
		say(NULL, "%s: %s", path, strerror(errno));
		return FAILED;
	}
	if (fd != STDIN_FILENO)
		close(fd);
	return OPTION_OK;
}

static int
run(struct sem *s)
{
	char limit[16], *argv[24], *line = words_line(s->words, s->quote);
	int n = 0, status;

	if (line == NULL) {
		say(NULL, "no memory for the line");
		return FAILED;
	}
	if (s->dry_run) {
		status = puts(line) == EOF || fflush(stdout) == EOF ? FAILED : 0;
		free(line);
		return status;
	}
	if (!s->foreground && getpid() == 1) {
		say(NULL, "process 1 cannot return before its command, which would end with it: "
			  "use --fg");
		return FAILED;
	}
	if (s->stdin_file != NULL && (status = read_from(s->stdin_file)) != OPTION_OK)
		return status;
	snprintf(limit, sizeof(limit), "%u", s->limit);
#define ADD(word) (argv[n++] = (char *)(uintptr_t)(word))
	ADD("flocklimit");
	ADD("-N");
	ADD(s->name);
	ADD("-n");
	ADD(limit);
	/* sem knows nothing of the permit that it runs under. */
	ADD("--nested=queue");
	if (!s->foreground)
		ADD("--background=stdin");
	if (s->give_up != NULL) {
		ADD("-t");
		ADD(s->give_up);
		ADD("-E");
		ADD("1");
	}
	if (s->run_timeout != NULL) {
		ADD("-T");
		ADD(s->run_timeout);
		ADD("-k");
		ADD(TERM_TO_KILL);
	}
	ADD("--");
	ADD(shell());
	ADD("-c");
	ADD(line);
#undef ADD
	if (s->starts_anyway)
		flocklimit_overflow = s->overflow;
	argv[n] = NULL;
	optind = 0; /* getopt(3) begins anew */
	return flocklimit_main(n, argv);
}

int
main(int argc, char **argv)
{
	static struct sem s = { .limit = 1 };
	int status;

	say_program = "flocksem";
	if ((status = parse(&s, argc, argv)) != OPTION_OK)
		return status;
	return s.wait ? wait_for_all(&s) : run(&s);
}
