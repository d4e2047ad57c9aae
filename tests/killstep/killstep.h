/* SPDX-License-Identifier: ISC */
/*
 * killstep.h - killed after every instruction.
 *
 * Everybody on the stage is a process under one controller, by ptrace, and only one of them runs
 * at a time.  Who is asleep stops the instant its sleep ends and before it runs on, so the
 * controller knows who was woken, by a wake or by a death, and who was not; a wake-up that got
 * lost shows at once, without a clock.  The controller reads the file and never touches it.
 */
#ifndef KILLSTEP_H
#define KILLSTEP_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>
#include <sys/syscall.h>
#include <sys/types.h>

#include "flocklimit.h"
#include "internal.h"

/* ---- actors: actor.c, step.c or stops.c, trace.c ---- */

/* What an actor has at hand. */
struct part {
	const char *path;
	struct flk *f;
	struct flk_taker *t;
};

typedef int deed(struct part *part);

enum where { NOT_THERE, AT_DESK, AMID, ASLEEP, WOKEN };

/* Shared between an actor and the controller. */
struct desk {
	deed *deed;
	bool at;       /* the deed is done */
	bool steps;    /* the actor is stepped, and does not stop by itself before it sleeps */
	bool stops;    /* the actor stops at each stop() */
	int code;      /* what it returned */
	uint32_t held; /* the weight of the permit, as the actor is told */
	uint64_t ticket;
};

struct actor {
	pid_t pid;
	pid_t id; /* the same, and still when it is gone */
	enum where where;
	int crash;      /* the signal that ended it, when that was none of ours */
	int signal;     /* the signal that it gets when it goes on, or 0 */
	bool kept;      /* it ended a deed and was not let out of its last instruction */
	bool loose;     /* it sleeps, and would not stop when that ends */
	bool extra;     /* it has none of the slots that the stage keeps for its cast */
	bool dirty;     /* it was interrupted: its next wait may end at once */
	bool follows;   /* the call it is in is the sleep of one who follows the history */
	long call;      /* the system call it is in, or -1 */
	bool leaves;    /* that call may leave something when the actor is dead: remains.c */
	long last_call; /* the last such call that it came out of, or -1; and how many */
	unsigned calls;
	unsigned long word; /* that call's first argument */
	int stat;           /* its /proc/PID/stat */
	struct desk *desk;
};

/* Can actors be stepped here? */
bool actor_possible(void);
/* What `make check' takes for a sample of all operations. */
extern const double sample_seconds;
void actor_start(struct actor *a, const char *path);
void actor_kill(struct actor *a);
uintptr_t actor_pc(const struct actor *a);

/* Has it do so, until it is back at its desk or asleep. */
void actor_do(struct actor *a, deed *deed);
/* The same for what can't sleep: the system calls are not looked at. */
void actor_do_at_once(struct actor *a, deed *deed);
/* Goes on with what was begun, until desk or sleep. */
void actor_run(struct actor *a);
/* Goes on to its next system call, or to the end of one: false if it is at its desk or asleep. */
bool actor_to_call(struct actor *a);
/* One who was asleep: is it still? */
void actor_refresh(struct actor *a);
/* It sleeps until there is news in the history. */
bool actor_follows(const struct actor *a);
/* It sleeps, and SIGUSR1 ends that; the handler runs when it goes on. */
void actor_signal(struct actor *a);
/* One whom time wakes. */
void actor_wait_up(struct actor *a);

/* By which an actor reads the clock, and tells the kernel nothing. */
#ifndef SYS_clock_gettime64
#define SYS_clock_gettime64 403
#endif
#define CLOCK_CALL (sizeof(time_t) > sizeof(long) ? SYS_clock_gettime64 : SYS_clock_gettime)

/*
 * What a deed's steps were: a point is where it can be killed.  After each instruction, and for a
 * system call as well on the way in and, if it sleeps, asleep.
 */
struct trace {
	long points; /* 0 .. points */
	long room;
	uintptr_t *pc;     /* of each point; 0 where there is no use in stopping there */
	bool *slept;       /* this point is a sleep */
	uint64_t *remains; /* what a death leaves there */
	long *before;      /* the latest point before this one with its pc; -1: none */
	long *awake;       /* the last point before the next sleep */
};

void actor_begin(struct actor *a, deed *deed); /* without a step */
/* To the next point: false if it is at its desk or gone. */
bool actor_step(struct actor *a);
/* From point `from' straight to one at or before `to', if that saves steps; returns where it is. */
long actor_leap(struct actor *a, const struct trace *t, long from, long to);

void trace_reset(struct trace *t);
void trace_add(struct trace *t, struct actor *a, uint64_t remains);
/* Does a death there leave something else than at the point before? */
bool trace_changed(const struct trace *t, long point);
void trace_finish(struct trace *t);
/* The furthest point up to `to' that a breakpoint reaches from `from' with its first hit. */
long trace_leap(const struct trace *t, long from, long to);

/* ---- the stage: stage.c, truth.c, remains.c ---- */

enum role { FIRST, SECOND, THIRD, FOURTH, STEWARD, VICTIM, CAST };

