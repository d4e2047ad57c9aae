/* SPDX-License-Identifier: ISC */
/*
 * lie.c - the words of a limiter file, and what may come to stand in them.
 */
#include "life.h"

#include <unistd.h>
#include <sys/syscall.h>

#include "layout.h"

#define H(member)                                                  \
	{                                                          \
		(uint16_t) offsetof(struct header, member), false, \
		    sizeof(((struct header *)NULL)->member) == 8   \
	}
#define S(member)                                               \
	{                                                       \
		(uint16_t) offsetof(struct slot, member), true, \
		    sizeof(((struct slot *)NULL)->member) == 8  \
	}

static const struct field {
	uint16_t at;
	bool in_slot, wide;
} fields[] = {
	H(magic),         H(layout),       H(header_size),  H(slot_size),     H(byte_order),
	H(boot),          H(birth),        H(lock),         H(nslots),        H(hint),
	H(dead),          H(damaged),      H(override),     H(declared),      H(paused),
	H(closed),        H(withheld),     H(last_ticket),  H(waiting.head),  H(waiting.tail),
	H(waiting.count), H(holders.head), H(holders.tail), H(holders.count), H(barriers),
	H(used),          H(min_limit),    H(min_count),    H(seat_hint),     S(alive.word),
	S(alive.touched), S(alive.prev),   S(alive.NEXT),   S(state),         S(wake),
	S(gen),           S(kind),         S(ticket),       S(since_ns),      S(seat_bits),
	S(weight),        S(limit),        S(in_force),     S(seat),          S(prev),
	S(next),          S(reason),       S(pid),          S(orphan),        S(command)
};

/* What came later has bytes of its own, so that an old input means what it meant. */
#define LATER   240
#define DOUBTED 239 /* and this byte is of one that came later still, */
#define LATEST  232 /* and those from here to there of the latest */
#define SEATED  229 /* and those from here to there of seats */
#define GATED   221 /* and those from here to there of the gate */
#define TEXT    220 /* and this one of a text */
static const struct field later[] = { H(events),
				      H(event_room),
				      H(followed),
				      H(granted),
				      S(status),
				      S(worker_pid),
				      S(role),
				      H(pace.rate),
				      H(pace.stagger_ns),
				      H(pace.ramp),
				      H(pace.ramp_idle_ns),
				      H(paced.free_ns),
				      H(paced.last_ns),
				      H(paced.ramp_since_ns),
				      H(starting),
				      H(idle_since_ns) };
static const struct field doubted = H(doubted);
static const struct field latest[] = { S(least), S(most),      S(yield),     S(order),
				       S(fence), S(passed_by), H(last_fence) };
static const struct field gated[] = { S(asks),        H(gate.is),       H(gate.started_ns),
				      H(gate.waiter), H(gate.since_ns), H(gate.looked_ns),
				      H(gate.value),  H(gate.failed) };
static const struct field text = S(waits_for);
static const struct field seated[] = { S(seats), S(not_seats), H(seats_off) };

struct lie
life_lie(struct bytes *b)
{
	static const uint64_t values[] = { 0,          1,          2,
					   3,          4,          5,
					   6,          7,          15,
					   16,         17,         23,
					   24,         31,         32,
					   63,         64,         255,
					   256,        131071,     131072,
					   131073,     1000000000, 1000000001,
					   INT32_MAX,  0x80000000, NIL - 1,
					   NIL,        INT64_MAX,  UINT64_MAX - 1,
					   UINT64_MAX, 0x40000000, 0xffffffff00000000 };
	uint8_t which = take8(b), kind;
	const struct field *f = which == DOUBTED                     ? &doubted
				: which >= LATEST && which < DOUBTED ? &latest[which - LATEST]
				: which >= SEATED && which < LATEST  ? &seated[which - SEATED]
				: which >= GATED && which < SEATED   ? &gated[which - GATED]
				: which == TEXT                      ? &text
				: which >= LATER
				    ? &later[(which - LATER) % (sizeof(later) / sizeof(later[0]))]
				    : &fields[which % (sizeof(fields) / sizeof(fields[0]))];
	struct lie lie = { .wide = f->wide, .at = f->at };

	if (f->in_slot)
		lie.at += (uint32_t)SLOTS_AT + take8(b) % LIE_SLOTS * (uint32_t)sizeof(struct slot);
	kind = take8(b);
	if (kind == 0xff)
		lie.value = take64(b);
	else if (kind == 0xfe) /* an owner for the lock: slot and generation */
		lie.value = (uint64_t)take8(b) << 32 | (uint64_t)(take8(b) % LIE_SLOTS + 1) << 1;
	else if (kind == 0xfd) /* this thread */
		lie.value = (uint64_t)syscall(SYS_gettid);
	else
		lie.value = values[kind % (sizeof(values) / sizeof(values[0]))];
	return lie;
}

void
life_tell(void *map, size_t size, const struct lie *lie)
{
	char *p = (char *)map + lie->at;

	if (lie->at + 8 > size)
		return;
	if (lie->wide)
		__atomic_store_n((uint64_t *)(void *)p, lie->value, __ATOMIC_RELAXED);
	else
		__atomic_store_n((uint32_t *)(void *)p, (uint32_t)lie->value, __ATOMIC_RELAXED);
}
