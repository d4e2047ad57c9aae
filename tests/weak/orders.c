/* SPDX-License-Identifier: ISC */
#include "orders.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

extern struct site __start_weak_sites[], __stop_weak_sites[];

struct atomic atomics[ATOMICS];
unsigned atomic_count;

static const char *
base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

static int
differ(const struct site *a, const struct site *b)
{
	int by = strcmp(base(a->file), base(b->file));

	by = by != 0 ? by : strcmp(a->function, b->function);
	by = by != 0 ? by : (int)a->kind - (int)b->kind;
	return by != 0 ? by : strcmp(a->word, b->word);
}

static int
compare(const void *a, const void *b)
{
	const struct site *x = ((const struct atomic *)a)->site;
	const struct site *y = ((const struct atomic *)b)->site;
	int by = differ(x, y);

	return by != 0 ? by : x->line - y->line;
}

static bool
is_of(const struct site *s, const struct atomic *a)
{
	return differ(s, a->site) == 0 && s->line == a->site->line;
}

void
orders_find(void)
{
	static const char *const kinds[] = { "load", "store", "rmw", "fence" };
	struct site *s;
	unsigned i;

	for (s = __start_weak_sites; s < __stop_weak_sites; s++) {
		for (i = 0; i < atomic_count && !is_of(s, &atomics[i]); i++)
			;
		if (i == atomic_count && atomic_count < ATOMICS)
			atomics[atomic_count++].site = s;
	}
	qsort(atomics, atomic_count, sizeof(atomics[0]), compare);
	for (i = 0; i < atomic_count; i++) {
		struct atomic *a = &atomics[i];
		a->nth = i > 0 && differ(a->site, a[-1].site) == 0 ? a[-1].nth + 1 : 1;
		snprintf(a->name, NAME, "%s\t%s\t%s\t%s\t%u", base(a->site->file),
			 a->site->function, kinds[a->site->kind], a->site->word, a->nth);
	}
}

struct atomic *
orders_named(const char *name)
{
	unsigned i;

	for (i = 0; i < atomic_count; i++)
		if (strcmp(atomics[i].name, name) == 0)
			return &atomics[i];
	return NULL;
}

unsigned
orders_hits(const struct atomic *a)
{
	const struct site *s;
	unsigned hits = 0;

	for (s = __start_weak_sites; s < __stop_weak_sites; s++)
		hits += is_of(s, a) ? s->hits : 0;
	return hits;
}

int
orders_get(const struct atomic *a)
{
	return a->site->order;
}

void
orders_set(const struct atomic *a, int order)
{
	const struct site of = *a->site;
	struct site *s;

	for (s = __start_weak_sites; s < __stop_weak_sites; s++)
		if (differ(s, &of) == 0 && s->line == of.line)
			s->order = order;
}

unsigned
orders_below(const struct atomic *a, int below[4])
{
	static const int all[] = { memory_order_relaxed, memory_order_acquire, memory_order_release,
				   memory_order_acq_rel };
	enum site_kind kind = a->site->kind;
	int order = orders_get(a);
	unsigned i, n = 0;

	if (kind == FENCE) {
		below[0] = NONE;
		return 1;
	}
	for (i = 0; i < 4; i++)
		if (all[i] < order && !(kind == LOAD && all[i] > memory_order_acquire) &&
		    !(kind == STORE && all[i] == memory_order_acquire) &&
		    !(kind == STORE && all[i] == memory_order_acq_rel))
			below[n++] = all[i];
	return n;
}

const char *
order_name(int order)
{
	static const char *const names[] = { "relaxed", "consume", "acquire",
					     "release", "acq_rel", "seq_cst" };

	return order == NONE ? "none" : names[order];
}
