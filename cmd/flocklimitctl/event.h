/*
 * event.h - an event of a limiter's history, as it is printed.
 */
#ifndef EVENT_H
#define EVENT_H

#include "ctl.h"

/* The limiter that it happened in. */
struct event_of {
	const struct ctl *c;
	struct flk *f; /* NULL: it is closed by now; never so in a store */
	const char *name, *path;
	int width; /* of the column of names; 0: there is none */
};

/* One line. */
void event_print(const struct event_of *s, const struct flk_event *e);

#endif
