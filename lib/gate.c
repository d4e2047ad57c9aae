/* SPDX-License-Identifier: ISC */
/*
 * gate.c - nothing starts unless the machine has room: the head of the line measures (look.c), and
 * what it read decides here, under the lock.
 *
 * A reading is the taker's own, from just before this visit to the lock.  It admits one taker, the
 * head, whatever taker made it.  That start makes all readings worthless that were made before it
 * has settled: it has not taken yet what it will take.  So `started_ns' is stored before the commit
 * of a grant: if the granter is killed in between, a start is missed, and none is made too many.
 *
 * The head looks only while nothing but the gate keeps it.  It is told so once, by a wake: then
 * `waiter' has its ticket.  So is the second in the line, which looks if the head does not: that may
 * be stopped.  A rebuild forgets `waiter', so that both are told again.
 *
 * A taker's own question is a gate before that taker alone, and its owner alone has the answer.
 *
 * While nothing is held, the head waits for the gate no longer than patience_ns: else conditions
 * that never hold would stop the limiter for good.
 */
#include "state.h"

#include "clock.h"

#define LOOK_NS  SECOND       /* between two looks */
#define LATE_NS  (3 * SECOND) /* when the second in the line looks in the head's stead */
#define STALE_NS (5 * SECOND) /* a reading that waited so long for the lock says nothing */

#define CHANGE(is, w) ((((is) >> 2) + 1) << 2 | (w))
#define GATE_WORDS    (sizeof(struct gate_words) / sizeof(uint64_t))

_Static_assert(sizeof(struct gate_words) == 200, "it is copied word by word");

/* The words may be written while they are copied here; then `is' has changed behind the fence. */
static void
copy_words(const struct gate_words *from, struct gate_words *to)
{
	const uint64_t *f = (const uint64_t *)(const void *)from;
	uint64_t *t = (uint64_t *)(void *)to;
	size_t k;

	for (k = 0; k < GATE_WORDS; k++)
		__atomic_store_n(&t[k], __atomic_load_n(&f[k], __ATOMIC_RELAXED), __ATOMIC_RELAXED);
}

/* Pairs with the release in flki_gate_set().  Nobody changes a gate a hundred times meanwhile. */
uint64_t
flki_gate_copy(const struct header *h, struct flk_gate *gate)
{
	struct gate_words words;
	unsigned tries;
	uint64_t is;

	for (tries = 0; tries < 100; tries++) {
		is = __atomic_load_n(&h->gate.is, __ATOMIC_ACQUIRE);
		words = (struct gate_words){ .settle_ns = FLK_SETTLE_NS,
					     .patience_ns = FLK_PATIENCE_NS };
		if (GATE_WHICH(is) != 0)
			copy_words(&h->gate.words[(GATE_WHICH(is) - 1) & 1], &words);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (__atomic_load_n(&h->gate.is, __ATOMIC_RELAXED) == is)
			break;
	}
	words.when[sizeof(words.when) - 1] = '\0';
	*gate = (struct flk_gate){ .settle_ns = words.settle_ns, .patience_ns = words.patience_ns };
	memcpy(gate->when, words.when, sizeof(gate->when));
	return GATE_WHICH(is) != 0 ? is : 0;
}

void
flki_gate_set(struct state *st, const struct flk_gate *gate)
{
	struct gate *g = &st->h->gate;
	struct gate_words words = { .settle_ns = gate->settle_ns,
				    .patience_ns = gate->patience_ns };
	uint64_t to = GATE_WHICH(g->is) == 1 ? 2 : 1;

	memcpy(words.when, gate->when, sizeof(words.when) - 1);
	/* A reader that copies any of the new words sees, behind its fence, the change before this. */
	atomic_thread_fence(memory_order_release);
	if (words.when[0] == '\0')
		to = 0;
	else
		copy_words(&words, &g->words[to - 1]);
	__atomic_store_n(&g->is, CHANGE(g->is, to), __ATOMIC_RELEASE); /* the commit */
}

static const struct gate_words *
in_force(const struct header *h)
{
	return &h->gate.words[(GATE_WHICH(h->gate.is) - 1) & 1];
}

/* A start that this clock says is to come is one of another clock, and long over. */
static uint64_t
settled(const struct state *st)
{
	const struct gate *g = &st->h->gate;

	if (g->started_ns == 0 || g->started_ns > flki_pace_now(st))
		return 0;
	return flki_plus(g->started_ns, in_force(st->h)->settle_ns);
}

