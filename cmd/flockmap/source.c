/* SPDX-License-Identifier: ISC */
#include "source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

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

struct job *
source_read(struct source *s, bool *failed)
{
	struct filling f;
	struct job *j;
	char *item = NULL;

	*failed = false;
	j = calloc(1, sizeof(*j));
	if (j != NULL)
		j->items = calloc(s->o->per_command, sizeof(*j->items));
	while (j != NULL && j->items != NULL && j->n < s->o->per_command &&
	       (item = input_next(s->input, failed)) != NULL)
		j->items[j->n++] = item;
	if (j == NULL || j->items == NULL) {
		screen_say(NULL, "no memory for an item");
		*failed = true;
	}
	if (j != NULL && !*failed && j->n > 0) {
		j->number = ++s->read;
		f = (struct filling){ j->items, j->n, j->number, 0 };
		j->argv = template_fill(s->o->command, s->o->replace, &f);
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
