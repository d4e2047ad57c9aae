/* SPDX-License-Identifier: ISC */
#include "limiter.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "kind.h"
#include "explain.h"
#include "fair.h"
#include "find_program.h"
#include "option.h"
#include "pace.h"
#include "question.h"
#include "say.h"
#include "seats.h"
#include "stuck.h"

uint32_t
limiter_declared(const struct taker_options *w, const struct flk *f)
{
	return w->request.limit != 0 ? w->request.limit : f != NULL ? flk_declared(f) : 0;
}

int
limiter_refuse(const struct taker_options *w, const char *name, struct flk *f, int code)
{
	const char *limiter = w->limiter;
	char path[PATH_MAX + 100] = "", text[FOREIGN_TEXT], why[STUCK_TEXT], seats[SEATS_TEXT];
	const char *at = path, *colon = ": ";

	if (here.locate(name, path, sizeof(path)) != 0)
		snprintf(path, sizeof(path), "%s", limiter);
	/* The line begins with the limiter: a path that the user gave needs no repetition. */
	if (strcmp(path, limiter) == 0)
		at = colon = "";

	switch (-code) {
	case FLK_BADNAME:
		say(NULL, "--name '%s': %s", limiter, explain(code));
		break;
	case FLK_HEAVY:
		if (w->request.not_seats != 0 && w->request.weight <= limiter_declared(w, f))
			say(limiter,
			    "--not-seat %s leaves too few seats of %" PRIu32 " for -w %" PRIu32
			    ": it could never run; exclude fewer",
			    seats_ranges(w->request.not_seats, seats), limiter_declared(w, f),
			    w->request.weight);
		else
			say(limiter,
			    "-w %" PRIu32 " is above the limit of %" PRIu32 ": it could never run; "
			    "raise the limit with -n; for flock's -w use -t",
			    w->request.weight, limiter_declared(w, f));
		break;
	case FLK_STUCK:
		say(limiter, "%s", stuck_text(f != NULL ? flk_stuck_pid(f) : 0, why));
		break;
	case EMFILE:
	case ENFILE:
		say(limiter, "no file descriptors left: raise ulimit -n");
		break;
	case ENOSPC:
	case EDQUOT:
		say(limiter, "%s%sno space left on its file system: free some", at, colon);
		break;
	case ENOMEM:
		say(limiter, "no memory to map the limiter: raise ulimit -v");
		break;
	case FLK_FOREIGNDIR:
		say(limiter, "%s", say_foreign_dir(path, text));
		break;
	case ENOENT:
	case ENOTDIR:
	case EACCES:
	case EPERM:
	case EROFS:
		say(limiter,
		    "%s%s%s: choose another path with --file, or another directory with "
		    "FLOCKLIMIT_DIR",
		    at, colon, strerror(-code));
		break;
	default:
		say(limiter, "%s%s%s%s", at, colon, explain(code), remedy_for(-code));
		break;
	}
	return 125;
}

int
limiter_name(const struct taker_options *w, char name[LIMITER_NAME])
{
	size_t n = 0;

	if (w->file == NULL) {
		if ((size_t)snprintf(name, LIMITER_NAME, "%s", w->limiter) >= LIMITER_NAME)
			return -FLK_BADNAME;
		return 0;
	}
	if (w->file[0] != '/') {
		if (getcwd(name, PATH_MAX) == NULL)
			return -errno;
		n = strlen(name);
		name[n++] = '/';
	}
	if ((size_t)snprintf(name + n, LIMITER_NAME - n, "%s", w->file) >= LIMITER_NAME - n)
		return -ENAMETOOLONG;
	return 0;
}

const char *
limiter_for_command(const char *name, char room[LIMITER_NAME])
{
	return !here.is_file && here.locate(name, room, LIMITER_NAME) == 0 ? room : name;
}

int
limiter_attach(struct flk **limiter, const char *name, struct flk_options *options,
	       const char *program, int *cannot_run)
{
	int error = -ENOENT;

	options->existing = program != NULL && here.is_file;
	if (options->existing)
		error = here.attach(limiter, name, options);
	if (error != -ENOENT)
		return error;
	if (program != NULL && (*cannot_run = check_program(program)) != 0)
		return -ECANCELED;
	options->existing = false;
	return here.attach(limiter, name, options);
}

void
limiter_count_units(struct taker_options *w)
{
	if (w->percent != 0)
		w->request.limit = flk_cpus(w->percent);
	if (w->weight_percent != 0)
		w->request.weight = flk_cpus(w->weight_percent);
	if (w->most_percent != 0)
		w->request.most = flk_cpus(w->most_percent);
	/* With 2-50% where 50% is one CPU. */
	if (w->request.most < w->request.weight)
		w->request.most = w->request.weight;
}

const char *
limiter_keeps(const struct taker_options *w, const struct flk_place *place, char room[KEEPS_TEXT])
{
	const struct flk_pace *pace = &place->set.pace;
	unsigned parts = pace_parts(pace) & ~w->which;
	char text[PACE_TEXT];

	*room = '\0';
	if (place->next_start_ns != 0 && parts != 0)
		snprintf(room, KEEPS_TEXT, " (the limiter's %s)", pace_text(pace, parts, text));
	else if (place->next_start_ns == 0 && *place->gated.when != '\0' && w->when == NULL)
		snprintf(room, KEEPS_TEXT, " (the limiter's gate)");
	return room;
}

