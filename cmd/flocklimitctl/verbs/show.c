/* SPDX-License-Identifier: ISC */
/*
 * show.c - the verb show: holders and waiters, and why the head does not run.
 */
#include "ctl.h"

#include <inttypes.h>
#include <limits.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kind.h"
#include "estimate.h"
#include "fair.h"
#include "json.h"
#include "limiter_state.h"
#include "limiters.h"
#include "now.h"
#include "own.h"
#include "gate.h"
#include "pace.h"
#include "process.h"
#include "processes.h"
#include "text.h"

/* One limiter to be shown: a snapshot, and the processes of nearly the same moment. */
struct view {
	const struct ctl *c;
	const char *name;
	struct flk *f;
	const struct flk_snapshot *s;
	struct processes *processes; /* NULL: not known */
	uint32_t local;              /* see waiting_local() */
};

/*
 * How many takers of a store wait here for --local: they stand in the line of this machine's limiter
 * of that name, and the store knows nothing of them.  Takers without a store stand there, too.
 */
static uint32_t
waiting_local(const char *name)
{
	struct flk_snapshot *s;
	const struct flk_entry *e;
	struct flk *f;
	uint32_t n = 0, i;

	if (here.is_file || flk_attach(&f, name, &existing) != 0)
		return 0;
	if (flk_snapshot(f, &s) == 0) {
		for (i = 0; i < s->waiters; i++) {
			e = &s->entry[s->holders + i];
			n += here.operating->belongs(f, e, e->pid) == 1;
		}
		free(s);
	}
	flk_detach(f);
	return n;
}

/* ---- as text ---- */

#define REMARK 40

/* Each search looks at all processes.  A file may claim thousands of holders whose takers have died. */
#define MOST_SOUGHT 32

static const char *
remark(const struct view *v, const struct flk_entry *e, char room[REMARK])
{
	const char *how;

	if (e->holds && outlived(e))
		return " (outlived its flocklimit)";
	if (e->silent)
		return " (silent)";
	how = processes_suspended(v->processes, e);
	if (how == NULL)
		return "";
	snprintf(room, REMARK, " (%s)", how);
	return room;
}

/* The processes that must end before the orphan's permit is free. */
static void
print_heirs(const struct view *v, const struct flk_entry *e)
{
	char command[FLK_COMMAND], text[VISIBLE(FLK_COMMAND)];
	pid_t heir[HEIRS];
	size_t n = flki_heirs(v->f, e->slot, heir, HEIRS), i;

	if (n == 0)
		printf("  ticket %" PRIu64 " is kept by processes that can't be seen from here\n",
		       e->ticket);
	for (i = 0; i < n; i++)
		printf("  ticket %" PRIu64 " is kept by pid %d: %s\n", e->ticket, (int)heir[i],
		       visible(process_command(heir[i], command, sizeof(command)), text,
			       sizeof(text)));
}

/* Whether any of these is on another machine: then the table has a column for machines. */
static bool
abroad(const struct flk_entry *e, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		if (e[i].host != NULL)
			return true;
	return false;
}

static void
host_cell(struct table *t, const struct flk_entry *e)
{
	const char *host = e->host != NULL ? e->host : kind_machine();
	char text[VISIBLE(HOST)];

	table_cell(t, "%s", visible(host != NULL ? host : "", text, sizeof(text)));
}

static void
print_holders(const struct view *v)
{
	const struct flk_snapshot *s = v->s;
	char held[32], user[USER_TEXT], command[VISIBLE(FLK_COMMAND)], seats[SEATS_TEXT];
	char more[MORE_TEXT], remarked[REMARK];
	bool hosts = abroad(s->entry, s->holders);
	struct table *t = table_new(hosts ? ">TICKET|>WEIGHT|>SEAT|HOST|>PID|USER|>HELD|COMMAND"
					  : ">TICKET|>WEIGHT|>SEAT|>PID|USER|>HELD|COMMAND");
	uint32_t i;

	for (i = 0; i < s->holders; i++) {
		const struct flk_entry *e = &s->entry[i];
		table_cell(t, "%" PRIu64, e->ticket);
		table_cell(t, "%u", e->weight);
		table_cell(t, "%s", seats_of_permit(e->seats, e->seat, seats));
		if (hosts)
			host_cell(t, e);
		table_cell(t, "%d", e->pid);
		table_cell(t, "%s", user_name(e->uid, v->c->raw, user));
		table_cell(t, "%s", span(seconds_since(e->since_ns), v->c->raw, held));
		table_cell(t, "%s%s%s", visible(e->command, command, sizeof(command)),
			   more_text(e, s->set.fair, more), remark(v, e, remarked));
	}
	puts("\nholding");
	table_print(t, "  ");
	table_free(t);
	for (i = 0; i < s->holders; i++)
		if (outlived(&s->entry[i]) && i < MOST_SOUGHT)
			print_heirs(v, &s->entry[i]);
}

