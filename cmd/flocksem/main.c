/* SPDX-License-Identifier: ISC */
/*
 * flocksem - GNU parallel's sem(1), by limiters.
 *
 * It turns sem's words into flocklimit's, and is flocklimit from there on, in the same process.
 * Only --wait is its own, as an id that nobody has used is no error there.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend.h"
#include "commands.h"
#include "flocklimit.h"
#include "sem_habits.h"
#include "jobs.h"
#include "limiter.h"
#include "option.h"
#include "parse.h"
#include "say.h"
#include "store_exec.h"
#include "words.h"

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

enum {
	OPT_ID = 256,
	OPT_FG,
	OPT_BG,
	OPT_WAIT,
	OPT_ST,
	OPT_TIMEOUT,
	OPT_DRY_RUN,
	OPT_NICE,
	OPT_NONE,
	OPT_WORD
};

static const char short_options[] = "+:j:P:a:qkruhV";

static const struct option long_options[] = {
	{ "id", required_argument, NULL, OPT_ID },
	{ "semaphorename", required_argument, NULL, OPT_ID },
	{ "semaphore-name", required_argument, NULL, OPT_ID },
	{ "jobs", required_argument, NULL, 'j' },
	{ "max-procs", required_argument, NULL, 'j' },
	{ "fg", no_argument, NULL, OPT_FG },
	{ "bg", no_argument, NULL, OPT_BG },
	{ "wait", no_argument, NULL, OPT_WAIT },
	{ "st", required_argument, NULL, OPT_ST },
	{ "semaphoretimeout", required_argument, NULL, OPT_ST },
	{ "semaphore-timeout", required_argument, NULL, OPT_ST },
	{ "timeout", required_argument, NULL, OPT_TIMEOUT },
	{ "arg-file", required_argument, NULL, 'a' },
	{ "quote", no_argument, NULL, 'q' },
	{ "nice", required_argument, NULL, OPT_NICE },
	{ "dry-run", no_argument, NULL, OPT_DRY_RUN },
	{ "dryrun", no_argument, NULL, OPT_DRY_RUN },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	/* What is so without them, or means nothing for one command. */
	{ "semaphore", no_argument, NULL, OPT_NONE },
	{ "ungroup", no_argument, NULL, OPT_NONE },
	{ "line-buffer", no_argument, NULL, OPT_NONE },
	{ "linebuffer", no_argument, NULL, OPT_NONE },
	{ "lb", no_argument, NULL, OPT_NONE },
	{ "keep-order", no_argument, NULL, OPT_NONE },
	{ "no-run-if-empty", no_argument, NULL, OPT_NONE },
	{ "will-cite", no_argument, NULL, OPT_NONE },
	{ "no-notice", no_argument, NULL, OPT_NONE },
	{ "gnu", no_argument, NULL, OPT_NONE },
	{ "plain", no_argument, NULL, OPT_NONE },
	{ "env", required_argument, NULL, OPT_WORD },
	{ NULL, 0, NULL, 0 },
};

static const char help[] =
    "Usage: flocksem [OPTION]... COMMAND...\n"
    "       flocksem [--id NAME] --wait\n"
    "Run a shell line when a limiter has room for it, with the words of sem(1).\n"
    "\n"
    "      --id NAME         the limiter (default: the name of the terminal)\n"
    "  -j, --jobs N|+N|-N|N%|FILE   at most N at once (1); +N and -N beside the CPUs,\n"
    "                        N% of the CPUs; or what FILE says; 0: no limit\n"
    "  -P, --max-procs N     the same\n"
    "      --bg              return when COMMAND has its permit and runs (default)\n"
    "      --fg              return when COMMAND has ended, with its status\n"
    "      --wait            wait until all commands of this limiter have ended\n"
    "      --st DUR|-DUR     after DUR start COMMAND above the limit; with a minus,\n"
    "                        give up with status 1\n"
    "      --timeout DUR     end COMMAND when it has run for DUR\n"
    "  -q, --quote           pass the words to COMMAND as they are\n"
    "  -a, --arg-file FILE   COMMAND reads FILE as its standard input\n"
    "      --nice N          run COMMAND with niceness N more\n"
    "      --dry-run         print the line and run nothing\n"
    "  -h, --help            print this help\n"
    "  -V, --version         print the version\n"
    "\n"
    "Other options of sem that have no effect here are accepted: -u, --line-buffer,\n"
    "-k, -r, --env NAME, --semaphore, --will-cite.\n"
    "Exit status: 0 COMMAND runs; with --fg its own; 1 --st was over; 75 the\n"
    "limiter is closed; 125 flocksem failed; 126 or 127 there is no shell to run.\n";

/* ---- options ---- */

static int
wait_at_most(struct sem *s, const char *option, char *word)
{
	uint64_t ns;

	s->give_up = word + (*word == '-');
	if (!parse_duration(s->give_up, &ns))
		return option_bad(option, word, PARSE_DURATION);
	s->starts_anyway = *word != '-' && ns > 0;
	if (ns == 0) /* as sem has it: no end of waiting */
		s->give_up = NULL;
	return OPTION_OK;
}

static int
be_nice(const char *option, const char *word)
{
	bool less = *word == '-';
	uint64_t n;

	if (!parse_number(word + less, 0, 40, &n))
		return option_bad(option, word, "not a niceness: use 0 to 19");
	errno = 0;
	if (nice(less ? -(int)n : (int)n) == -1 && errno != 0)
		return option_bad(option, word, strerror(errno));
	return OPTION_OK;
}

static int
parse_option(struct sem *s, int c, char **argv)
{
	char room[32];
	const char *option = option_name(c, long_options, room);
	uint64_t ns;

	switch (c) {
	case OPT_ID:
		s->id = optarg;
		return OPTION_OK;
	case 'j':
	case 'P':
		return jobs_parse(optarg, &s->limit)
			   ? OPTION_OK
			   : option_bad(option, optarg,
					"not a number of jobs: use N, +N, -N, N%, or a file");
	case OPT_FG:
	case OPT_BG:
		s->foreground = c == OPT_FG;
		return OPTION_OK;
	case OPT_WAIT:
		s->wait = true;
		return OPTION_OK;
	case OPT_ST:
		return wait_at_most(s, option, optarg);
	case OPT_TIMEOUT:
		s->run_timeout = optarg;
		return parse_duration(optarg, &ns) ? OPTION_OK
						   : option_bad(option, optarg, PARSE_DURATION);
	case 'a':
		s->stdin_file = optarg;
		return OPTION_OK;
	case 'q':
		s->quote = true;
		return OPTION_OK;
	case OPT_DRY_RUN:
		s->dry_run = true;
		return OPTION_OK;
	case OPT_NICE:
		return be_nice(option, optarg);
	case ':':
	case '?':
		return option_refuse(c, argv, long_options, sem_habits);
	default:
		return OPTION_OK;
	}
}

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
	int c, status;

	opterr = 0;
	while ((c = getopt_long(argc, argv, short_options, long_options, NULL)) != -1) {
		if (c == 'h')
			return option_print(help);
		if (c == 'V')
			return option_print("flocksem " VERSION "\n");
		if ((status = parse_option(s, c, argv)) != OPTION_OK)
			return status;
	}
	s->words = argv + optind;
	if (!s->wait && *s->words == NULL) {
		say(NULL, "no command to run: see flocksem --help");
		return OPTION_BAD;
	}
	/* As tty(1) has it, whose words sem takes for the id.  There is one thread. */
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

	error = backend_attach(&limiter, name, &options);
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

	if ((status = store_exec(&w, argv)) != -1)
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
