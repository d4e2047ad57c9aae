/* SPDX-License-Identifier: ISC */
/*
 * memory.c - shared memory as C11 allows it to be: each cell has a list of the values that were
 * stored there, and a thread may read any that is not older than what it knows of.
 */
#include "cells.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static struct view now[ALL], pending[ALL], fenced[ALL];
static uint16_t fences[ALL]; /* `known' of all seq_cst fences so far */
static uint32_t sc_count;

void
memory_reset(void)
{
	cells_reset();
	memset(now, 0, sizeof(now));
	memset(pending, 0, sizeof(pending));
	memset(fenced, 0, sizeof(fenced));
	memset(fences, 0, sizeof(fences));
	sc_count = 0;
}

static void
join(struct view *to, const struct view *from)
{
	unsigned i;

	for (i = 0; i < ALL; i++) {
		if (from->hb[i] > to->hb[i])
			to->hb[i] = from->hb[i];
		if (from->known[i] > to->known[i])
			to->known[i] = from->known[i];
	}
	if (from->sc > to->sc)
		to->sc = from->sc;
}

void
memory_join(void)
{
	struct view all = { .sc = sc_count };
	unsigned i;

	for (i = 0; i < ALL; i++)
		join(&all, &now[i]);
	for (i = 0; i < ALL; i++)
		now[i] = all;
}

/* Of what the scenario's threads do. */
bool
memory_has(const volatile void *p)
{
	uintptr_t at = (uintptr_t)p - (uintptr_t)&shared;

	return at < sizeof(shared) && now_running != 0;
}

static void
tick(void)
{
	now[now_running].hb[now_running]++;
	now[now_running].known[now_running]++;
}

static uint16_t
time_now(void)
{
	return now[now_running].hb[now_running];
}

/* ---- races ---- */

static bool
happened(unsigned thread, uint16_t at)
{
	return at <= now[now_running].hb[thread];
}

static const char *
place(const void *pc)
{
	static char text[64];
	extern const char __executable_start[];

	if (pc == NULL)
		return "an atomic";
	snprintf(text, sizeof(text), "a plain access (addr2line %#zx)",
		 (size_t)((const char *)pc - __executable_start) - 1);
	return text;
}

/*
 * Another thread's access that nothing orders before this one.  Two atomics may meet; a plain access
 * and an atomic only where layout.h says so; two plain ones nowhere.
 */
static void
meets(unsigned number, unsigned other, bool plain, bool other_plain, const void *pc)
{
	note_contended(number);
	if (!plain && !other_plain)
		return;
	if ((plain && other_plain) || !word_is_doorless((size_t)number * 4))
		failed("race: %s of thread %u on %s meets %s access of thread %u", place(pc),
		       now_running, word_name((size_t)number * 4),
		       other_plain ? "a plain" : "an atomic", other);
}

static void
check_races(unsigned number, struct cell *c, bool writes, bool plain, const void *pc)
{
	const struct message *last = &messages[c->last];
	unsigned i;

	if (!schedule_explores())
		return;
	if (!happened(last->writer, last->at))
		meets(number, last->writer, plain, last->plain, pc);
	for (i = 1; i < ALL && writes; i++) {
		if (!happened(i, c->plain_read[i]))
			meets(number, i, plain, true, pc);
		if (!happened(i, c->atomic_read[i]))
			meets(number, i, plain, false, pc);
	}
}

/* ---- reading and writing ---- */

static bool
releases(int order)
{
	return order == memory_order_release || order >= memory_order_acq_rel;
}

static bool
acquires(int order)
{
	return order == memory_order_acquire || order == memory_order_consume ||
	       order >= memory_order_acq_rel;
}

/* Does the thread know of message m, so that it reads no older one? */
static bool
is_known(const struct message *m, bool sc)
{
	const struct view *v = &now[now_running];

	return m->at <= v->known[m->writer] || (m->sc != 0 && (sc || m->sc <= v->sc)) ||
	       (sc && m->at <= fences[m->writer]);
}

