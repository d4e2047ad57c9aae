/* SPDX-License-Identifier: ISC */
#include "declared.h"

#include <string.h>

#include "limiter.h"
#include "limiters.h"
#include "limits_apply.h"

int
declared_find(struct declared *d, const char *name)
{
	const struct limits_line *line;
	unsigned i = LIMITS_FILES;

	*d = (struct declared){ .want = TAKER_DEFAULTS };
	d->want.limiter = name;
	/* The first that says it is the user's. */
	while (i-- > 0) {
		line = limits_of_limiter(limits_file(i), name);
		if (line == NULL)
			continue;
		d->file = line->file;
		d->line = line->number;
	}
	return d->file != NULL ? limits_take_limiter(&d->want) : OPTION_OK;
}

struct flk_options
declared_options(const struct declared *d)
{
	struct flk_options options = existing;
	struct taker_options want = d->want;

	limiter_count_units(&want);
	options.existing = false;
	options.limit = want.request.limit;
	options.mode = want.mode;
	return options;
}

static bool
is_first(const char *name, unsigned of, size_t at)
{
	const struct limits_line *line = limits_of_limiter(limits_file(0), name);

	return of == 0 ? line == &limits_file(0)->line[at] : line == NULL;
}

const char *
declared_name(size_t i)
{
	const struct limits_file *f;
	unsigned of;
	size_t k;

	for (of = 0; of < LIMITS_FILES; of++) {
		f = limits_file(of);
		for (k = 0; k < f->lines; k++)
			if (!f->line[k].command && is_first(f->line[k].name, of, k) && i-- == 0)
				return f->line[k].name;
	}
	return NULL;
}