int
limiter_read_gate(struct taker_options *w)
{
	char why[200];

	if (w->when == NULL)
		return OPTION_OK;
	w->which |= FLK_SET_GATE;
	if (strcmp(w->when, "off") == 0 || *w->when == '\0')
		return OPTION_OK;
	if (flk_gate_check(w->when, why, sizeof(why)) != 0) {
		say(NULL, "--when %s", why);
		return OPTION_BAD;
	}
	snprintf(w->to.gate.when, sizeof(w->to.gate.when), "%s", w->when);
	return OPTION_OK;
}

static bool
gate_is_so(const struct flk_gate *a, const struct flk_gate *b)
{
	return strcmp(a->when, b->when) == 0 &&
	       (*a->when == '\0' ||
		(a->settle_ns == b->settle_ns && a->patience_ns == b->patience_ns));
}

int
limiter_set(const struct taker_options *w, struct flk *limiter)
{
	struct flk_settings now;
	unsigned which = w->which;
	int error;

	if (which == 0)
		return 0;
	if (here.declares != NULL) {
		here.declares(limiter, which, &w->to);
		return 0;
	}
	if ((error = flk_get(limiter, &now)) != 0)
		return error;
	if (pace_is_so(&w->to.pace, &now.pace, which))
		which &= ~(unsigned)FLK_SET_PACE;
	if (gate_is_so(&w->to.gate, &now.gate))
		which &= ~(unsigned)FLK_SET_GATE;
	if (w->to.fair == now.fair)
		which &= ~(unsigned)FLK_SET_FAIR;
	return which != 0 ? flk_set(limiter, which, &w->to) : 0;
}

void
limiter_say_unfair(const struct taker_options *w, struct flk *limiter)
{
	bool asks = w->request.key != NULL || w->request.share != 0;
	struct flk_settings now = { .fair = FLK_FAIR_OFF };
	const char *text;

	/* Of the limiters of --and, one may be fair; and a store says it when the taker takes. */
	asks &= w->ands.n == 0 && here.declares == NULL;
	if ((!asks && w->request.yield == 0) || (limiter != NULL && flk_get(limiter, &now) != 0))
		return;
	if ((w->which & FLK_SET_FAIR) != 0)
		now.fair = w->to.fair;
	if (now.fair != FLK_FAIR_OFF && w->request.yield > 0)
		say(w->limiter,
		    "--yield has no effect: the limiter is fair, and its line in the order "
		    "of turns");
	text = fair_without_effect(now.fair, w->request.key != NULL, w->request.share != 0);
	if (asks && text != NULL)
		say(w->limiter, "%s", text);
}

void
limiter_ask(const struct taker_options *w, const struct heritage *heritage,
	    struct flk_request *want, struct question *q)
{
	if (w->when_run == NULL)
		return;
	*q = (struct question){
		.limiter = w->limiter, .line = w->when_run, .heritage = heritage, .deadline = NEVER
	};
	want->ask = question_ask;
	want->ask_context = q;
	want->ask_patience_ns = w->to.gate.patience_ns > 0 ? w->to.gate.patience_ns : 1;
}

bool
limiter_weight_differs(const struct taker_options *w, const struct flk_permit *permit)
{
	return w->weight_given &&
	       (permit->weight < w->request.weight || permit->weight > w->request.most);
}

/* Appends an option to a list of which it is the first, one in between, or the last. */
static void
list_option(char *words, size_t size, int *left, const char *option, const char *value)
{
	size_t n = strlen(words);

	snprintf(words + n, size - n, "%s %s%s", option, value,
		 *left > 2    ? ", "
		 : *left == 2 ? " and "
			      : "");
	--*left;
}

void
limiter_joined(const struct taker_options *w, const struct flk_permit *permit)
{
	bool n = w->limit_given && w->request.limit != permit->limit;
	bool weight = limiter_weight_differs(w, permit);
	bool seats =
	    (w->request.not_seats & (permit->seats | UINT64_C(1) << permit->seat % 64)) != 0;
	bool key = w->request.key != NULL, share = w->request.share != 0;
	int count = n + weight + (w->request.yield > 0) + key + share + seats, left = count;
	char words[260 + SEATS_TEXT] = "", number[16], list[SEATS_TEXT];

	snprintf(number, sizeof(number), "%" PRIu32, w->request.limit);
	if (n)
		list_option(words, sizeof(words), &left, "-n", number);
	if (weight)
		list_option(words, sizeof(words), &left, "-w", w->weight_word);
	snprintf(number, sizeof(number), "%" PRIu32, w->request.yield);
	if (w->request.yield > 0)
		list_option(words, sizeof(words), &left, "--yield", number);
	if (key)
		list_option(words, sizeof(words), &left, "--key", w->request.key);
	snprintf(number, sizeof(number), "%" PRIu32, w->request.share);
	if (share)
		list_option(words, sizeof(words), &left, "--share", number);
	if (seats)
		list_option(words, sizeof(words), &left, "--not-seat",
			    seats_ranges(w->request.not_seats, list));
	if (w->when_run != NULL)
		say(w->limiter, "--when-run has no effect: this command joins the permit that it "
				"runs under");
	if (count > 0)
		say(w->limiter,
		    "%s %s no effect: this command joins the permit that it runs under; "
		    "for a limit of its own use another -N",
		    words, count > 1 ? "have" : "has");
}