static bool
was_read_before(const struct cell *c, const struct message *m)
{
	int32_t r;

	for (r = c->readings; r != -1; r = readings[r].before)
		if (readings[r].index >= m->index &&
		    readings[r].at <= now[now_running].known[readings[r].reader])
			return true;
	return false;
}

static void
note_reading(struct cell *c, const struct message *m, bool plain)
{
	(plain ? c->plain_read : c->atomic_read)[now_running] = time_now();
	if (m->index == 0)
		return;
	if (reading_count == READINGS)
		failed("too many readings");
	readings[reading_count] = (struct reading_of){ .before = c->readings,
						       .at = time_now(),
						       .index = m->index,
						       .reader = (uint8_t)now_running };
	c->readings = reading_count++;
}

static void
acquire_from(const struct message *m, int order)
{
	if (!m->releases)
		return;
	join(&pending[now_running], &m->view);
	if (acquires(order))
		join(&now[now_running], &m->view);
}

/* Reads one of the values that the thread may read; but not `unlike', if that is an old one. */
static int32_t
read_some(unsigned number, struct cell *c, int order, const uint64_t *unlike)
{
	bool sc = order == memory_order_seq_cst;
	int32_t at[16], m;
	unsigned n = 0;

	for (m = c->last; n < 16; m = messages[m].before) {
		if (n == 0 || unlike == NULL || value_of(number, m) != *unlike)
			at[n++] = m;
		if (messages[m].before == -1 || is_known(&messages[m], sc) ||
		    was_read_before(c, &messages[m]))
			break;
	}
	return at[deviate(n)];
}

static struct message *
write_next(unsigned number, struct cell *c)
{
	struct message *m = &messages[message_count];

	if (message_count == MESSAGES)
		failed("too many stores");
	messages[c->last].value = memory_of(number);
	*m = (struct message){ .before = c->last,
			       .at = time_now(),
			       .index = (uint16_t)(messages[c->last].index + 1),
			       .writer = (uint8_t)now_running };
	c->last = message_count++;
	changes++;
	return m;
}

/* `from' is the message that a read-modify-write has read, whose release it hands on. */
static void
release_into(struct message *m, int order, const struct message *from)
{
	const struct view *v = releases(order) ? &now[now_running] : &fenced[now_running];

	if (order == memory_order_seq_cst)
		m->sc = ++sc_count;
	m->view = *v;
	m->releases = true;
	if (from != NULL && from->releases)
		join(&m->view, &from->view);
}

static unsigned
begin_at_once(const volatile void *p, size_t size, bool writes)
{
	unsigned number = cell_at(offset_of(p));

	if (cell_size(number) != size)
		failed("%s is no word of %zu bytes: see words.c", word_name(offset_of(p)), size);
	tick();
	check_races(number, cell_of(number), writes, false, NULL);
	return number;
}

static unsigned
begin(const volatile void *p, size_t size, bool writes)
{
	if (is_contended(cell_at(offset_of(p))))
		schedule_point();
	else if (writes)
		schedule_death();
	return begin_at_once(p, size, writes);
}

/* ---- atomics ---- */

static uint64_t
load_cell(unsigned number, int order)
{
	struct cell *c = cell_of(number);
	int32_t m = read_some(number, c, order, NULL);

	note_reading(c, &messages[m], false);
	acquire_from(&messages[m], order);
	trace("load", number, order, value_of(number, m), m);
	return value_of(number, m);
}

uint64_t
memory_load(const volatile void *p, size_t size, int order)
{
	return load_cell(begin(p, size, false), order);
}

void
memory_store(volatile void *p, size_t size, uint64_t value, int order)
{
	unsigned number = begin(p, size, true);
	struct cell *c = cell_of(number);

	release_into(write_next(number, c), order, NULL);
	set_memory(number, value);
	trace("store", number, order, value, c->last);
}

uint64_t
memory_modified(uint64_t was, enum rmw op, uint64_t value)
{
	switch (op) {
	case ADD:
		return was + value;
	case SUBTRACT:
		return was - value;
	case AND:
		return was & value;
	case MARK: /* of a dead owner with this thread id: see alive.c */
		return (was & 0x3fffffff) == value ? (was & 0x80000000) | 0x40000000 : was;
	case EXCHANGE:
		break;
	}
	return value;
}

