/* SPDX-License-Identifier: ISC */
#include "cells.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

struct message messages[MESSAGES];
struct reading_of readings[READINGS];
int32_t message_count, reading_count;
bool memory_learned, memory_traces;

static struct cell cells[CELLS];
static uint16_t used[CELLS];
static unsigned used_count;
static bool contended[CELLS];

void
cells_reset(void)
{
	unsigned i;

	for (i = 0; i < used_count; i++)
		memset(&cells[used[i]], 0, sizeof(cells[0]));
	used_count = 0;
	message_count = reading_count = 0;
	memset(&shared, 0, sizeof(shared));
}

size_t
offset_of(const volatile void *p)
{
	return (uintptr_t)p - (uintptr_t)&shared;
}

/* The first cell at or before the offset. */
unsigned
cell_at(size_t offset)
{
	return (unsigned)(word_is_wide(offset) ? offset / 8 * 2 : offset / 4);
}

unsigned
cell_size(unsigned number)
{
	return word_is_wide((size_t)number * 4) ? 8 : 4;
}

uint64_t
memory_of(unsigned number)
{
	const unsigned char *p = (const unsigned char *)&shared + (size_t)number * 4;
	uint64_t wide;
	uint32_t narrow;

	if (cell_size(number) == 8) {
		memcpy(&wide, p, sizeof(wide));
		return wide;
	}
	memcpy(&narrow, p, sizeof(narrow));
	return narrow;
}

void
set_memory(unsigned number, uint64_t value)
{
	unsigned char *p = (unsigned char *)&shared + (size_t)number * 4;
	uint32_t narrow = (uint32_t)value;

	if (cell_size(number) == 8)
		memcpy(p, &value, sizeof(value));
	else
		memcpy(p, &narrow, sizeof(narrow));
}

/* What was there before the threads is message 0 of each cell. */
struct cell *
cell_of(unsigned number)
{
	struct cell *c = &cells[number];

	if (!c->used) {
		c->used = true;
		used[used_count++] = (uint16_t)number;
		c->readings = -1;
		c->last = message_count;
		messages[message_count++] = (struct message){ .before = -1 };
	}
	return c;
}

uint64_t
value_of(unsigned number, int32_t m)
{
	return m == cells[number].last ? memory_of(number) : messages[m].value;
}

bool
is_contended(unsigned number)
{
	return contended[number];
}

/* All executions so far had a choice too few there. */
void
note_contended(unsigned number)
{
	if (!contended[number])
		memory_learned = contended[number] = true;
}

void
memory_print_contended(char *text, size_t size)
{
	size_t n = 0;
	unsigned i;

	for (i = 0; i < CELLS && n + 8 < size; i++)
		if (contended[i])
			n += (size_t)snprintf(text + n, size - n, "%s%x", n > 0 ? "," : "", i);
}

void
memory_parse_contended(const char *text)
{
	unsigned i;
	int n;

	memset(contended, 0, sizeof(contended));
	while (sscanf(text, "%x%n", &i, &n) == 1 && i < CELLS) {
		contended[i] = true;
		text += n;
		text += *text == ',';
	}
}

/* Of an execution that is repeated. */
void
trace(const char *what, unsigned number, int order, uint64_t value, int32_t m)
{
	static const char *const orders[] = { "relaxed", "consume", "acquire",
					      "release", "acq_rel", "seq_cst" };

	if (memory_traces)
		printf("# %u %-5s %-32s %-8s %#llx%s\n", now_running, what,
		       word_name((size_t)number * 4), order == NONE ? "" : orders[order],
		       (unsigned long long)value, m == cells[number].last ? "" : " (old)");
}