static void
print_line(const struct view *v)
{
	const struct flk_snapshot *s = v->s;
	char waited[32], starts[32], user[USER_TEXT], command[VISIBLE(FLK_COMMAND)];
	char weight[WEIGHT_TEXT], more[MORE_TEXT], remarked[REMARK];
	bool hosts = abroad(s->entry + s->holders, s->waiters);
	struct table *t =
	    table_new(hosts ? ">#|>TICKET|>WEIGHT|HOST|>PID|USER|>WAITED|>STARTS IN|COMMAND"
			    : ">#|>TICKET|>WEIGHT|>PID|USER|>WAITED|>STARTS IN|COMMAND");
	double *wait_s = calloc((size_t)s->waiters + 1, sizeof(*wait_s));
	uint32_t i;

	if (wait_s != NULL)
		estimate(s, wait_s);
	for (i = 0; i < s->waiters; i++) {
		const struct flk_entry *e = &s->entry[s->holders + i];
		bool known = wait_s != NULL && wait_s[i] >= 0;
		table_cell(t, "%u", i + 1);
		table_cell(t, "%" PRIu64, e->ticket);
		table_cell(t, "%s", weight_text(e, weight));
		if (hosts)
			host_cell(t, e);
		table_cell(t, "%d", e->pid);
		table_cell(t, "%s", user_name(e->uid, v->c->raw, user));
		table_cell(t, "%s", span(seconds_since(e->since_ns), v->c->raw, waited));
		table_cell(t, "%s%s", known && !v->c->raw ? "~" : "",
			   known ? span(wait_s[i], v->c->raw, starts) : "?");
		table_cell(t, "%s%s%s", visible(e->command, command, sizeof(command)),
			   more_text(e, s->set.fair, more), remark(v, e, remarked));
	}
	free(wait_s);
	puts("\nwaiting");
	table_print(t, "  ");
	table_free(t);
}

static void
print_head(const char *name, const char *path, const struct flk_snapshot *s)
{
	char from[80] = "", pace[PACE_TEXT], gate[GATE_TEXT], seats[SEATS_TEXT], text[PATH_MAX];

	if (s->set.override != FLK_AUTO)
		snprintf(from, sizeof(from), " (by flocklimitctl limit; auto: %u)",
			 s->set.declared);
	else if (s->limit != s->set.declared)
		snprintf(from, sizeof(from), " (latest -n: %u)", s->set.declared);
	printf("%s: %s, %" PRIu64 " of %u in use%s, %u waiting\n",
	       visible(name, text, sizeof(text)), state_of(s), s->used, s->limit, from, s->waiters);
	printf("%s: %s\n", here.is_file ? "file" : "store", visible(path, text, sizeof(text)));
	if (*pace_text(&s->set.pace, pace_parts(&s->set.pace), pace) != '\0')
		printf("pace: %s\n", pace);
	if (*gate_text(&s->set.gate, gate) != '\0')
		printf("gate: %s\n", gate);
	if (s->set.fair != FLK_FAIR_OFF)
		printf("fair: by %s\n", fair_word(s->set.fair));
	if (s->set.withheld > 0)
		printf("withheld: %u units\n", s->set.withheld);
	if (s->set.seats_off != 0)
		printf("seats out of use: %s\n", seats_ranges(s->set.seats_off, seats));
}

static void
print(const struct view *v)
{
	const struct flk_snapshot *s = v->s;
	char why[600];

	print_head(v->name, flk_path(v->f), s);
	if (v->local > 0)
		printf("local: %u waiting on this machine (--local)\n", v->local);
	if (s->holders > 0)
		print_holders(v);
	if (s->waiters > 0)
		print_line(v);
	why_it_waits(s, v->name, why, sizeof(why));
	if (why[0] != '\0')
		printf("\n%s.\n", why);
}

/* ---- for programs ---- */

static json_t *
json_pid(pid_t pid)
{
	return pid != 0 ? json_integer(pid) : json_null();
}

static json_t *
json_host(const struct flk_entry *e)
{
	const char *host = e->host != NULL ? e->host : kind_machine();

	return host != NULL ? json_text(host) : json_null();
}

static json_t *
json_heirs(const struct view *v, const struct flk_entry *e)
{
	json_t *pids = json_array();
	pid_t heir[HEIRS];
	size_t n = outlived(e) && e < v->s->entry + MOST_SOUGHT
		       ? flki_heirs(v->f, e->slot, heir, HEIRS)
		       : 0,
	       i;

	for (i = 0; i < n; i++)
		json_array_append_new(pids, json_integer(heir[i]));
	return pids;
}

