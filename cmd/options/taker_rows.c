/* SPDX-License-Identifier: ISC */
/*
 * taker_rows.c - the options that flocklimit and flockmap share.
 */
#include "taker_rows.h"

#include <string.h>

#include "and_option.h"
#include "fair.h"
#include "flocklimit.h"
#include "pace.h"
#include "parse.h"
#include "request.h"
#include "seats.h"
#include "taker_options.h"
#include "units.h"

static int
take_name(const struct option_row *row, void *into, const char *option, char *word)
{
	if (*word == '\0' || strchr(word, '/') != NULL)
		return option_bad(option, word, "not a name: for a path use --file");
	if (*word == '-')
		return option_bad(option, word, "not a name: it must not begin with a hyphen");
	return take_text(row, into, option, word);
}

static int
take_path(const struct option_row *row, void *into, const char *option, char *word)
{
	return *word == '\0' ? option_bad(option, word, "not a path")
			     : take_text(row, into, option, word);
}

static int
take_mode(const struct option_row *row, void *into, const char *option, char *word)
{
	struct taker_options *w = into;
	uint32_t mode;

	(void)row;
	if (!parse_octal(word, 0777, &mode) || (mode & 0600) != 0600 || (mode & 02) != 0)
		return option_bad(option, word, "not a mode: use 0600 to 0775, say 0660");
	w->mode = (mode_t)mode;
	return OPTION_OK;
}

static int
take_and(const struct option_row *row, void *into, const char *option, char *word)
{
	(void)row;
	(void)option;
	return and_option_add(&((struct taker_options *)into)->ands, word);
}

static int
take_nonblock(const struct option_row *row, void *into, const char *option, char *word)
{
	(void)row;
	(void)option;
	(void)word;
	((struct taker_options *)into)->timeout_ns = 0;
	return OPTION_OK;
}

static int
take_queue(const struct option_row *row, void *into, const char *option, char *word)
{
	((struct taker_options *)into)->request.limit_queue = true;
	return take_number(row, into, option, word);
}

/* A part of the limiter's pace. */
static int
take_setting(const struct option_row *row, void *into, const char *option, char *word)
{
	((struct taker_options *)into)->which |= row->setting;
	return take_parsed(row, into, option, word);
}

/* Bare, it is by user. */
static int
take_fair(const struct option_row *row, void *into, const char *option, char *word)
{
	struct taker_options *w = into;

	(void)row;
	w->which |= FLK_SET_FAIR;
	return fair_parse(word != NULL ? word : "user", &w->to.fair)
		   ? OPTION_OK
		   : option_bad(option, word, FAIR_WRONG);
}

static int
take_key(const struct option_row *row, void *into, const char *option, char *word)
{
	if (*word == '\0' || !flki_key_is_sane(word))
		return option_bad(option, word,
				  "not a key: use 1 to 31 letters and digits, say web");
	return take_text(row, into, option, word);
}

/* As timeout(1) has it, 0 is no limit. */
static int
take_time_above_0(const struct option_row *row, void *into, const char *option, char *word)
{
	uint64_t *ns = (void *)((char *)into + row->at);
	int status = take_time(row, into, option, word);

	if (status != OPTION_OK || *ns > 0)
		return status;
	*ns = NEVER;
	return OPTION_NOT;
}

#define TO(member) .at = offsetof(struct taker_options, member)

static const char one_order[] = "in a store, the line has one order";

