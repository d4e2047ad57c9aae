/* SPDX-License-Identifier: ISC */
/*
 * remains.c - what the death of an actor would leave, were it now: as a number, so that of all kills
 * that leave the same one is enough.
 *
 * It is the file but for its history, which only people read; the actor's robust list, as the kernel
 * would walk it; how many calls the actor has made that may leave something else, and which was the
 * last, and the same of a victim that was killed before; and where everybody is.  Times and process ids differ from round to round: a time is only
 * known to be one, and an id to be the first actor's, the second's and so on.
 */
#include "killstep.h"

#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

#include "../helpers/common.h"
#include "clock.h"

#define LONGEST_LIST 16
#define A_TIME       UINT64_C(0x74696d65)
#define AN_ID        UINT32_C(0x00f00000)
#define FLAGS        UINT32_C(0xc0000000) /* of the kernel, beside an id in a futex */

static uint64_t
mix(uint64_t sum, uint64_t word)
{
	sum = (sum ^ word) * UINT64_C(0x9e3779b97f4a7c15);
	return sum ^ sum >> 29;
}

/* ---- the file ---- */

/* The clocks now, and as they were when this process began to look. */
static struct {
	uint64_t from, to;
} clocks[2];

static void
look_at_clocks(void)
{
	static const clockid_t which[2] = { CLOCK_MONOTONIC, CLOCK_BOOTTIME };
	int i;

	for (i = 0; i < 2; i++) {
		clocks[i].to = flki_clock_ns(which[i]) + 60 * SECOND;
		if (clocks[i].from == 0)
			clocks[i].from = flki_clock_ns(which[i]) - 10 * SECOND;
	}
}

static bool
is_time(uint64_t word)
{
	return (word >= clocks[0].from && word <= clocks[0].to) ||
	       (word >= clocks[1].from && word <= clocks[1].to);
}

static uint32_t
without_id(const struct stage *s, uint32_t word)
{
	uint32_t who;

	for (who = 0; who < CAST; who++)
		if ((word & ~FLAGS) == (uint32_t)s->cast[who].id && s->cast[who].id != 0)
			return (word & FLAGS) | AN_ID | who;
	return word;
}

static uint64_t
mix_words(const struct stage *s, uint64_t sum, const void *from, size_t bytes)
{
	const uint64_t *word = from, *behind = word + bytes / sizeof(*word);

	for (; word < behind; word++) {
		uint64_t w = *word;
		if (is_time(w))
			w = A_TIME;
		else if (w != 0)
			w = (uint64_t)without_id(s, (uint32_t)(w >> 32)) << 32 |
			    without_id(s, (uint32_t)w);
		sum = mix(sum, w);
	}
	return sum;
}

/* Without what is one file's own, and what is counted for people. */
static uint64_t
sum_of_file(const struct stage *s, const char *h, const void *slots)
{
	uint64_t sum;

	look_at_clocks();
	sum = mix_words(s, 0, h + offsetof(struct header, lock),
			offsetof(struct header, granted) - offsetof(struct header, lock));
	sum = mix_words(s, sum, h + offsetof(struct header, events),
			offsetof(struct header, bound) - offsetof(struct header, events));
	sum = mix_words(s, sum, h + offsetof(struct header, lent),
			sizeof(struct header) - offsetof(struct header, lent));
	return mix_words(s, sum, slots, FIRST_SLOTS * sizeof(struct slot));
}

/* Most steps change nothing of the file. */
static uint64_t
mix_file(const struct stage *s, uint64_t sum)
{
	static _Alignas(8) unsigned char header[HEADER], slots[FIRST_SLOTS * sizeof(struct slot)];
	static uint64_t last;
	const struct file *f = &s->eye->file;

	if (memcmp(header, f->h, sizeof(header)) != 0 ||
	    memcmp(slots, f->slots, sizeof(slots)) != 0) {
		memcpy(header, f->h, sizeof(header));
		memcpy(slots, f->slots, sizeof(slots));
		last = sum_of_file(s, (const char *)header, slots);
	}
	return mix(sum, last);
}

/* ---- the actor's robust list ---- */

static uint64_t
peek(const struct actor *a, uintptr_t at)
{
	return (unsigned long)ptrace(PTRACE_PEEKDATA, a->pid, (void *)at, NULL);
}

/* The kernel walks it as far as it can, and then looks at the entry that is being put in or taken out. */
static uint64_t
mix_list(const struct actor *a, uint64_t sum)
{
	uintptr_t head, at;
	size_t size;
	int i;

	if (syscall(SYS_get_robust_list, a->pid, &head, &size) == -1 || head == 0)
		return sum;
	at = (uintptr_t)peek(a, head);
	for (i = 0; i < LONGEST_LIST && at != head && at != 0; i++) {
		sum = mix(sum, at);
		at = (uintptr_t)peek(a, at & ~(uintptr_t)1);
	}
	return mix(sum, peek(a, head + 2 * sizeof(uintptr_t)));
}

/* ---- calls ---- */

/* What these did is over when the process is. */
static const long passing[] = {
	CLOCK_CALL,
	SYS_brk,
	SYS_close,
	SYS_fstat,
	SYS_getdents64,
	SYS_getegid,
	SYS_geteuid,
	SYS_getgid,
	SYS_getpid,
	SYS_getppid,
	SYS_gettid,
	SYS_getuid,
	SYS_get_robust_list,
	SYS_lseek,
	SYS_mprotect,
	SYS_munmap,
	SYS_pread64,
	SYS_read,
	SYS_readlinkat,
	SYS_rt_sigaction,
	SYS_rt_sigprocmask,
#ifdef SYS_access
	SYS_access,
#endif
#ifdef SYS_mmap
	SYS_mmap,
#endif
#ifdef SYS_newfstatat
	SYS_newfstatat,
#endif
#ifdef SYS_readlink
	SYS_readlink,
#endif
};

bool
call_leaves(long call, uint64_t third)
{
	size_t i;

	if (call == SYS_openat)
		return (third & (O_CREAT | O_TRUNC)) != 0;
	for (i = 0; i < sizeof(passing) / sizeof(passing[0]); i++)
		if (passing[i] == call)
			return false;
	return true;
}

/* ---- all of it ---- */

static uint64_t
told_by(const struct actor *a)
{
	return mix(a->calls, (uint64_t)a->last_call);
}

void
stage_note_told(struct stage *s)
{
	s->told = told_by(&s->cast[VICTIM]);
}

uint64_t
stage_remains(const struct stage *s, const struct actor *a)
{
	uint64_t sum = mix(s->told, told_by(a));
	int who;

	if (a->where == NOT_THERE ||
	    s->eye == NULL) /* nobody sees the file: no two rounds are the same */
		return mix(sum, s->round);
	sum = mix(mix_list(a, sum), a->where == ASLEEP);
	for (who = 0; who < CAST; who++) {
		const struct actor *other = &s->cast[who];
		sum = mix(sum, other == a ? CAST : other->where);
		if (other->where == AT_DESK)
			sum = mix(sum, other->desk->held);
	}
	return mix_file(s, sum);
}
