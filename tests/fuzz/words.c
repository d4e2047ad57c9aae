/* SPDX-License-Identifier: ISC */
/*
 * words.c - what people are shown of a limiter's file, on a terminal of any width: no byte of it
 * moves the cursor, whatever stands in the file.
 */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static uint16_t columns;

static int
fake_ioctl(int fd, unsigned long request, struct winsize *size)
{
	require(fd == STDERR_FILENO && request == TIOCGWINSZ);
	if (columns == UINT16_MAX)
		return -1;
	size->ws_col = columns;
	return 0;
}

/* One write per line; a status line has its own escape sequence at the start, and no other. */
static ssize_t
check_line(int fd, const void *text, size_t size)
{
	const unsigned char *p = text;
	size_t i = 0;

	require(fd == STDERR_FILENO && size >= 1);
	if (size >= 4 && memcmp(p, "\r\033[K", 4) == 0)
		i = 4;
	else
		require(p[--size] == '\n');
	for (; i < size; i++) {
		require(p[i] >= 0x20 && p[i] != 0x7f);
		require(p[i] != 0xc2 || i + 1 == size || p[i + 1] < 0x80 || p[i + 1] > 0x9f);
	}
	return (ssize_t)size;
}

#define write check_line
#define ioctl fake_ioctl
#include "cmd/words/say.c"
#include "cmd/words/place.c"
#undef write
#undef ioctl

static void
fill_entry(struct flk_entry *e, struct bytes *b)
{
	size_t i;

	e->ticket = take8(b);
	e->pid = (pid_t)take32(b);
	e->since_ns = take64(b);
	e->orphan = take8(b) % 2;
	for (i = 0; i < FLK_COMMAND - 1; i++)
		e->command[i] = (char)take8(b);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes b = { data, size };
	struct flk_place place = { .used = 0 };
	char text[PLACE_TEXT], span[32], *name;

	columns = take16(&b);
	name = take_line(&b);
	place.used = take64(&b);
	place.limit = take32(&b);
	place.ahead = take32(&b);
	place.set.paused = take8(&b) % 2;
	fill_entry(&place.oldest, &b);
	say_place(&place, text);
	require(strlen(text) < sizeof(text));
	require(strlen(say_duration((double)(int64_t)place.oldest.since_ns / 1e9, span)) <
		sizeof(span));
	say(name, "%s: %s", "no permit", text);
	say_status(name != NULL ? name : "", text);
	say_status(name != NULL ? name : "", "");
	free(name);
	return 0;
}
