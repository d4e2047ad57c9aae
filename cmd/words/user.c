/* SPDX-License-Identifier: ISC */
#include "user.h"

#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * A static program can't ask the machine's name services: glibc would load a library for each,
 * perhaps of another version of glibc.  So it knows only the users in /etc/passwd.
 */
#ifdef FLK_STATIC_PROGRAM

static bool
is_of(char *line, uid_t uid)
{
	char *password = strchr(line, ':'), *number, *end;
	unsigned long n;

	if (password == NULL || (number = strchr(password + 1, ':')) == NULL)
		return false;
	*password = '\0';
	n = strtoul(number + 1, &end, 10);
	return end > number + 1 && *end == ':' && n == uid;
}

static bool
find(uid_t uid, char room[USER_TEXT])
{
	FILE *users = fopen("/etc/passwd", "re");
	char line[512];
	bool found = false, begins = true, ends;

	/* The rest of a line that is too long for the buffer must not be read as a line. */
	for (; !found && users != NULL && fgets(line, sizeof(line), users) != NULL; begins = ends) {
		ends = strchr(line, '\n') != NULL;
		found = begins && is_of(line, uid);
	}
	if (users != NULL)
		fclose(users);
	if (found)
		snprintf(room, USER_TEXT, "%.*s", USER_TEXT - 1, line);
	return found;
}

#else

static bool
find(uid_t uid, char room[USER_TEXT])
{
	const struct passwd *user = getpwuid(uid);

	if (user != NULL)
		snprintf(room, USER_TEXT, "%s", user->pw_name);
	return user != NULL;
}

#endif

const char *
user_text(uid_t uid, char room[USER_TEXT])
{
	if (!find(uid, room))
		snprintf(room, USER_TEXT, "%lu", (unsigned long)uid);
	return room;
}
