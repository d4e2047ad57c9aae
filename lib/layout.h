/* SPDX-License-Identifier: ISC */
/*
 * layout.h - the limiter file: one header page, the history, then slots.
 *
 *	0            4096         SLOTS_AT        SLOTS_AT + 512   ...
 *	+------------+--- - - ----+----------------+----------------+---
 *	| header     | events     | slot 0         | slot 1         |
 *	+------------+--- - - ----+----------------+----------------+---
 *
 * The history is a hole until it is written.  With FIRST_SLOTS slots a new limiter takes three pages
 * of disk space, five after its first use, and 68 when the history is full.
 *
 * And, far behind the end of the file, bytes that are only ever locked: GUARD_BASE + i, for
 * reading, while the permit in slot i is tied to a descriptor; INIT_BYTE, for writing, while a
 * limiter is being made or removed.  See bytelock.h.
 *
 * A taker owns one slot for as long as it lives, and has that slot's `alive'.  The lock is a word
 * that names the slot of its owner.  A taker is known by its slot and the slot's generation, and by
 * nothing else, so process ids and their namespaces play no part.
 *
 *	FREE -> IDLE		[claim]		alive was taken; outside the lock
 *	IDLE -> WAITING		[flki_state_enqueue]	in the line, ticket drawn
 *	WAITING -> HELD		[grant]		the only way to a permit
 *	WAITING -> IDLE		[flki_state_leave]	its owner gave up
 *	WAITING -> OUT		[flki_state_evict]	closed, evicted, or a barrier that is done
 *	HELD -> IDLE		[flki_state_release]
 *	HELD -> IDLE		[flki_state_forget]	its units are withheld before that
 *	WAITING, HELD -> FREE	[reap]		its owner is dead, and no process has its guard
 *	OUT -> IDLE		[settle, out_or, end]	its owner has learnt why
 *	IDLE, OUT -> FREE	[flki_slot_drop]
 *	IDLE, OUT -> IDLE	[claim]		the owner was dead
 *
 * Besides, flki_state_salvage() makes a damaged file good.
 *
 * What must hold whenever the lock is free:
 *  I1	`waiting' links the WAITING slots by rising `tag' and, of one tag, by rising `order';
 *	`holders' the HELD ones by rising ticket.  A waiter's `order' is at most its ticket's place: it
 *	stands where it arrived, before waiters that consented or, in a fair limiter, before those
 *	whose tags are higher.
 *  I2	`used' is the sum of the weights of the HELD slots; `min_limit' the smallest limit among
 *	them and `min_count' how many have it.
 *  I3	No two HELD slots have one seat; the seat map has the bits of exactly their seats.  A permit
 *	whose `seats' is not 0 has as seats `seat', which is one bit of it, and the lowest others,
 *	`weight' in all, and there are as many; any other permit has `seat' alone.
 *  I4	Every ticket in use is at most `last_ticket', and no two are the same.
 *  I5	The head does not fit, or nothing may start: no taker waits without a reason.
 *  I6	A WAITING slot's weight is `least'.  A grant writes the weight that it chose before its
 *	commit; if it is killed in between, the rebuild writes `least' again.
 *  I7	No WAITING slot was passed by more newcomers than it consented to: `passed_by' is at most
 *	`yield'.  A newcomer counts itself there before its commit; if it is killed in between,
 *	the waiter has lost a consent, and no newcomer has passed it.
 *  I8	No HELD slot's fence is above `last_fence'.
 *
 * The slots are the truth, and one store to a slot's state is the commit of each operation.  All
 * that I1 to I3 name is an index over the slots: the taker that takes over a dead owner's lock, or
 * finds the index doubted, rebuilds it from them.
 *
 * Some words are read or written without the lock: the end of this file says which, by whom, and why
 * that does no harm.
 */
#ifndef FLKI_LAYOUT_H
#define FLKI_LAYOUT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "flocklimit.h"

#define NIL         UINT32_MAX
#define MAGIC       UINT64_C(0x6c6b636f6c66f001)
#define LAYOUT      UINT32_C(8)
#define HEADER      4096u
#define PLACE_GAP   (UINT64_C(1) << 16) /* from one place in the line to the next, at arrival */
#define LAST_TICKET (UINT64_MAX / PLACE_GAP)
#define FIRST_SLOTS 16u
#define MAX_SLOTS   (2u * FLK_MAX_TAKERS) /* twice the takers, so that a claim finds one soon */
#define EVENTS      (FLK_HISTORY + 64u)   /* a page more than is read: it may be written over */
#define SLOTS_AT    ((size_t)HEADER + EVENTS * sizeof(struct event))
#define MAP_BYTES   (SLOTS_AT + (size_t)MAX_SLOTS * sizeof(struct slot))
#define GUARD_BASE  (INT64_C(1) << 40)
#define INIT_BYTE   (GUARD_BASE - 1)

