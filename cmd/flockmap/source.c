#include "source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "conduct.h"
#include "joblog.h"
#include "option.h"
#include "say.h"
#include "template.h"
#include "weight.h"

/* What others are to see of it. */
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
		say(NULL, "no memory for an item");
		*failed = true;
	}
	if (j != NULL && !*failed && j->n > 0) {
		j->number = ++s->read;
		f = (struct filling){ j->items, j->n, j->number, 0 };
		j->argv = template_fill(s->o, &f);
		if (j->argv != NULL) {
			describe(j);
			return j;
		}
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
	bool failed;
	int has;

	for (;;) {
		if (conduct_is_ending() || (j = source_read(s, &failed)) == NULL)
			return conduct_is_ending() || !failed ? 0 : -ECANCELED;
		has = joblog_has(j);
		if (has == 0)
			break;
		if (has == 1)
			conduct_count(false);
		job_free(j);
		if (has == -1)
			return -ECANCELED;
	}
	*weight = s->o->want.weight;
	if (s->o->weight_from != NULL &&
	    weight_of(j, s->o->weight_from, s->place, weight) != OPTION_OK) {
		job_free(j);
		return -ECANCELED;
	}
	*job = j;
	return 1;
}
