/* SPDX-License-Identifier: ISC */
/*
 * chaos.h - the log in which the driver, the commands and the agents write what they see, and
 * from which the checker learns all that it knows.
 *
 * Each record is one line, written with one write() to a file opened with O_APPEND: a letter and
 * numbers.  Times are CLOCK_MONOTONIC in ns, taken before the write.
 *
 *	L t id lim group flags wait_ms run_ms key NUMBERS	a taker is about to be launched; what it
 *				asks for, in the order of ../helpers/request.h
 *	N t id lim w n		taker id + 1, which is launched next, is to hold this limiter as well (--and);
 *				id stands for its permit there
 *	S t id pid birth ticket w told seat fence seats	its command has started: what it was told;
 *				seats: a set, 0: it was told `seat' alone
 *	T t id pid birth ticket w told seat fence seats	the same of N's permit, which the command has read
 *	A t id pid		it still lives
 *	E t id pid code		its command is about to exit
 *	H t id pid		a child of the command, with its descriptors, has started
 *	D t id pid		that child is about to exit
 *	K t what target signal	a signal is about to be sent; CONT: was sent
 *	R t id status		a taker's process was reaped, with this status of wait()
 *	G t0 t1 lim birth verb value	the limiter was steered, at some time between
 *	U t0 t1 lim		the limiter's file was removed, at some time between
 *	M t0 t1 lim birth	it was removed by flk_remove(), as nobody used it
 *	C t id ticket		this taker was taken out of the line
 *	Q t lim what result	what an operator was told, or how a reader ended; 0 is well
 *	P t id first ticket times	its wait was interrupted; the tickets it had before and after
 *	I t0 t1 birth		flk_wait_idle() was called and returned 0
 *	B t0 t1			the machine was to do something at t0, and did it at t1
 *	W t lim birth used waiters check try	what was left at the end of a limiter file; 0 is well
 *	Z t hung		the driver is done; so many takers had to be killed by it
 */
#ifndef CHAOS_H
#define CHAOS_H

#include <stdbool.h>
#include <stdint.h>

#define LOG_FD 30 /* that of every process here */

enum flag {
	CLOSE = 1,     /* -o */
	EXEC = 2,      /* -F */
	WAIT = 4,      /* -t wait_ms */
	QUEUE = 8,     /* --max-queue */
	RUN = 16,      /* -T run_ms */
	KILL = 32,     /* -k */
	AGENT = 64,    /* a program that uses the library; its permit has no guard */
	IDLER = 128,   /* an agent that only waits until the limiter is idle */
	RESTLESS = 256 /* an agent whose wait is interrupted at random, and that waits on */
};

enum target { WRAPPER, COMMAND, GROUP }; /* WRAPPER: by id; COMMAND: by pid; GROUP: as in L */
/* GATE: one that nothing passes; VERBS are steered by limiters.c.  LOOKS: one that always holds. */
enum verb { OVERRIDE, PAUSE, SHUT, GATE, VERBS, LOOKS };

enum told { SNAPSHOT, EVICT, CHECK, REMOVE, READER, FOLLOW, PACE, ORDER, TURN };

#define FAIR 2 /* this limiter is fair, at times */
#define KEYS 3 /* of its takers; key 0 has those without one */

/* Every command exits with it. */
#define CODE(id) ((int)((id) % 50))

enum style { PLAIN, POLITE, STUBBORN }; /* at TERM: dies; says E and exits; says A and goes on */

/* say.c */
uint64_t chaos_now(void);
void chaos_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* command.c: what a process of the storm does; -1 if argv is the driver's */
int chaos_command(int argc, char **argv);

/* operator.c */
int chaos_follower(const char *path);

#endif