enum slot_state { FREE, IDLE, WAITING, HELD, OUT };

/*
 * A BARRIER is the place in the line of flk_wait_idle(): it takes no units and keeps no taker back, and
 * it is done when all that came before it are.
 */
enum slot_kind { TAKER, BARRIER };

/*
 * alive: a robust futex in the form of glibc's pthread_mutex_t, so that a program which leaves its
 * thread's robust list to the C library and one that keeps its own can share a file.  Links have
 * the size of a pointer, and glibc has them at another place in each size: there is room for both
 * forms, and owners of either size agree about the word.  See alive.c.
 */
struct alive {
	_Atomic uint32_t word; /* 0, or the owner's thread id, and the kernel's two flag bits */
	uint32_t mutex_inner[3];
	_Atomic uint32_t touched; /* means nothing: written to, so that the page is in memory */
	uint32_t next32;          /* of an owner with 32-bit pointers; glibc's inner in others */
	uint64_t prev, next64;    /* of an owner with 64-bit pointers */
};

#if UINTPTR_MAX > UINT32_MAX
#define NEXT next64
#else
#define NEXT next32
#endif

/* What the work under a permit took; peak_kib 0: not known. */
struct took {
	uint32_t peak_kib, cpu_ms;
};

/* A waiter's `watches', where it is no ticket. */
#define WATCHES_HOLDERS UINT64_C(0) /* it was the head */
#define WATCHES_NOTHING UINT64_MAX  /* it has not looked yet */

struct slot {
	struct alive alive;
	_Atomic uint32_t state; /* written under the lock, but FREE and IDLE by its owner too */
	_Atomic uint32_t wake;  /* futex: a taker that wants the owner to look again changes it */
	_Atomic uint32_t gen;   /* raised by each claim: no two owners of the slot have one */
	uint32_t kind;
	/* What follows is written by the owner while IDLE, or under the lock. */
	uint64_t ticket;
	uint64_t since_ns;  /* of the present state; the writer's CLOCK_MONOTONIC */
	uint64_t seat_bits; /* no part of the taker: a part of the seat map, see below */
	uint32_t weight, limit, in_force, seat; /* weight: WAITING as `least' */
	uint32_t prev, next;
	int32_t reason;    /* OUT: the code that the owner returns */
	uint32_t pid, uid; /* the owner's, for people */
	uint32_t orphan;   /* the owner is dead, and its guard is kept; for people */
	char command[FLK_COMMAND];
	int32_t status; /* of the command that ran under the permit, or FLK_UNKNOWN */
	union {
		struct { /* OUT, and until the owner's next permit: its evictor; for people */
			uint32_t evictor_pid, evictor_uid;
		};
		struct {                       /* HELD; a grant clears both */
			uint32_t worker_pid;   /* the process that works under the permit, or 0 */
			uint32_t exit_seen_ms; /* since when its end is awaited: see orphan.c */
		};
	};
	uint32_t least, most; /* the units that its owner asked for; a grant chooses between them */
	uint32_t yield;       /* how many newcomers may pass it */
	_Alignas(8) uint64_t order; /* WAITING: its place in the line, see request.c */
	uint64_t fence;     /* HELD: rises with each grant, as a ticket does with each arrival */
	uint32_t passed_by; /* WAITING: how many newcomers have passed it */
	struct took took;   /* of the command that ran under the permit, as `status' */
	_Alignas(8) uint64_t seats; /* HELD: 0, or a set of seats, see seats.c */
	uint64_t not_seats;         /* of seats that its owner does not want */
	/* WAITING: it has a question of its own, so only its owner grants it; 0: none, 1 + seconds of
	 * its patience, or UINT32_MAX: for ever */
	uint32_t asks;
	/* HELD: a text for people, see permit.c */
	_Alignas(8) uint64_t waits_for[FLK_WAITS_FOR / 8];
	/*
	 * HELD: CLOCK_BOOTTIME right before and after the command was started that keeps the permit
	 * while it runs, even without a guard: see orphan.c.  A grant clears them: there is none.
	 */
	uint64_t started_after_ns, started_before_ns;
	uint32_t started_in; /* the PID namespace of these pids, see exiting.h; a grant keeps it */
	/*
	 * In a fair limiter, see fair.c.  `tag': WAITING, its place in the line comes after this; HELD, the
	 * tag that it was granted with.  `key' and `given' stay when the taker has left.
	 */
	uint32_t share;
	_Alignas(8) uint64_t tag;
	uint64_t given; /* the largest end of what this slot knows to have been given to its key */
	char key[FLK_KEY];
	/* WAITING, see wait.c: it has passed others; and what it watches, as it has last looked. */
	uint32_t has_passed;
	_Alignas(
	    8) uint64_t watches; /* its predecessor's ticket; WATCHES_HOLDERS, WATCHES_NOTHING */
	unsigned char room[36];  /* zeros: for what a later layout adds */
	uint32_t role;           /* enum flk_role; its high byte is 0: see space.c */
};

