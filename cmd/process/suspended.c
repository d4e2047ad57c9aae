/* SPDX-License-Identifier: ISC */
#include "suspended.h"

#include <stdio.h>

#include "cgroup.h"
#include "process.h"

/*
 * The file says what was written to this cgroup itself.  By cgroup.events and freezer.state a cgroup
 * below a frozen one is frozen as well, but to thaw that one would have no effect.
 */
static void
look_at_freezer(const char *dir, void *remedy)
{
	char text[4];

	if ((flki_read_text_in(dir, "cgroup.freeze", text, sizeof(text)) ||
	     flki_read_text_in(dir, "freezer.self_freezing", text, sizeof(text))) &&
	    text[0] == '1')
		snprintf(remedy, REMEDY_TEXT, "thaw the cgroup %s", dir);
}

const char *
process_suspended(pid_t pid, char remedy[REMEDY_TEXT])
{
	char state;
	pid_t parent;

	if (!process_stat(pid, &state, &parent))
		return NULL;
	if (state == 'T') {
		snprintf(remedy, REMEDY_TEXT, "kill -CONT %d", (int)pid);
		return "stopped";
	}
	if (state == 't') {
		snprintf(remedy, REMEDY_TEXT, "let the debugger continue it");
		return "stopped by a debugger";
	}
	remedy[0] = '\0';
	flki_cgroups(pid, "freezer", look_at_freezer, remedy);
	return remedy[0] != '\0' ? "frozen" : NULL;
}
