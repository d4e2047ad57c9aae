/* SPDX-License-Identifier: ISC */
/*
 * appear.h - waits for a limiter file that does not exist yet.
 */
#ifndef APPEAR_H
#define APPEAR_H

struct ctl;
struct flk;

/* Sleeps until there is a limiter in that path, and opens it: 0, or why it can't be opened. */
int appear(const struct ctl *c, struct flk **f, const char *path);

#endif
