/* SPDX-License-Identifier: ISC */
/*
 * names.c - a limiter's name and the directory it is kept in.  The input is a byte of what the
 * system answers, a line for FLOCKLIMIT_DIR, and one name per line after that.
 */
#include "fuzz.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static uint8_t answers;
static unsigned opened;

/* Nothing outside may be opened or made: what the system would say is the input's choice. */
static int
fake_open(const char *path, int flags)
{
	static const int errors[] = { ENOENT, ENOTDIR, ELOOP, EACCES };

	require(strlen(path) < 4096 && (flags & (O_PATH | O_DIRECTORY | O_CLOEXEC)) != 0);
	if (answers & 1 && opened++ == 0) {
		errno = errors[answers >> 1 & 3];
		return -1;
	}
	return open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static int
fake_mkdir(const char *path, mode_t mode)
{
	require(*path != '\0' && mode == 0700);
	errno = EEXIST;
	return answers & 8 ? -1 : 0;
}

static int
fake_fstat(int fd, struct stat *sb)
{
	int result = fstat(fd, sb);

	sb->st_uid = answers & 16 ? geteuid() : 12345;
	sb->st_mode = (mode_t)(S_IFDIR | (answers & 32 ? 0700 : answers & 64 ? 01777 : 0777));
	return result;
}

/* Of the directory itself, or of where it could be. */
static int
fake_stat(const char *path, struct stat *sb)
{
	bool place = strstr(path, "/flocklimit-") == NULL;

	memset(sb, 0, sizeof(*sb));
	sb->st_uid = answers & 16 ? geteuid() : 12345;
	sb->st_mode = (mode_t)(S_IFDIR | (place ? 01777 : 0700));
	errno = ENOENT;
	return answers & (place ? 4 : 2) ? -1 : 0;
}

static int
fake_rmdir(const char *path)
{
	require(strstr(path, "/flocklimit-") != NULL);
	return 0;
}

#define open            fake_open
#define mkdir           fake_mkdir
#define rmdir           fake_rmdir
#define fstat(fd, sb)   fake_fstat(fd, sb)
#define stat(path, sb)  fake_stat(path, sb)
#define lstat(path, sb) fake_stat(path, sb)
#include "lib/directory.c"
#undef open
#undef mkdir
#undef rmdir
#undef fstat
#undef stat
#undef lstat

static bool
naive_is_name(const char *word)
{
	size_t i;

	for (i = 0; word[i] != '\0'; i++) {
		char c = word[i];
		bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
		bool digit = c >= '0' && c <= '9';
		bool mark = c == '.' || c == '_' || c == '+' || c == '@' || c == '%' || c == ':' ||
			    c == '-';
		if (!letter && !digit && !mark)
			return false;
	}
	return i >= 1 && i <= 64 && word[0] != '.' && word[0] != '-';
}

static void
check_name(const char *name)
{
	char path[PATH_ROOM], small[16];
	struct directory directory;
	bool right = flki_is_name(name);
	int code, fd = -1;

	require(right == naive_is_name(name));
	code = flki_directory_choose(&directory, name);
	if (code == 0) {
		const char *slash;
		require(flki_directory_join(&directory, name, path, sizeof(path)) == 0);
		require(flki_directory_size(&directory, name) == strlen(path) + 1);
		slash = strrchr(path, '/');
		require(right && strlen(path) < PATH_ROOM);
		require(slash != NULL && strcmp(slash + 1, name) == 0);
	} else {
		require(code == -ENAMETOOLONG || code == -FLK_RELATIVE || code == -FLK_NODIR ||
			(code == -FLK_BADNAME && !right));
	}
	code = flk_locate(name, small, sizeof(small));
	require(code != 0 || strlen(small) < sizeof(small));
	opened = 0;
	code = flki_directory_open(&directory, name, true, &fd);
	require(code != 0 || (fd >= 0 && right));
	require(code <= 0);
	if (code == 0)
		close(fd);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes b = { data, size };
	char *name, *chosen;

	answers = take8(&b);
	chosen = take_line(&b);
	if (chosen != NULL)
		setenv("FLOCKLIMIT_DIR", chosen, 1);
	else
		unsetenv("FLOCKLIMIT_DIR");
	while ((name = take_line(&b)) != NULL) {
		check_name(name);
		free(name);
	}
	free(chosen);
	unsetenv("FLOCKLIMIT_DIR");
	return 0;
}
