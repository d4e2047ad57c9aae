/* SPDX-License-Identifier: ISC */
#include "cgroup.h"

#include <stdio.h>
#include <string.h>

#include "proc.h"

bool
flki_read_text_in(const char *dir, const char *name, char *text, size_t size)
{
	char path[600];

	return (size_t)snprintf(path, sizeof(path), "%s/%s", dir, name) < sizeof(path) &&
	       flki_read_text(path, text, size) > 0;
}

static void
look_up_from(const char *mount, const char *group, void (*look)(const char *, void *), void *ctx)
{
	char dir[512];
	char *slash;

	if ((size_t)snprintf(dir, sizeof(dir), "%s%s", mount, group) >= sizeof(dir))
		return;
	for (;;) {
		look(dir, ctx);
		slash = strrchr(dir, '/');
		if (strlen(dir) <= strlen(mount) || slash == NULL)
			return;
		*slash = '\0';
	}
}

/* Among the controllers of a version 1 hierarchy, as in "cpu,cpuacct"; "cpuset" is another. */
static bool
has(char *controllers, const char *wanted)
{
	char *save, *name = strtok_r(controllers, ",", &save);

	while (name != NULL && strcmp(name, wanted) != 0)
		name = strtok_r(NULL, ",", &save);
	return name != NULL;
}

void
flki_cgroups(pid_t pid, const char *controller, void (*look)(const char *dir, void *ctx), void *ctx)
{
	char path[PROC_PATH], text[4096], *line, *save, *controllers, *group;

	if (flki_read_text(flki_proc_path(pid, "cgroup", path), text, sizeof(text)) <= 0)
		return;
	for (line = strtok_r(text, "\n", &save); line != NULL; line = strtok_r(NULL, "\n", &save)) {
		controllers = strchr(line, ':');
		if (controllers == NULL || (group = strchr(controllers + 1, ':')) == NULL)
			continue;
		*group++ = '\0';
		controllers++;
		/* Of version 2, which has a directory of its own where version 1 is used as well. */
		if (*controllers == '\0') {
			look_up_from("/sys/fs/cgroup", group, look, ctx);
			look_up_from("/sys/fs/cgroup/unified", group, look, ctx);
		} else if (has(controllers, controller)) {
			snprintf(path, sizeof(path), "/sys/fs/cgroup/%s", controller);
			look_up_from(path, group, look, ctx);
		}
	}
}
