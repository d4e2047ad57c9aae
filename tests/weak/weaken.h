/* SPDX-License-Identifier: ISC */
/*
 * weaken.h - what the runs of weak.c share: a scenario in a child, weaker orders, and their table.
 */
#ifndef WEAKEN_H
#define WEAKEN_H

#include "weak.h"
#include "orders.h"

#define SCENARIOS 32

/* ---- weak.c ---- */

extern bool reached[ATOMICS][SCENARIOS]; /* the scenario runs the atomic */
void *share(size_t size);

/* In a child, which may crash where an atomic was weakened. */
bool run(const struct scenario *s, unsigned deviations, unsigned long most, const char *replay);
void begin_results(void); /* of this process's children */

/* ---- weaken.c ---- */

void weaken_begin(void);
void weaken_all(const char *part);
bool is_reached(unsigned a);
bool is_chosen(unsigned a, const char *part);
int needed(unsigned a); /* the weakest order that no scenario minds */

/* A line of the table: name, order, what is needed, and for each order that fails the scenario. */
void print_line(char *line, size_t size, unsigned a);

/* ---- table.c ---- */

void
check_table(void); /* each that the table says is needed: a scenario fails where it is weaker */
void check_listed(void);
bool table_has(const char *line);
int order_named(const char *name);
const struct scenario *scenario_named(const char *name);

#endif
