/* SPDX-License-Identifier: ISC */
/*
 * heap.c - see heap.h.
 */
#include "heap.h"

#include <stdlib.h>

static bool
before(const struct heap_item *a, const struct heap_item *b)
{
	return a->due_ns != b->due_ns ? a->due_ns < b->due_ns : a->order < b->order;
}

static void
settle(struct heap *h, struct heap_item *item, size_t place)
{
	h->item[place] = item;
	item->place = place;
}

static void
rise(struct heap *h, struct heap_item *item, size_t place)
{
	for (; place > 1 && before(item, h->item[place / 2]); place /= 2)
		settle(h, h->item[place / 2], place);
	settle(h, item, place);
}

static void
sink(struct heap *h, struct heap_item *item, size_t place)
{
	size_t next;

	for (; (next = place * 2) <= h->n; place = next) {
		if (next < h->n && before(h->item[next + 1], h->item[next]))
			next++;
		if (!before(h->item[next], item))
			break;
		settle(h, h->item[next], place);
	}
	settle(h, item, place);
}

void
heap_free(struct heap *h)
{
	free(h->item);
	*h = (struct heap){ .n = 0 };
}

void
heap_put(struct heap *h, struct heap_item *item, uint64_t due_ns)
{
	heap_remove(h, item);
	if (h->n + 2 > h->room) {
		h->room = h->room * 2 + 64;
		h->item = reallocarray(h->item, h->room, sizeof(struct heap_item *));
		if (h->item == NULL)
			abort();
	}
	item->due_ns = due_ns;
	item->order = h->order++;
	rise(h, item, ++h->n);
}

void
heap_remove(struct heap *h, struct heap_item *item)
{
	size_t place = item->place;
	struct heap_item *last;

	if (place == 0)
		return;
	item->place = 0;
	last = h->item[h->n--];
	if (last == item)
		return;
	if (place > 1 && before(last, h->item[place / 2]))
		rise(h, last, place);
	else
		sink(h, last, place);
}

struct heap_item *
heap_first(const struct heap *h)
{
	return h->n == 0 ? NULL : h->item[1];
}

uint64_t
heap_due(const struct heap *h)
{
	return h->n == 0 ? UINT64_MAX : h->item[1]->due_ns;
}
