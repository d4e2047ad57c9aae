/* SPDX-License-Identifier: ISC */
#include "place.h"

#include <stdio.h>
#include <string.h>

#include "gate.h"
#include "now.h"
#include "process.h"
#include "say.h"

const char *
say_place(const struct flk_place *p, char room[PLACE_TEXT])
{
	char since[32], command[FLK_COMMAND], gated[GATED_TEXT];
	double start_s = seconds_until(p->next_start_ns);
	int n;

	n = snprintf(room, PLACE_TEXT, "%s%llu of %u in use, %u ahead of you",
		     p->set.paused || p->limit == 0 ? "paused, " : "", (unsigned long long)p->used,
		     p->limit, p->ahead);
	if (start_s > 0 && n > 0 && n < PLACE_TEXT)
		n += snprintf(room + n, PLACE_TEXT - (size_t)n, ", next start in %s",
			      say_duration(start_s, since));
	if (p->gated.waits && n > 0 && n < PLACE_TEXT)
		n += snprintf(room + n, PLACE_TEXT - (size_t)n, ", waits for %s",
			      gated_text(&p->gated, gated));
	if (p->oldest.ticket != 0 && n > 0 && n < PLACE_TEXT) {
		memcpy(command, p->oldest.command, sizeof(command));
		say_cut(command, 60);
		snprintf(room + n, PLACE_TEXT - (size_t)n,
			 " (oldest holder: pid %d%s%s, %s, \"%s\"%s)", p->oldest.pid,
			 p->oldest.host != NULL ? " on " : "",
			 p->oldest.host != NULL ? p->oldest.host : "",
			 say_duration(seconds_since(p->oldest.since_ns), since), command,
			 outlived(&p->oldest) ? ", orphaned" : "");
	}
	return room;
}