enum style {
	BACKWARD = 1, /* who was woken last goes on first */
	BY_DEATH = 2, /* holders end by SIGKILL instead of a release */
	STYLES = 4
};

struct operation;

struct stage {
	char path[128];
	struct flk *eye;      /* reads */
	unsigned char *image; /* of the file when everybody is idle */
	struct actor cast[CAST];
	const struct operation *op;
	uint32_t most;   /* units that may be held at once */
	uint64_t ticket; /* the latest that anybody got */
	uint64_t heard;  /* the last event that one who follows knows */
	uint64_t round;
	uint64_t told; /* what the victim had told the kernel when it was killed; see remains.c */
	bool failed;
	char why[240];
};

struct operation {
	const char *name;
	const char *covers;              /* the functions of the library that this is about */
	void (*before)(struct stage *s); /* the others, before the victim is there */
	deed *ready;                     /* the victim, before its steps; it may not sleep */
	void (*around)(struct stage *s); /* the others, once the victim is in its place */
	deed *steps;                     /* what is killed */
	void (*asleep)(struct stage *s); /* what ends the victim's sleep; NULL: time does */
	int code;                        /* what the steps return when nobody kills */
	void (*after)(struct stage *s);  /* the others, once the victim is dead */
	unsigned flags;
};

enum { RAW = 1, NEW_FILE = 2, SLEEPS_ON = 4, NO_FILE = 8, FULL = 16, LASTING = 32 };

void stage_open(struct stage *s, const struct operation *op);
void stage_close(struct stage *s);
void stage_fail(struct stage *s, const char *words, ...) __attribute__((format(printf, 2, 3)));

/* What those do who are not stepped. */
void act(struct stage *s, enum role who, deed *deed);
void slay(struct stage *s, enum role who);

void stage_look_around(struct stage *s); /* who was woken? */
void stage_settle(struct stage *s, unsigned style);
void stage_check(struct stage *s);
/* What the actor's death would leave now.  Equal numbers: the same, but for times and process ids. */
uint64_t stage_remains(const struct stage *s, const struct actor *a);
/* Whether the call, with this third argument, may leave something when its process is dead. */
bool call_leaves(long call, uint64_t third);
/* To be called before the victim is killed. */
void stage_note_told(struct stage *s);
void stage_drain(struct stage *s, unsigned style);
uint64_t stage_withheld(const struct stage *s);
uint32_t stage_slots(const struct stage *s);

extern const char *const stage_roles[CAST];

/* ---- a round: round.c ---- */

extern struct trace trace, second_trace; /* of the victim, of its mender */

/* All of it, unharmed: its trace, and that it does what the table says. */
bool rehearse(struct stage *s, const struct operation *op);

/*
 * Killed after k, and if j is not -1 the mender after j; true if all that must hold then does.
 * With `record' the mender's trace is taken and it is killed at the end; *points is where it was.
 */
bool play(struct stage *s, const struct operation *op, long k, long j, unsigned style, bool record,
	  long *points);

/* ---- the operations ---- */

/* table.c: one after another; NULL after the last. */
const struct operation *operation(unsigned i);
unsigned operations_in_all(void);
/* LASTING: is the file system of the limiters known to outlive a boot? */
bool operation_is_possible(unsigned i);
/* Is its name in a list with commas? */
bool operation_is_among(unsigned i, const char *list);

/*
 * ops.c; steer.c: of operators and readers; turns.c: in a fair limiter, and growth; interrupt.c: waits
 * that are interrupted; orders.c: orders to all limiters.
 */
extern const struct operation operations[], operator_operations[], turn_operations[],
    interrupt_operations[], order_operations[];
extern const unsigned operations_count, operator_operations_count, turn_operations_count,
    interrupt_operations_count, order_operations_count;

/* orders.c: the limiters of this process are in the limiter directory. */
void orders_begin(void);

deed repair; /* steer.c */

/* deeds.c */
deed come, idle, take_one, take_all, take_elastic, take_if_alone, try_one, line_up_for_one,
    line_up_for_all, wait_on, wait_no_longer, take_all_soon, cancel, cancelled_in_line,
    wait_and_leave, leave, release, release_one, forget, forget_one, restore_one, restore_all,
    set_limit, override_nothing, override_one, override_three, lift_override, pause_it, resume,
    refuse_all, admit, wait_idle, look, check_it, guard, take_all_guarded, end, break_index,
    doubt_index, lose_lock, lose_lock_inside, notice_lost_lock, take_but_first, take_but_second,
    take_seat_out, put_seat_back, lift_gate;

/* What the others do: ops.c */
void first_holds(struct stage *s);
void first_holds_second_waits(struct stage *s);
void first_releases(struct stage *s);
void two_behind(struct stage *s);
void second_dies(struct stage *s);

/* make.c */
void empty_file(struct stage *s);
void old_boot(struct stage *s);
void a_copy(struct stage *s);
void others_fill_it(struct stage *s);
void history_runs_short(struct stage *s);
deed be_made, grow_it;
void newcomer_finds_it_whole(struct stage *s);

#endif