/* POSITION is 0 for a holder.  A negative GUESS_S: not known. */
static json_t *
json_taker(const struct view *v, const struct flk_entry *e, uint32_t position, double guess_s)
{
	bool waits = !e->holds;
	json_t *o = json_object();

	json_put(o, "ticket", json_u64(e->ticket));
	json_put(o, "weight", json_integer(e->weight));
	json_put(o, "weight_most", waits ? json_integer(weight_most(e)) : json_null());
	json_put(o, "declared", json_integer(e->limit));
	json_put(o, "host", json_host(e));
	json_put(o, "pid", json_integer(e->pid));
	json_put(o, "uid", json_integer(e->uid));
	json_put(o, "command", json_text(e->command));
	json_put(o, "since", json_seconds(epoch_of(e->since_ns)));
	json_put(o, "stopped",
		 e->host == NULL ? json_boolean(processes_suspended(v->processes, e) != NULL)
				 : json_null());
	more_json(e, o);
	json_put(o, "position", waits ? json_integer(position) : json_null());
	json_put(o, "waited_s", waits ? json_seconds(seconds_since(e->since_ns)) : json_null());
	json_put(o, "starts_in_s", waits && guess_s >= 0 ? json_seconds(guess_s) : json_null());
	json_put(o, "seat", waits ? json_null() : json_integer(e->seat));
	json_put(o, "seats", waits ? json_null() : json_seats(e->seats));
	json_put(o, "held_s", waits ? json_null() : json_seconds(seconds_since(e->since_ns)));
	json_put(o, "command_pid",
		 waits ? json_null() : json_pid(processes_command(v->processes, e)));
	json_put(o, "silent", waits ? json_null() : json_boolean(e->silent));
	json_put(o, "orphan", waits ? json_null() : json_boolean(outlived(e)));
	json_put(o, "kept_by", waits ? json_array() : json_heirs(v, e));
	return o;
}

static json_t *
json_holders(const struct view *v)
{
	json_t *holders = json_array();
	uint32_t i;

	for (i = 0; i < v->s->holders; i++)
		json_array_append_new(holders, json_taker(v, &v->s->entry[i], 0, -1));
	return holders;
}

static json_t *
json_waiters(const struct view *v)
{
	const struct flk_snapshot *s = v->s;
	double *wait_s = calloc((size_t)s->waiters + 1, sizeof(*wait_s));
	json_t *waiters = json_array();
	uint32_t i;

	if (wait_s != NULL)
		estimate(s, wait_s);
	for (i = 0; i < s->waiters; i++)
		json_array_append_new(waiters, json_taker(v, &s->entry[s->holders + i], i + 1,
							  wait_s != NULL ? wait_s[i] : -1));
	free(wait_s);
	return waiters;
}

static json_t *
json_view(const struct view *v)
{
	const struct flk_snapshot *s = v->s;
	json_t *o = json_limiter(v->name, flk_path(v->f), s, 0);
	double start_s = seconds_until(s->next_start_ns);
	char why[600];

	why_it_waits(s, v->name, why, sizeof(why));
	json_put(o, "waiting_local", here.is_file ? json_null() : json_integer(v->local));
	json_put(o, "blocked", why[0] != '\0' ? json_text(why) : json_null());
	json_put(o, "pace", json_pace(&s->set.pace));
	json_put(o, "seats_off", json_seats(s->set.seats_off));
	json_put(o, "gate", json_gate(&s->set.gate));
	json_put(o, "fair",
		 s->set.fair != FLK_FAIR_OFF ? json_string(fair_word(s->set.fair)) : json_null());
	json_put(o, "next_start_in_s", start_s > 0 ? json_seconds(start_s) : json_null());
	json_put(o, "holders", json_holders(v));
	json_put(o, "waiters", json_waiters(v));
	json_put(o, "totals", json_totals(s));
	return o;
}

/* ---- the verb ---- */

struct shown {
	json_t *array; /* NULL: text */
	bool any;
};

static int
show_one(const struct ctl *c, const struct visit *v, void *ctx)
{
	struct view view = { .c = c, .name = v->name, .f = v->f };
	struct shown *shown = ctx;
	struct flk_snapshot *s;
	int error = v->error;

	if (error == 0)
		error = flk_snapshot(v->f, &s);
	if (error != 0)
		return error;
	view.s = s;
	view.local = waiting_local(v->name);
	view.processes = s->holders + s->waiters > 0 ? processes_read() : NULL;
	if (shown->array != NULL) {
		json_array_append_new(shown->array, json_view(&view));
	} else {
		if (shown->any)
			putchar('\n');
		print(&view);
		fflush(stdout); /* before a line on stderr about the next limiter */
	}
	shown->any = true;
	processes_free(view.processes);
	free(s);
	return DONE;
}

int
show(const struct ctl *c)
{
	struct shown shown = { .array = NULL };
	int status;

	if (!is_named(c))
		return FAILED;
	if (c->json)
		shown.array = json_array();
	status = for_each(c, show_one, &shown);
	if (c->json)
		json_print_each(shown.array, is_many(c));
	return status;
}
