/* SPDX-License-Identifier: ISC */
#include "and_option.h"

#include <stdlib.h>
#include <string.h>

#include "name.h"
#include "option.h"
#include "units.h"

#define OPTION "--and"

int
and_option_parse(struct taker_options *w, char *word)
{
	size_t name = strcspn(word, "="), weight;
	char number[32], *limit;
	int status;

	*w = (struct taker_options)TAKER_DEFAULTS;
	if (name == 0 || name >= sizeof(w->name_room) || word[0] == '-' ||
	    memchr(word, '/', name) != NULL)
		return option_bad(OPTION, word, "not a limiter: use NAME, NAME=W or NAME=W/N");
	memcpy(w->name_room, word, name);
	w->name_room[name] = '\0';
	if (!flki_is_name(w->name_room))
		return option_bad(OPTION, w->name_room, flk_strerror(-FLK_BADNAME));
	w->limiter = w->name = w->name_room;
	if (word[name] == '\0')
		return OPTION_OK;
	weight = strspn(word + name + 1, "0123456789%");
	limit = word + name + 1 + weight;
	if (weight == 0 || weight >= sizeof(number) || (*limit != '\0' && *limit != '/'))
		return option_bad(OPTION, word,
				  "not a weight: use NAME=W or NAME=W/N, say gpu=2/8");
	memcpy(number, word + name + 1, weight);
	number[weight] = '\0';
	status = take_weight(NULL, w, OPTION, number);
	w->weight_word = word;
	if (status == OPTION_OK && *limit == '/')
		status = take_limit(NULL, w, OPTION, limit + 1);
	/* A command that joins a permit takes no weight: that is known later. */
	if (status == OPTION_OK && w->request.limit != 0 && w->request.weight > w->request.limit &&
	    getenv("FLOCKLIMIT_HELD") == NULL)
		return option_bad(OPTION, word,
				  "the weight is above the limit: it could never run");
	return status;
}

/* also_read() parses it again: here it is only checked. */
int
and_option_add(struct ands *a, char *word)
{
	struct taker_options w;

	if (a->n == AND_MOST)
		return option_bad(OPTION, word, "--and may be given 15 times");
	a->word[a->n++] = word;
	return and_option_parse(&w, word);
}
