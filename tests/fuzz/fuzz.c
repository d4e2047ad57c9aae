/* SPDX-License-Identifier: ISC */
#include "fuzz.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char dir[200];
static pid_t maker;

uint8_t
take8(struct bytes *b)
{
	if (b->left == 0)
		return 0;
	b->left--;
	return *b->p++;
}

uint16_t
take16(struct bytes *b)
{
	unsigned low = take8(b);

	return (uint16_t)(low | (unsigned)take8(b) << 8);
}

uint32_t
take32(struct bytes *b)
{
	uint32_t low = take16(b);

	return low | (uint32_t)take16(b) << 16;
}

uint64_t
take64(struct bytes *b)
{
	uint64_t low = take32(b);

	return low | (uint64_t)take32(b) << 32;
}

/* A NUL ends the string early, as it would in the environment or in an argument. */
char *
take_line(struct bytes *b)
{
	const uint8_t *end;
	size_t n;
	char *line;

	if (b->left == 0)
		return NULL;
	end = memchr(b->p, '\n', b->left);
	n = end != NULL ? (size_t)(end - b->p) : b->left;
	line = malloc(n + 1);
	if (line == NULL)
		abort();
	memcpy(line, b->p, n);
	line[n] = '\0';
	b->p += n + (end != NULL);
	b->left -= n + (end != NULL);
	return line;
}

void
fuzz_require(bool so, const char *condition, const char *file, int line)
{
	if (so)
		return;
	fprintf(stderr, "%s:%d: not so: %s\n", file, line, condition);
	abort();
}

static int
remove_one(const char *path, const struct stat *sb, int type, struct FTW *ftw)
{
	(void)sb;
	(void)type;
	(void)ftw;
	return remove(path);
}

static void
clean_up(void)
{
	if (getpid() == maker)
		nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

const char *
fuzz_dir(void)
{
	const char *above = getenv("FUZZ_DIR");

	if (maker != 0)
		return dir;
	if (above == NULL || strlen(above) > 150)
		above = "/tmp";
	snprintf(dir, sizeof(dir), "%s/flocklimit-fuzz-XXXXXX", above);
	if (mkdtemp(dir) == NULL) {
		perror(dir);
		exit(99);
	}
	maker = getpid();
	atexit(clean_up);
	return dir;
}
