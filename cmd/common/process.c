#include "process.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* /proc/PID/stat: the name, which may hold anything, is in the last pair of parentheses. */
bool
process_stat(pid_t pid, char *state, pid_t *parent)
{
	char path[40], text[512], *p;
	int fd, number = 0;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd == -1)
		return false;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	p = strrchr(text, ')');
	if (p == NULL || sscanf(p + 1, " %c %d", state, &number) != 2)
		return false;
	*parent = (pid_t)number;
	return true;
}

pid_t
process_child(pid_t pid)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	pid_t child = 0, parent;
	char state;

	while (proc != NULL && child == 0 && (entry = readdir(proc)) != NULL) {
		pid_t candidate = (pid_t)atoi(entry->d_name);
		if (candidate > 0 && process_stat(candidate, &state, &parent) && parent == pid &&
		    state != 'Z')
			child = candidate;
	}
	if (proc != NULL)
		closedir(proc);
	return child;
}

bool
process_is_stopped(pid_t pid)
{
	char state;
	pid_t parent;

	return process_stat(pid, &state, &parent) && (state == 'T' || state == 't');
}
