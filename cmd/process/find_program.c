/* SPDX-License-Identifier: ISC */
#include "find_program.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>

#define DEFAULT_PATH "/usr/local/bin:/usr/bin:/bin"

/*
 * By $PATH as we found it.  A program that was found and could not be executed says more to the
 * user than one that was not found: so EACCES wins over ENOENT.
 */
int
find_program(const char *program, int (*try)(const char *path, const void *context),
	     const void *context)
{
	const char *dir = getenv("PATH"), *end;
	size_t name = strlen(program);
	int error, worst = ENOENT;

	if (strchr(program, '/') != NULL)
		return try(program, context);
	if (name == 0)
		return ENOENT;
	if (dir == NULL)
		dir = DEFAULT_PATH;
	for (;; dir = end + 1) {
		size_t n;
		end = strchrnul(dir, ':');
		n = (size_t)(end - dir);
		if (n + name + 2 <= 4096) {
			char path[4096];
			memcpy(path, dir, n);
			if (n > 0)
				path[n++] = '/';
			memcpy(path + n, program, name + 1);
			error = try(path, context);
			if (error == EACCES)
				worst = EACCES;
			else if (error != ENOENT && error != ENOTDIR)
				return error;
		}
		if (*end == '\0')
			return worst;
	}
}

/* 0 if execve(2) would execute this file. */
static int
look_at_it(const char *path, const void *context)
{
	struct stat sb;

	(void)context;
	if (stat(path, &sb) == -1)
		return errno;
	if (!S_ISREG(sb.st_mode))
		return EACCES;
	return access(path, X_OK) == -1 ? errno : 0;
}

int
check_program(const char *program)
{
	return find_program(program, look_at_it, NULL);
}
