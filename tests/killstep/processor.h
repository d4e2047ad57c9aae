/* SPDX-License-Identifier: ISC */
/*
 * processor.h - what stepping has to know of a processor.
 */
#ifndef PROCESSOR_H
#define PROCESSOR_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * STOP_HERE() is the instruction that a breakpoint is, so it ends in a stop by SIGTRAP.
 *
 * PC_AT is the place of the program counter among the words of NT_PRSTATUS; BREAKPOINT is the
 * instruction's bytes, and the program counter of a process that has stopped there is PC_BEYOND
 * bytes behind its first.
 *
 * CAN_STEP is false where no process can be stepped by instructions, and step.c is of no use.  The
 * kernel has no PTRACE_SINGLESTEP for armhf since Linux 2.6.39, and none for riscv64.  s390x has
 * it, but under qemu 7.2 a process that was stepped died of SIGSEGV after twelve steps.
 */
#if defined(__x86_64__) || defined(__i386__)
#define CAN_STEP    true
#define STOP_HERE() __asm__ volatile("int3" ::: "memory")
#define BREAKPOINT  0xcc
#define PC_BEYOND   1
#ifdef __x86_64__
#define PC_AT 16
#else
#define PC_AT 12
#endif
#elif defined(__aarch64__)
#define CAN_STEP    true
#define STOP_HERE() __asm__ volatile("brk #0" ::: "memory")
#define BREAKPOINT  0x00, 0x00, 0x20, 0xd4
#define PC_BEYOND   0
#define PC_AT       32
#elif defined(__powerpc64__) && defined(__LITTLE_ENDIAN__)
#define CAN_STEP    true
#define STOP_HERE() __asm__ volatile("trap" ::: "memory")
#define BREAKPOINT  0x08, 0x00, 0xe0, 0x7f
#define PC_BEYOND   0
#define PC_AT       32
#elif defined(__riscv)
#define CAN_STEP false
#define STOP_HERE() \
	__asm__ volatile(".option push\n.option norvc\nebreak\n.option pop" ::: "memory")
#define BREAKPOINT 0x73, 0x00, 0x10, 0x00
#define PC_BEYOND  0
#define PC_AT      0
#elif defined(__arm__)
#define CAN_STEP  false
#define PC_BEYOND 0
#define PC_AT     15
#ifdef __thumb__
#define STOP_HERE() __asm__ volatile(".inst.n 0xde01" ::: "memory")
#define BREAKPOINT  0x01, 0xde
#else
#define STOP_HERE() __asm__ volatile(".inst 0xe7f001f0" ::: "memory")
#define BREAKPOINT  0xf0, 0x01, 0xf0, 0xe7
#endif
#elif defined(__s390x__)
#define CAN_STEP    false
#define STOP_HERE() __asm__ volatile(".short 0x0001" ::: "memory")
#define BREAKPOINT  0x00, 0x01
#define PC_BEYOND   2
#define PC_AT       1
#else
#error "what does a breakpoint look like on this processor?"
#endif

void processor_set_pc(pid_t pid, uintptr_t pc);

/* If the actor, which runs our code, has stopped at a STOP_HERE(), moves its program counter past it. */
void processor_pass_stop(pid_t pid, uintptr_t pc);

/* Puts a breakpoint there; false if it can't.  *word is what was there, for processor_restore(). */
bool processor_break(pid_t pid, uintptr_t at, long *word);
void processor_restore(pid_t pid, uintptr_t at, long word);

/*
 * What is at pc in this process, of which the actors are forks and which has the same code: a
 * system call?
 */
bool processor_is_call(uintptr_t pc);

/*
 * The beginning of a loop of load-reserved and store-conditional?  A stop between the two takes the
 * reservation away, so an actor that is stepped through them would never leave the loop.  Returns
 * how many ends the sequence has, one or two, and where the actor comes out; 0 if it is none.
 */
unsigned processor_sequence(uintptr_t pc, uintptr_t end[2]);

#endif
