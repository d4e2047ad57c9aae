/* SPDX-License-Identifier: ISC */
/*
 * orders.h - the atomic operations of the sources that the scenarios run, and their orders.
 */
#ifndef ORDERS_H
#define ORDERS_H

#include <stdio.h>

#include "site.h"

#define ATOMICS 400
#define NAME    160

/* One of a source.  A function in a header is in several objects: it is one all the same. */
struct atomic {
	const struct site *site; /* the first of them */
	unsigned nth;            /* of its function, kind and word */
	char name[NAME];         /* with tabs between: file, function, kind, word, nth */
};

extern struct atomic atomics[ATOMICS];
extern unsigned atomic_count;

void orders_find(void); /* fills in both */
struct atomic *orders_named(const char *name);
unsigned orders_hits(const struct atomic *a);
int orders_get(const struct atomic *a);
void orders_set(const struct atomic *a, int order);

/* The weaker ones, the weakest first; NONE for a fence that is left out. */
unsigned orders_below(const struct atomic *a, int below[4]);
const char *order_name(int order);

#endif
