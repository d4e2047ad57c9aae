/* SPDX-License-Identifier: ISC */
/*
 * processor.c - registers, breakpoints and the few instructions that stepping has to know.
 */
#include "processor.h"

#include <errno.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

#include "../helpers/tap.h"

#define NT_PRSTATUS 1
#define LONGEST     16 /* instructions of a sequence */

static const unsigned char breakpoint[] = { BREAKPOINT };

void
processor_set_pc(pid_t pid, uintptr_t pc)
{
	unsigned long word[64];
	struct iovec registers = { .iov_base = word, .iov_len = sizeof(word) };

	if (ptrace(PTRACE_GETREGSET, pid, (void *)NT_PRSTATUS, &registers) == -1)
		tap_bail("PTRACE_GETREGSET");
	word[PC_AT] = pc;
	if (ptrace(PTRACE_SETREGSET, pid, (void *)NT_PRSTATUS, &registers) == -1)
		tap_bail("PTRACE_SETREGSET");
}

void
processor_pass_stop(pid_t pid, uintptr_t pc)
{
	if (PC_BEYOND == 0 && memcmp((const void *)pc, breakpoint, sizeof(breakpoint)) == 0)
		processor_set_pc(pid, pc + sizeof(breakpoint));
}

bool
processor_break(pid_t pid, uintptr_t at, long *word)
{
	long changed;

	errno = 0;
	changed = *word = ptrace(PTRACE_PEEKTEXT, pid, (void *)at, NULL);
	if (errno != 0)
		return false;
	memcpy(&changed, breakpoint, sizeof(breakpoint));
	return ptrace(PTRACE_POKETEXT, pid, (void *)at, (void *)changed) == 0;
}

void
processor_restore(pid_t pid, uintptr_t at, long word)
{
	ptrace(PTRACE_POKETEXT, pid, (void *)at, (void *)word);
}

bool
processor_is_call(uintptr_t pc)
{
	const unsigned char *code = (const unsigned char *)pc;

#if defined(__x86_64__)
	return code[0] == 0x0f && code[1] == 0x05;
#elif defined(__i386__)      /* int 0x80, sysenter, syscall */
	return (code[0] == 0xcd && code[1] == 0x80) ||
	       (code[0] == 0x0f && (code[1] == 0x34 || code[1] == 0x05));
#elif defined(__aarch64__)   /* svc #0 */
	return memcmp(code, (const unsigned char[]){ 0x01, 0x00, 0x00, 0xd4 }, 4) == 0;
#elif defined(__powerpc64__) /* sc, scv 0 */
	return code[3] == 0x44 && code[2] == 0 && code[1] == 0 && (code[0] == 2 || code[0] == 1);
#else
	return code == NULL;
#endif
}

/* ---- sequences ---- */

#if defined(__aarch64__)

static bool
loads(uint32_t code)
{
	return (code & 0x3fc00000) == 0x08400000; /* ldxr and ldaxr, of all widths */
}

static bool
stores(uint32_t code)
{
	return (code & 0x3fc00000) == 0x08000000;
}

static bool
branches(uint32_t code, long *by)
{
	if ((code & 0xff000010) == 0x54000000 || (code & 0x7e000000) == 0x34000000)
		*by = ((int32_t)(code << 8) >> 13) * 4; /* b.cond, cbz, cbnz */
	else if ((code & 0x7e000000) == 0x36000000)
		*by = ((int32_t)(code << 13) >> 18) * 4; /* tbz, tbnz */
	else
		return false;
	return true;
}

#elif defined(__powerpc64__)

static bool
loads(uint32_t code)
{
	code &= 0xfc0007fe; /* lwarx, ldarx, lbarx, lharx */
	return code == 0x7c000028 || code == 0x7c0000a8 || code == 0x7c000068 || code == 0x7c0000e8;
}

static bool
stores(uint32_t code)
{
	code &= 0xfc0007ff; /* stwcx., stdcx., stbcx., sthcx. */
	return code == 0x7c00012d || code == 0x7c0001ad || code == 0x7c00056d || code == 0x7c0005ad;
}

static bool
branches(uint32_t code, long *by)
{
	*by = (int16_t)(code & 0xfffc);
	return code >> 26 == 16; /* bc */
}

#endif

unsigned
processor_sequence(uintptr_t pc, uintptr_t end[2])
{
#if defined(__aarch64__) || defined(__powerpc64__)
	const uint32_t *code = (const uint32_t *)pc;
	uintptr_t out = 0;
	unsigned i;
	long by;

	if (!loads(code[0]))
		return 0;
	for (i = 1; i < LONGEST && !stores(code[i]); i++) {
		if (!branches(code[i], &by))
			continue;
		if (out != 0)
			return 0;
		out = pc + 4 * i + (uintptr_t)by;
	}
	if (i == LONGEST)
		return 0;
	end[0] = pc + 4 * i + 4;
	end[1] = out;
	/* A branch to before the store is not an end. */
	return out == 0 || (out >= pc && out < end[0]) ? 1 : 2;
#else
	(void)pc;
	end[0] = end[1] = 0;
	return 0;
#endif
}