/* When a head with this patience starts anyway, if nothing is held until then. */
static uint64_t
ends(const struct header *h, uint64_t patience_ns)
{
	uint64_t since = h->gate.since_ns;

	if (h->holders.count > 0)
		return UINT64_MAX;
	if (h->idle_since_ns > since)
		since = h->idle_since_ns;
	return flki_plus(since, patience_ns);
}

static uint64_t
patience_of(const struct slot *s)
{
	return s->asks == UINT32_MAX ? UINT64_MAX : (s->asks - 1) * SECOND;
}

static bool
is_answered(const struct state *st, const struct slot *s)
{
	const struct header *h = st->h;

	return s->asks == 0 || (st->answered && s == &st->slots[st->me]) ||
	       (h->gate.waiter == s->ticket && flki_pace_now(st) >= ends(h, patience_of(s)));
}

/* The limiter's own gate, before slot s. */
static bool
is_open(const struct state *st, const struct slot *s)
{
	const struct header *h = st->h;
	const struct reading *r = &st->reading;
	uint64_t at = r->at_ns - (uint64_t)st->ahead_ns;

	if (!flki_gate_is_set(h))
		return true;
	if (h->gate.waiter == s->ticket && flki_pace_now(st) >= ends(h, in_force(h)->patience_ns))
		return true;
	return r->gate == h->gate.is && r->failed == 0 && at >= settled(st) &&
	       flki_pace_now(st) < flki_plus(at, STALE_NS);
}

bool
flki_gate_allows(const struct state *st, const struct slot *s)
{
	return is_answered(st, s) && is_open(st, s);
}

void
flki_gate_begin(struct state *st)
{
	st->reading.gate = 0;
	flki_state_store(&st->h->gate.started_ns, flki_pace_now(st));
}

/* Slot i is the first in the line, and stays.  free: units are there for it. */
void
flki_gate_stands(struct state *st, uint32_t i, bool free)
{
	struct gate *g = &st->h->gate;
	const struct slot *s = flki_state_at(st, i);

	if (!free) {
		if (g->waiter != 0)
			flki_state_store(&g->waiter, 0);
		return;
	}
	if (g->waiter == s->ticket)
		return;
	flki_state_wake(st, i);
	flki_state_wake(st, s->next);
	flki_state_store(&g->since_ns, flki_pace_now(st));
	flki_state_store(&g->waiter, s->ticket);
}

bool
flki_gate_keeps(const struct state *st, const struct slot *s)
{
	return flki_gate_is_before(st->h, s) && st->h->gate.waiter == s->ticket;
}

bool
flki_gate_asks(const struct state *st, const struct slot *s)
{
	return s->asks != 0 && flki_gate_keeps(st, s) && is_open(st, s);
}

/* The end of a patience that is over is no time to look at: this visit has seen to it. */
static uint64_t
earlier(const struct state *st, uint64_t at, uint64_t end)
{
	return end > flki_pace_now(st) && end < at ? end : at;
}

/* The next look, or the end of a patience before that. */
uint64_t
flki_gate_look(const struct state *st, const struct slot *first, bool is_first)
{
	const struct gate *g = &st->h->gate;
	uint64_t at = UINT64_MAX, settle;

	if (!flki_gate_keeps(st, first))
		return UINT64_MAX;
	if (flki_gate_is_set(st->h)) {
		settle = settled(st);
		at = g->looked_ns <= flki_pace_now(st) ? flki_plus(g->looked_ns, LOOK_NS) : 0;
		if (at < settle)
			at = settle;
		if (!is_first)
			at = flki_plus(at > g->since_ns ? at : g->since_ns, LATE_NS);
		at = earlier(st, at, ends(st->h, in_force(st->h)->patience_ns));
	}
	if (first->asks != 0)
		at = earlier(st, at, ends(st->h, patience_of(first)));
	return at != UINT64_MAX ? flki_pace_own_time(st, at) : UINT64_MAX;
}

/* Without the lock: a guess for the taker that would measure. */
bool
flki_gate_wants_look(const struct header *h, uint64_t now, bool is_first)
{
	uint64_t looked = __atomic_load_n(&h->gate.looked_ns, __ATOMIC_RELAXED);

	return flki_gate_is_set(h) &&
	       (looked > now || now >= flki_plus(looked, is_first ? LOOK_NS : LATE_NS));
}

/* Each visit to the lock begins with it. */
void
flki_gate_note_reading(struct state *st)
{
	struct gate *g = &st->h->gate;
	const struct reading *r = &st->reading;

	if (r->gate == 0 || r->gate != g->is)
		return;
	flki_state_store(&g->failed, r->failed);
	flki_state_store(&g->value, r->value);
	flki_state_store(&g->looked_ns, r->at_ns - (uint64_t)st->ahead_ns);
}
