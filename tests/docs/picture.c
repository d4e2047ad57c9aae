/* SPDX-License-Identifier: ISC */
/*
 * picture.c - draws the history that it reads, as flocklimitctl gantt draws that of a limiter.
 *
 * doc/gantt.svg is what it makes of doc/gantt.tsv, which doc/scenario has recorded.  The picture is the
 * same on every machine: times are of the clock of all, in UTC, and every user is ci.
 */
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cmd/flocklimitctl/event.h"
#include "cmd/flocklimitctl/gantt/chart.h"
#include "cmd/flocklimitctl/gantt/picture.h"
#include "cmd/flocklimitctl/limiter_files.h"
#include "files.h"
#include "now.h"

const struct kind here = { KIND_OF_FILES, .operating = &operating_files };

#define LIMIT 4 /* each taker's -n */

int __wrap_clock_gettime(clockid_t clock, struct timespec *time);
struct passwd *__wrap_getpwuid(uid_t uid);

/* Both clocks show the same: the times of the history are those since the epoch. */
int
__wrap_clock_gettime(clockid_t clock, struct timespec *time)
{
	(void)clock;
	*time = (struct timespec){ .tv_sec = 1 };
	return 0;
}

struct passwd *
__wrap_getpwuid(uid_t uid)
{
	static char name[] = "ci";
	static struct passwd user = { .pw_name = name };

	user.pw_uid = uid;
	return &user;
}

static uint32_t
kind_of(const char *name)
{
	uint32_t kind = 1;

	while (kind <= FLK_EV_GREW && strcmp(event_name(kind), name) != 0)
		kind++;
	return kind;
}

static bool
read_event(struct flk_event *e)
{
	char kind[16];
	double time_s, cpu_s;

	*e = (struct flk_event){ .uid = 1000 };
	if (scanf("%lf %15s %" SCNu64 " %u %u %d %d %" SCNu64 " %" SCNu64 " %lf %19s", &time_s,
		  kind, &e->ticket, &e->weight, &e->seat, &e->pid, &e->code, &e->seats, &e->memory,
		  &cpu_s, e->command) != 11)
		return false;
	e->when_ns = (uint64_t)(time_s * 1e3 + .5) * (SECOND / 1000);
	e->cpu_ns = (uint64_t)(cpu_s * 1e3 + .5) * (SECOND / 1000);
	e->kind = kind_of(kind);
	if (e->kind == FLK_EV_QUEUED || e->kind == FLK_EV_GRANTED)
		e->limit = LIMIT;
	return true;
}

int
main(void)
{
	static struct flk_event event[FLK_HISTORY];
	struct flk_snapshot s = { .set = { .declared = LIMIT, .override = FLK_AUTO },
				  .limit = LIMIT };
	struct lanes l;
	size_t n = 0;

	setenv("TZ", "UTC", 1);
	while (n < FLK_HISTORY && read_event(&event[n])) {
		event[n].number = n + 1;
		n++;
	}
	if (n == 0 || chart_make(&l, event, n, &s, event[n - 1].when_ns + SECOND / 1000) != 0)
		return 1;
	draw_svg(stdout, &l, "build");
	chart_free(&l);
	return fflush(stdout) != 0;
}