/*
 * The seat map is a bitmap of all seats in use, by which a grant finds the smallest free one.
 * A permit has several seats of the first 64 only, so there is one slot at least for each 64 seats;
 * both grow, and the map is kept in the slots: bit b of slot i's seat_bits is seat 64 * i + b,
 * whatever taker has slot i.  It is an index (I3): written under the lock, and cleared and made anew
 * by a rebuild.  Only one slot in 64 has bits that are ever set.
 */

/* A pace as the header has it; see pace.c. */
struct pace_words {
	uint64_t rate;       /* burst in the high 16 bits, interval in ns; 0: none */
	uint64_t stagger_ns; /* 0: none */
	uint64_t ramp;       /* from 16 bits, step 16 bits, period in ms; 0: none */
	uint64_t ramp_idle_ns;
};

/*
 * Written under the lock; read without it, so every word is stored and loaded as an atomic.  An
 * event is about a taker, and then has a ticket; or about the limiter, and then the ticket is 0; a
 * pace that was set stands there instead of the rest, and so do the words of a gate.  Four kinds are
 * packed:
 *
 *	kind		upper 24 bits of `kind'	seat		limit		code
 *	RELEASED	the seat		what the work took		how it ended
 *	GRANTED		0			the seat	the limit	the kind's
 *	GRANTED		1			a set of seats	the limit	upper half of the set
 *	QUEUED		0			0		the limit	the kind's
 *	QUEUED		the limit		excluded seats	upper half	the kind's
 *	GREW		the limit		a set of seats	upper half	the kind's
 *	others		0			the seat	the limit	the kind's
 */
struct event {
	uint64_t when_ns; /* monotonic */
	uint64_t ticket;
	uint32_t kind;
	int32_t code; /* of the kind: see enum flk_event_kind */
	uint32_t pid, uid;
	union {
		struct {
			uint32_t weight;
			union {
				struct {
					uint32_t seat, limit;
				};
				struct took took; /* FLK_EV_RELEASED */
			};
			char command[20];
		};
		struct pace_words pace; /* FLK_EV_PACED */
		struct {                /* FLK_EV_GATE, FLK_EV_GATED */
			char when[24];
			uint64_t value;
		};
	};
};

#define EVENT_WORDS           (sizeof(struct event) / sizeof(uint64_t))
#define KIND(kind)            ((kind)&0xff)
#define SEAT(kind)            ((kind) >> 8)
#define WITH_SEAT(kind, seat) ((kind) | (seat) << 8)

struct list {
	uint32_t head, tail, count;
};

/* What the starts so far have used up of the pace: see pace.c. */
struct paced {
	uint64_t free_ns, last_ns, ramp_since_ns;
};

/*
 * A gate: conditions on the machine without which nothing starts.  See gate.c.  The text ends with a
 * zero.
 */
struct gate_words {
	char when[FLK_GATE_TEXT];
	uint64_t settle_ns, patience_ns;
};

/* Times are by the machine's clock. */
struct gate {
	/* Which of the two is in force, in the low two bits; 0: none.  Above, the number of changes. */
	uint64_t is;
	struct gate_words words[2];
	uint64_t
	    started_ns;  /* the last start: a reading admits none if it was made too soon after */
	uint64_t waiter; /* the ticket of the head for which units are free; and since when */
	uint64_t since_ns;
	/* The last reading, for people and for the second in the line. */
	uint64_t looked_ns;
	uint64_t value;  /* of the condition that did not hold; UINT64_MAX: not known */
	uint64_t failed; /* its number, from 1 on; 0: all held */
};