/* The last value is read: a read-modify-write stands right behind the store that it has read. */
uint64_t
memory_rmw(volatile void *p, size_t size, enum rmw op, uint64_t value, int order)
{
	unsigned number = begin(p, size, true);
	struct cell *c = cell_of(number);
	int32_t from = c->last;
	uint64_t was = memory_of(number);

	note_reading(c, &messages[from], false);
	acquire_from(&messages[from], order);
	release_into(write_next(number, c), order, &messages[from]);
	set_memory(number, memory_modified(was, op, value));
	trace("rmw", number, order, memory_of(number), c->last);
	return was;
}

/* What a failed compare-and-swap is: a load, with the order's acquiring half. */
static int
failing(int order)
{
	return order == memory_order_seq_cst ? order
	       : acquires(order)             ? memory_order_acquire
					     : memory_order_relaxed;
}

bool
memory_cas(volatile void *p, size_t size, uint64_t *expected, uint64_t value, bool may_fail,
	   int order)
{
	unsigned number = begin(p, size, true);
	struct cell *c = cell_of(number);
	int32_t m = read_some(number, c, failing(order), may_fail ? NULL : expected);
	uint64_t was = value_of(number, m);

	note_reading(c, &messages[m], false);
	if (m == c->last && was == *expected && !(may_fail && deviate(2) == 1)) {
		acquire_from(&messages[m], order);
		release_into(write_next(number, c), order, &messages[m]);
		set_memory(number, value);
		trace("cas", number, order, value, c->last);
		return true;
	}
	acquire_from(&messages[m], failing(order));
	trace("cas-", number, failing(order), was, m);
	*expected = was;
	return false;
}

void
memory_fence_of(int order)
{
	struct view *v = &now[now_running];
	unsigned i;

	if (acquires(order))
		join(v, &pending[now_running]);
	if (order == memory_order_seq_cst) {
		for (i = 0; i < ALL; i++) {
			if (fences[i] > v->known[i])
				v->known[i] = fences[i];
			fences[i] = v->known[i];
		}
		v->sc = sc_count;
	}
	if (releases(order))
		fenced[now_running] = *v;
}

/* ---- the kernel's ---- */

void
memory_fence(void)
{
	memory_fence_of(memory_order_seq_cst);
	if (memory_traces)
		printf("# %u futex\n", now_running);
}

uint64_t
memory_read(const void *p, size_t size)
{
	const char *word = (const char *)p - (word_is_wide(offset_of(p)) ? offset_of(p) % 8 : 0);

	return load_cell(begin_at_once(word, word_is_wide(offset_of(p)) ? 8 : size, false),
			 memory_order_relaxed);
}

uint32_t
memory_mark_dead(struct alive *a, uint32_t tid)
{
	return (uint32_t)memory_rmw(&a->word, 4, MARK, tid, memory_order_acq_rel);
}

/* ---- plain accesses ---- */

static void
plain_on(unsigned number, bool writes, const void *pc)
{
	struct message *m;
	struct cell *c;

	if (is_contended(number))
		schedule_point();
	else if (writes)
		schedule_death();
	c = cell_of(number);
	tick();
	check_races(number, c, writes, true, pc);
	if (writes) {
		/* Where it may meet an atomic at all, it is taken for a relaxed one. */
		m = write_next(number, c);
		release_into(m, memory_order_relaxed, NULL);
		m->plain = true;
	} else {
		note_reading(c, &messages[c->last], true);
	}
	trace(writes ? "write" : "read", number, NONE, memory_of(number), c->last);
}

void
memory_plain_at(const void *p, size_t size, bool writes, const void *pc)
{
	size_t offset;
	unsigned number;

	if (!memory_has(p) || size == 0)
		return;
	for (offset = offset_of(p) / 4 * 4; offset < offset_of(p) + size;
	     offset = (size_t)number * 4 + cell_size(number)) {
		number = cell_at(offset);
		plain_on(number, writes, pc);
	}
}

void
memory_plain(const void *p, size_t size, bool writes)
{
	memory_plain_at(p, size, writes, NULL);
}
