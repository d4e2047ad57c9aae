/* SPDX-License-Identifier: ISC */
#include "source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conduct.h"
#include "joblog.h"
#include "option.h"
#include "screen.h"
#include "template.h"
#include "weight.h"

/* The words of the command, which flocklimitctl shows. */
static void
describe(struct job *j)
{
	size_t n = 0, i;

	for (i = 0; j->argv[i] != NULL && n < sizeof(j->text); i++)
		n += (size_t)snprintf(j->text + n, sizeof(j->text) - n, "%s%s", i > 0 ? " " : "",
				      j->argv[i]);
}

/* ---- how many items ---- */

/*
 * What the kernel has for the words of a command and its environment, each with a pointer, less what we
 * add to that environment.
 */
#define MOST_WORDS (6u << 20)
#define OURS       (16u << 10)

static size_t
room_for_words(void)
{
	long most = sysconf(_SC_ARG_MAX);
	size_t room = most > 0 && most < (long)MOST_WORDS ? (size_t)most : MOST_WORDS;
	size_t used = OURS;
	char **e;

	for (e = environ; *e != NULL; e++)
		used += strlen(*e) + 1 + sizeof(*e);
	return room > used ? room - used : 0;
}

/* The room that a command's items take, as far as they were added. */
struct length {
	size_t room, all, joined;
	bool
	    any; /* number of items is as good as another: no word is the first item, or the second */
};

static void
length_begin(struct length *l, const struct options *o)
{
	const struct filling none = { NULL, 0, 0, 0 };

	l->any = o->per_command > 1 && o->lists <= 1 && !template_has_numbers(&o->command);
	if (l->any) {
		l->room = room_for_words();
		template_measure(&o->command, &none, &l->all, &l->joined);
	}
}

/* Whether there is room for one more.  The size of a command grows evenly, by what its second item adds. */
static bool
length_add(struct length *l, const struct template *t, char *item)
{
	char *items[] = { item, item };
	const struct filling one = { items, 1, 0, 0 }, two = { items, 2, 0, 0 };
	size_t all, joined, all2, joined2;

	if (!l->any)
		return true;
	template_measure(t, &one, &all, &joined);
	template_measure(t, &two, &all2, &joined2);
	l->all += all2 - all;
	l->joined += joined2 - joined;
	return l->all <= l->room && l->joined <= LONGEST_WORD;
}

/* The next job's items, as many as one command takes.  False, after a line: it failed. */
static bool
take_items(struct source *s, struct job *j)
{
	struct length length;
	bool failed = false;
	char *item;

	length_begin(&length, s->o);
	while (j->n < s->o->per_command) {
		item = s->kept != NULL ? s->kept : input_next(s->input, &failed);
		s->kept = NULL;
		if (item == NULL)
			break;
		if (!length_add(&length, &s->o->command, item) && j->n > 0) {
			s->kept = item;
			break;
		}
		j->items[j->n++] = item;
	}
	return !failed;
}

struct job *
source_read(struct source *s, bool *failed)
{
	struct filling f;
	struct job *j;

	*failed = false;
	j = calloc(1, sizeof(*j));
	if (j != NULL)
		j->items = calloc(s->o->per_command, sizeof(*j->items));
	if (j == NULL || j->items == NULL) {
		screen_say(NULL, "no memory for an item");
		*failed = true;
	} else {
		*failed = !take_items(s, j);
	}
	if (j != NULL && !*failed && j->n > 0) {
		j->number = ++s->read;
		f = (struct filling){ j->items, j->n, j->number, 0 };
		j->argv = template_fill(&s->o->command, &f);
		if (j->argv != NULL) {
			describe(j);
			return j;
		}
		screen_say(NULL, "no memory for a command");
		*failed = true;
	}
	if (j != NULL)
		job_free(j);
	return NULL;
}

/* ---- which of them run ---- */

int
source_next(struct source *s, struct job **job, uint32_t *weight)
{
	struct job *j;
	bool failed = false;
	int has;

	for (;;) {
		j = conduct_is_ending() ? NULL : source_read(s, &failed);
		if (conduct_is_ending()) { /* and it may be cut short */
			if (j != NULL)
				job_free(j);
			return 0;
		}
		if (j == NULL)
			return failed ? -ECANCELED : 0;
		has = joblog_has(j);
		if (has == 0)
			break;
		if (has == 1)
			screen_skipped();
		job_free(j);
		if (has == -1)
			return -ECANCELED;
	}
	j->weight = s->o->want.request.weight;
	if (s->o->weight_from != NULL &&
	    weight_of(j, s->o->weight_from, s->context, &j->weight) != OPTION_OK) {
		job_free(j);
		return conduct_is_ending() ? 0 : -ECANCELED;
	}
	*weight = j->weight;
	*job = j;
	return 1;
}
