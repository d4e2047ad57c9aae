/* SPDX-License-Identifier: ISC */
/*
 * hooks.c - what the sources of lib/ call at each access: by instrument.h, and by the compiler, which
 * takes the explorer for the thread sanitizer.
 */
#include "weak.h"

#include <string.h>

static uint64_t
direct(const volatile void *p, size_t size)
{
	return size == 8   ? *(const volatile uint64_t *)p
	       : size == 4 ? *(const volatile uint32_t *)p
			   : *(const volatile uint8_t *)p;
}

static void
set_direct(volatile void *p, size_t size, uint64_t value)
{
	if (size == 8)
		*(volatile uint64_t *)p = value;
	else if (size == 4)
		*(volatile uint32_t *)p = (uint32_t)value;
	else
		*(volatile uint8_t *)p = (uint8_t)value;
}

uint64_t
weak_load(const volatile void *p, size_t size, struct site *site)
{
	if (!memory_has(p))
		return direct(p, size);
	site->hits++;
	return memory_load(p, size, site->order);
}

void
weak_store(volatile void *p, size_t size, uint64_t value, struct site *site)
{
	if (!memory_has(p)) {
		set_direct(p, size, value);
		return;
	}
	site->hits++;
	memory_store(p, size, value, site->order);
}

uint64_t
weak_rmw(volatile void *p, size_t size, enum rmw op, uint64_t value, struct site *site)
{
	uint64_t was;

	if (memory_has(p)) {
		site->hits++;
		return memory_rmw(p, size, op, value, site->order);
	}
	was = direct(p, size);
	set_direct(p, size, memory_modified(was, op, value));
	return was;
}

bool
weak_cas(volatile void *p, size_t size, void *expected, uint64_t value, bool may_fail,
	 struct site *site)
{
	uint64_t was = direct(expected, size);
	bool done;

	if (memory_has(p)) {
		site->hits++;
		done = memory_cas(p, size, &was, value, may_fail, site->order);
	} else {
		done = direct(p, size) == was;
		was = direct(p, size);
		if (done)
			set_direct(p, size, value);
	}
	if (!done)
		set_direct(expected, size, was);
	return done;
}

void
weak_fence(struct site *site)
{
	site->hits++;
	if (site->order != NONE)
		memory_fence_of(site->order);
}

void *
weak_memcpy(void *to, const void *from, size_t n)
{
	memory_plain_at(from, n, false, __builtin_return_address(0));
	memory_plain_at(to, n, true, __builtin_return_address(0));
	return memcpy(to, from, n);
}

void *
weak_memset(void *to, int byte, size_t n)
{
	memory_plain_at(to, n, true, __builtin_return_address(0));
	return memset(to, byte, n);
}

/* ---- what the compiler puts before plain accesses, with -fsanitize=thread ---- */

#define HOOK(name, size, writes)                                                   \
	void name(const void *p);                                                  \
	void name(const void *p)                                                   \
	{                                                                          \
		memory_plain_at(p, (size), (writes), __builtin_return_address(0)); \
	}

HOOK(__tsan_read1, 1, false)
HOOK(__tsan_read2, 2, false)
HOOK(__tsan_read4, 4, false)
HOOK(__tsan_read8, 8, false)
HOOK(__tsan_read16, 16, false)
HOOK(__tsan_write1, 1, true)
HOOK(__tsan_write2, 2, true)
HOOK(__tsan_write4, 4, true)
HOOK(__tsan_write8, 8, true)
HOOK(__tsan_write16, 16, true)
HOOK(__tsan_unaligned_read2, 2, false)
HOOK(__tsan_unaligned_read4, 4, false)
HOOK(__tsan_unaligned_read8, 8, false)
HOOK(__tsan_unaligned_read16, 16, false)
HOOK(__tsan_unaligned_write2, 2, true)
HOOK(__tsan_unaligned_write4, 4, true)
HOOK(__tsan_unaligned_write8, 8, true)
HOOK(__tsan_unaligned_write16, 16, true)

#define RANGE(name, writes)                                                   \
	void name(const void *p, size_t n);                                   \
	void name(const void *p, size_t n)                                    \
	{                                                                     \
		memory_plain_at(p, n, (writes), __builtin_return_address(0)); \
	}

RANGE(__tsan_read_range, false)
RANGE(__tsan_write_range, true)

/* Of an _Atomic variable that is named without a function: seq_cst. */
#define IMPLICIT(bits)                                                                       \
	uint##bits##_t __tsan_atomic##bits##_load(const volatile void *p, int order);        \
	uint##bits##_t __tsan_atomic##bits##_load(const volatile void *p, int order)         \
	{                                                                                    \
		return (uint##bits##_t)(memory_has(p) ? memory_load(p, (bits) / 8, order)    \
						      : direct(p, (bits) / 8));              \
	}                                                                                    \
	void __tsan_atomic##bits##_store(volatile void *p, uint##bits##_t value, int order); \
	void __tsan_atomic##bits##_store(volatile void *p, uint##bits##_t value, int order)  \
	{                                                                                    \
		if (memory_has(p))                                                           \
			memory_store(p, (bits) / 8, value, order);                           \
		else                                                                         \
			set_direct(p, (bits) / 8, value);                                    \
	}

IMPLICIT(8)
IMPLICIT(32)
IMPLICIT(64)

void __tsan_init(void);
void
__tsan_init(void)
{
}

void __tsan_func_entry(void *pc);
void
__tsan_func_entry(void *pc)
{
	(void)pc;
}

void __tsan_func_exit(void);
void
__tsan_func_exit(void)
{
}

/* clang's own of memcpy(3) and memset(3), also where the source has an assignment. */
void *__tsan_memcpy(void *to, const void *from, size_t n);
void *
__tsan_memcpy(void *to, const void *from, size_t n)
{
	return weak_memcpy(to, from, n);
}

void *__tsan_memset(void *to, int byte, size_t n);
void *
__tsan_memset(void *to, int byte, size_t n)
{
	return weak_memset(to, byte, n);
}