/* The six of every day come first. */
/* clang-format off */
const struct option_row taker_rows[] = {
	{ .name = "limit", .letters = "nj", .value = "N|N%", .take = take_limit, .offers = "1 2 4 8 16 50% 100%",
	  .help = "at most N units at once, or per cent of the CPUs" },
	{ .name = "weight", .letters = "w", .value = "W", .take = take_weight,
	  .help = "COMMAND takes W units (1); MIN-MAX: what is free then" },
	{ .name = "name", .letters = "N", .value = "NAME", .take = take_name, TO(name), .offers = "@limiters", .instead = "file",
	  .help = "the limiter (default: $FLOCKLIMIT_NAME, or the last\n"
	          "part of COMMAND's path)" },
	{ .name = "timeout", .letters = "t", .value = "DUR", .take = take_time, TO(timeout_ns), .offers = "@times", .instead = "nonblock",
	  .help = "give up waiting after DUR; 0: do not wait" },
	{ .name = "nonblock", .take = take_nonblock, .instead = "timeout", .help = "the same as -t 0" },
	{ .name = "file", .letters = "f", .value = "PATH", .take = take_path, TO(file), .offers = "@files",
	  .help = "the limiter kept in PATH" },
	{ .name = "mode", .value = "OCTAL", .take = take_mode, .offers = "0600 0660",
	  .help = "permissions of a new file, 0660 to share with a group",
	  .not_in_store = "a store has no file modes" },
	{ .name = "jobs", .value = "N|N%", .is = "limit", .help = "the same as --limit" },
	{ .name = "and", .value = "NAME[=W[/N]]", .take = take_and, .many = true, .offers = "@limiters",
	  .help = "take W units (1) of this limiter, too; repeatable",
	  .not_in_store = "a store's permit is of one limiter" },
	{ .name = "max-queue", .value = "M", .take = take_queue, TO(request.max_queue), .most = FLK_MAX_UNITS,
	  .wrong = "not a number of takers: use 0 or more",
	  .help = "give up now rather than wait behind M others" },
	{ .name = "yield", .value = "K", .take = take_number, TO(request.yield), .most = FLK_MAX_UNITS,
	  .wrong = "not a number of takers: use 0 or more, say 10",
	  .help = "let up to K takers that arrive later go first (0)",
	  .not_in_store = one_order },
	{ .name = "fair", .value = "[=user|session|key|off]", .take = take_fair, .offers = "user session key off",
	  .help = "serve users, sessions or keys in turn\n"
	          "(belongs to the limiter)" },
	{ .name = "key", .value = "WORD", .take = take_key, TO(request.key),
	  .help = "--fair=key: the key of this taker" },
	{ .name = "share", .value = "S", .take = take_number, TO(request.share), .least = 1, .most = FLK_MAX_SHARE,
	  .wrong = "not a share: use 1 to 1000",
	  .help = "fair: as many units in a turn as S others get (1)" },
	{ .name = "not-seat", .value = "LIST", .take = take_parsed, .parse = seats_parse, TO(request.not_seats),
	  .wrong = SEATS_LIST,
	  .help = "take none of these seats, say 0,3 or 0-3",
	  .not_in_store = "a store takes the smallest seat" },
	{ .name = "rate", .value = "N/DUR[:BURST]", .take = take_setting, .parse = pace_parse_rate, .setting = FLK_SET_RATE,
	  TO(to.pace), .wrong = PACE_RATE,
	  .offers = "1/s 10/s 30/m 60/m 100/h off",
	  .help = "at most N starts per DUR, all takers together" },
	{ .name = "stagger", .value = "DUR", .take = take_setting, .parse = pace_parse_stagger, .setting = FLK_SET_STAGGER,
	  TO(to.pace), .wrong = PACE_STAGGER, .offers = "100ms 1s 10s off",
	  .help = "at least DUR between two starts" },
	{ .name = "ramp", .value = "FROM+STEP/DUR", .take = take_setting, .parse = pace_parse_ramp, .setting = FLK_SET_RAMP,
	  TO(to.pace), .wrong = PACE_RAMP,
	  .offers = "1+1/1s 1+1/30s 1+1/1m off",
	  .help = "begin with FROM units, add STEP each DUR\n"
	          "(these three belong to the limiter; off removes one)" },
	{ .name = "ramp-idle", .value = "DUR", .take = take_time, TO(to.pace.ramp_idle_ns),
	  .offers = "@times",
	  .help = "ramp again after DUR without a holder (1m)" },
	{ .name = "when", .value = "COND,...", .take = take_text, TO(when),
	  .help = "start only while the machine has room, as in mem>4G,\n"
	          "psi.io<20, running<16 or disk:/tmp>10G; also the\n"
	          "limiter's; off removes it", .not_in_store = "a store has no gate" },
	{ .name = "settle", .value = "DUR", .take = take_time, TO(to.gate.settle_ns), .offers = "0 1s 2s 5s 10s",
	  .help = "look again only DUR after the last start (2s)" },
	{ .name = "gate-patience", .value = "DUR|never", .take = take_parsed, .parse = parse_patience, TO(to.gate.patience_ns),
	  .wrong = PARSE_PATIENCE, .offers = "10s 1m 10m never",
	  .help = "start anyway when nothing has run for DUR (1m)" },
	{ .name = "when-run", .value = "LINE", .take = take_text, TO(when_run), .offers = "@lines",
	  .help = "start only when sh -c LINE exits with 0", .not_in_store = "a store has no gate" },
	{ .name = "store", .value = "URL", .take = take_text, TO(store.url),
	  .help = "keep the limiter in a store, for many machines:\n"
	          "see flocklimit-store(7)" },
	{ .name = "ttl", .value = "DUR", .take = take_text, TO(store.ttl), .offers = "5s 10s 30s 60s 5m",
	  .help = "store: a taker is dead after DUR without contact (10s)", .only_in_store = true },
	{ .name = "grace", .value = "DUR", .take = take_text, TO(store.grace), .offers = "10s 30s 60s 5m",
	  .help = "store: then keep its permit for DUR (the shortest safe)", .only_in_store = true },
	{ .name = "on-lost", .value = "=kill|warn", .take = take_text, TO(store.on_lost), .offers = "kill warn",
	  .help = "store: when COMMAND loses its permit (kill)", .only_in_store = true },
	{ .name = "reclaim", .value = "=auto|manual", .take = take_text, TO(store.reclaim), .offers = "auto manual",
	  .help = "store: a dead taker's permit passes on by itself\n"
	          "(default), or when an operator breaks it", .only_in_store = true },
	{ .name = "local", .value = "N", .take = take_text, TO(store.local), .offers = "1 2 4 8 16",
	  .help = "store: also at most N units on this machine", .only_in_store = true },
	{ .name = "conflict-exit-code", .letters = "E", .value = "C", .take = take_number, TO(conflict_exit),
	  .most = 255, .wrong = "not an exit status: use 0 to 255",
	  .help = "exit status when there is no permit (75)" },
	{ .name = "run-timeout", .letters = "T", .value = "DUR", .take = take_time_above_0, TO(run_timeout_ns),
	  .offers = "@times", .help = "end COMMAND when it has run for DUR," },
	{ .name = "signal", .letters = "s", .value = "SIG", .take = take_parsed, .parse = parse_signal, TO(signal),
	  .wrong = "not a signal: use a name or a number", .offers = "@signals",
	  .help = "with SIG (TERM)," },
	{ .name = "kill-after", .letters = "k", .value = "DUR", .take = take_time_above_0, TO(kill_after_ns),
	  .offers = "@times", .help = "and with KILL after another DUR" },
	{ .name = "nested", .value = "=join|queue", .take = take_choice, TO(nested), .offers = "join queue",
	  .help = "under a permit of this limiter: join it (default),\n"
	          "or queue for another" },
	{ .name = NULL },
};
/* clang-format on */
