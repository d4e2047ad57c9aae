/* SPDX-License-Identifier: ISC */
/*
 * cells.h - the words of shared memory, and all that was stored there: what memory.c reads and writes.
 *
 * Time is counted per thread, in its own accesses.  What a thread knows is a vector of such times.
 * `hb' is what happened before, in C11's sense: by it races are found.  `known' has `hb', and what the
 * order of the seq_cst fences adds: by it old values are ruled out.
 */
#ifndef CELLS_H
#define CELLS_H

#include "weak.h"

struct view {
	uint16_t hb[ALL], known[ALL];
	uint32_t sc; /* the seq_cst stores before this one's number are known */
};

struct message {
	uint64_t value; /* of all but the last: that is in the memory itself */
	struct view view;
	uint32_t sc; /* its number among the seq_cst stores; 0: none of these */
	int32_t before;
	uint16_t at, index;
	uint8_t writer;
	bool releases, plain;
};

/* Thread `reader' has read message `index' at that time, so it reads no older one. */
struct reading_of {
	int32_t before;
	uint16_t at, index;
	uint8_t reader;
};

struct cell {
	int32_t last, readings;
	uint16_t plain_read[ALL], atomic_read[ALL];
	bool used;
};

#define MESSAGES 40000
#define READINGS 40000

extern struct message messages[MESSAGES];
extern struct reading_of readings[READINGS];
extern int32_t message_count, reading_count;

void cells_reset(void);
size_t offset_of(const volatile void *p);
unsigned cell_at(size_t offset); /* the first cell at or before it */
unsigned cell_size(unsigned number);
struct cell *cell_of(unsigned number);

/* The memory itself has the last value of each cell. */
uint64_t memory_of(unsigned number);
void set_memory(unsigned number, uint64_t value);
uint64_t value_of(unsigned number, int32_t m);

/* Cells on which the order of two accesses is not decided by something else. */
bool is_contended(unsigned number);
void note_contended(unsigned number);

/* Of an execution that is repeated. */
void trace(const char *what, unsigned number, int order, uint64_t value, int32_t m);

#endif