#define GATE_WHICH(is) ((is)&3)

/* Which file a limiter was created in; 0: not known.  See filesystem.c. */
struct bound {
	uint64_t device, inode;
	uint64_t born_ns; /* of the inode */
};

/*
 * On i386 a compiler aligns a word of 64 bits to 4 bytes.  Here each has an offset that is a
 * multiple of 8, so that the file is the same for a program of either size, and each store of such
 * a word is one store.
 */
struct header {
	_Alignas(8) _Atomic uint64_t magic; /* stored last: a file without it is no limiter yet */
	uint32_t layout, header_size, slot_size, byte_order;
	unsigned char boot[16];
	uint64_t birth; /* no two limiters have the same */
	_Alignas(8) _Atomic uint64_t lock;
	_Atomic uint32_t nslots;  /* how many slots have disk space; only grows */
	_Atomic uint32_t hint;    /* where the next claim begins to look */
	_Atomic uint32_t dead;    /* removed by an operator: its takers go to the new file */
	_Atomic uint32_t damaged; /* the slots contradict each other: all takers are turned away */
	_Atomic uint32_t doubted; /* two were inside: the lock's next owner rebuilds the index */

	/* How it is steered.  Each is one word, so each change is one store. */
	uint32_t declared;
	int64_t override; /* -1: none */
	uint32_t paused, closed;
	uint64_t withheld;
	struct pace_words pace;

	uint64_t last_ticket;

	/* Pacing; by the machine's clock. */
	struct paced paced, next;
	uint64_t starting; /* the ticket that is granted just now, with `next'; 0: none */
	uint64_t idle_since_ns;

	/* The index. */
	struct list waiting, holders;
	uint32_t barriers; /* among those waiting */
	_Alignas(8) uint64_t used;
	uint32_t min_limit, min_count;
	uint32_t seat_hint; /* no free seat below 64 times this */

	/* For people; a killed taker may have counted its last operation, or not. */
	_Alignas(8) uint64_t granted, released, left, evicted, reaped, repaired;
	struct flk_times waits, holds;

	/* The history: see history.c. */
	_Alignas(8) _Atomic uint64_t events; /* ever written; its low half is a futex */
	_Atomic uint32_t event_room;         /* how many have disk space; only grows */
	_Atomic uint32_t followed;           /* a follower may sleep on `events' */

	struct bound bound; /* written once, before `magic' */

	/*
	 * Never cleared: a permit was entrusted to a descriptor that its process had open already.
	 */
	_Atomic uint32_t lent;
	uint32_t fair; /* an enum flk_fair */

	_Alignas(8) uint64_t last_fence; /* drawn at each grant */
	uint64_t seats_off;              /* an operator took these seats out of use */

	struct gate gate;

	_Alignas(8) uint64_t turn; /* see fair.c */
};

/* True if all of our signature is there, but for the magic. */
static inline bool
header_is_ours(const struct header *h)
{
	return h->layout == LAYOUT && h->header_size == HEADER &&
	       h->slot_size == sizeof(struct slot) && h->byte_order == __BYTE_ORDER__;
}

_Static_assert(sizeof(struct alive) == 40, "glibc's and the kernel's view of a robust futex");
_Static_assert(offsetof(struct alive, next64) == 32, "futex_offset is -32");
_Static_assert(offsetof(struct alive, next32) == 20, "and -20 in a program with 32-bit pointers");
_Static_assert(offsetof(struct slot, worker_pid) == offsetof(struct slot, evictor_pid),
	       "one word in two states");
_Static_assert(HEADER % sizeof(struct slot) == 0 &&
		   offsetof(struct slot, role) + sizeof(uint32_t) == sizeof(struct slot),
	       "the last byte of a page is the high byte of a role");
_Static_assert(sizeof(struct slot) == 512, "slots must not change size by accident");
_Static_assert(offsetof(struct slot, seats) == 288, "offsets must not differ between processors");
_Static_assert(sizeof(struct event) == 64, "a page has 64 of them");
_Static_assert(MAX_SLOTS <= 1u << 24, "a seat fits beside a kind");
_Static_assert(offsetof(struct header, used) == 240 && offsetof(struct header, granted) == 264 &&
		   offsetof(struct header, bound) == 600 &&
		   offsetof(struct header, last_fence) == 632 &&
		   offsetof(struct header, seats_off) == 640,
	       "offsets must not differ between processors");
