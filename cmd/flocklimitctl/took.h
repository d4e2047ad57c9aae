/* SPDX-License-Identifier: ISC */
/*
 * took.h - what the commands of a limiter's history took: their peaks of memory and their CPU times.
 */
#ifndef TOOK_H
#define TOOK_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "flocklimit.h"

/* One command that ended, and whose memory is known. */
struct sample {
	char command[sizeof(((struct flk_event *)0)->command)];
	uint64_t memory, cpu_ns;
};

/* By the nearest rank, so each is a value that one of the commands had. */
struct spread {
	uint64_t median, p95, max;
};

struct took {
	size_t runs; /* 0: there is no spread */
	struct spread memory, cpu_ns;
};

/* Reads them from the history, oldest first: 0, or -ENOMEM.  The caller frees *sample. */
int took_read(struct flk *f, struct sample **sample, size_t *n);

/* N is above 0.  Sorts the values. */
struct spread took_spread(uint64_t *value, size_t n);

/* What all of them took: 0, or -ENOMEM. */
int took_all(const struct sample *sample, size_t n, struct took *all);

json_t *took_json_bytes(const struct spread *s);

/* An object; null where nothing is known. */
json_t *took_json(const struct took *t);

#endif