_Static_assert(sizeof(struct header) <= HEADER, "the header has one page");

/*
 * Read without the lock are these words, by the functions named.  Another process may change a
 * word right after it was read.  So what was read is a hint, or is looked at again inside, or never
 * changes any more.
 *
 *	magic to birth, bound	[check_header, look_again, was_limiter, flki_file_verify]
 *		A maker fills them in before it stores `magic', and then they stay until the next
 *		boot.  If the file was emptied and made anew under its takers, `birth' differs.
 *	lock	[flki_lock_take, flki_lock_is_left, flki_lock_owner]
 *		A compare-and-swap decides.  The other two: a hint.
 *	nslots	[flki_file_slots, flki_file_grow, check_header]
 *		It only grows, when the disk space is there.  An old value hides the newest slots;
 *		the lock's owner sees all that are in a list, whose owners had the lock before it.
 *	hint	[find_soon]
 *		Any value will do: a wrong one costs time.
 *	dead	[flki_file_open, flki_file_verify, flki_local_follow]
 *		It is never cleared.  A taker that read 0 is turned away inside, and a follower that
 *		read 0 sleeps on this word, too.
 *	gate	[flki_gate_is_set, flki_gate_copy, flki_gate_wants_look]
 *		An operator who sets a gate writes the words that are not in force, and then `is'.  A
 *		reader that copied words while `is' changed copies again.
 *	damaged	[check_header, and flki_quit after its drop]
 *		A taker that read 0 is turned away inside, or by its next call.  A taker that read 1
 *		while an operator repaired the limiter fails once more than it had to.
 *	declared	[flki_local_declared]
 *		The usual limit; queue_up() and the snapshots look again inside.
 *	pace	[may_be_paced, flki_local_pace]
 *		While an operator sets it, a start may go by the taker's own clock instead of the
 *		machine's, and people may see a part of the old one.
 *	fair	[flki_settings_read]
 *		For people, and for a command that sets it if it is another.
 *	lent	[flki_local_entrusted]
 *		A taker that read 0 inherited no descriptor with a permit: `lent' was stored before
 *		the permit was the descriptor's.
 *	waiting.head	[wake_head, would_be_head]
 *		A waiter that becomes the head later is woken then, and looks.
 *	events, and the history	[flki_local_history, flki_local_follow]
 *		A reader drops what may have been written over: see history.c.
 *	events, event_room	[flki_file_extend_history]
 *		The room only grows.  An event that comes before its room is lost.
 *
 * and of a slot:
 *
 *	alive	[all]
 *		The kernel's word.  A dead owner stays dead until the next claim.
 *	gen	[owner_dead, taker_has_slot]
 *		It only rises: an owner that finds another than its own has lost the slot for good.
 *	wake	[flki_local_wait]
 *		Before the lock is taken: a wake that comes after that ends the sleep at once.
 *	state	[claim, doubt]
 *		Only the owner leaves FREE, IDLE and OUT; claim() looks again once the slot is its
 *		own.  A taker that doubt() misses was in no line when doubt() looked, so it takes
 *		the lock once more before it sleeps, and finds the mark.
 *	state, ticket, weight, in_force, seat, seats, fence	[flki_local_holds]
 *		The copy counts if the slot has the same ticket before and after it.  A ticket is
 *		stored after the end of the slot's last permit, and before all that is its own.
 *	state, ticket, role, pid, worker_pid, exit_seen_ms, started_after_ns, started_before_ns
 *		[flki_orphan_is, await_command]
 *		They decide how long a thread waits for a command's end.  The head decides inside.
 *	pid	[find_stuck]
 *		For people.
 *	all of its own slot	[its owner: check_held, flki_local_permit, pass_on, out_or ...]
 *		The owner loads `state' first.  The commit of that state released the rest, which
 *		only a repair of damage changes until the owner goes on; but a holder's `weight' and
 *		`seats' also by flk_shrink() and flk_grow(), one store each.
 *
 * Written without the lock are `lock', `nslots', `hint', `doubted', `event_room' and `followed'; of
 * a slot `alive', `gen' and `wake'.  The owner of a slot also writes what claim() fills in, `status',
 * `took', `worker_pid', when that was started, `waits_for' and `role' of its permit; and it stores
 * FREE where IDLE or OUT was, and IDLE where OUT was.
 *
 * All else is read and written by the owner of the lock alone.  (A taker that has lost the lock
 * believes that it is the owner, until it leaves: see doubt() in inside.c.)
 */

#endif
