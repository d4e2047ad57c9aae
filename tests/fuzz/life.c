/* SPDX-License-Identifier: ISC */
#include "life.h"
#include "../helpers/request.h"
#include "../helpers/steer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "filesystem.h"
#include "internal.h"
#include "own.h"

#define TAKERS   4
#define STEPS    64 /* enough to fill a line, lie about it, and look at it from all sides */
#define PRISTINE ((uint32_t)SLOTS_AT + FIRST_SLOTS * (uint32_t)sizeof(struct slot))
#define AWAIT_MS 2000

struct life {
	char path[256];
	int fd;    /* ours, not the limiter's */
	char *map; /* the same memory, mapped once more */
	size_t size;
	struct flk *f;
	struct flk_taker *t[TAKERS];
	const struct life_watch *watch;
};

/* Any bytes over any place. */
static void
overlay(struct life *l, struct bytes *b)
{
	size_t at = take16(b), n = take8(b);

	for (; n > 0; n--, at++) {
		uint8_t byte = take8(b);
		if (at < l->size)
			__atomic_store_n(l->map + at, (char)byte, __ATOMIC_RELAXED);
	}
}

/* ---- the file ---- */

static void
pristine_image(const char *path, char image[PRISTINE])
{
	static char kept[PRISTINE];
	static bool have;
	struct flk_options options = { .limit = 3 };
	struct flk *f;
	int fd;

	if (!have) {
		unlink(path); /* of an input that died */
		require(flk_attach(&f, path, &options) == 0);
		flk_detach(f);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		require(fd != -1 && read(fd, kept, sizeof(kept)) == (ssize_t)sizeof(kept));
		close(fd);
		unlink(path);
		have = true;
	}
	memcpy(image, kept, sizeof(kept));
}

static off_t
chosen_size(struct bytes *b)
{
	switch (take8(b) % 32) { /* the large ones are slow */
	case 0:
		return HEADER;
	case 1:
		return take16(b);
	case 2:
		return (off_t)SLOTS_AT + (off_t)take8(b) * (off_t)sizeof(struct slot);
	case 3:
		return (off_t)MAP_BYTES;
	case 4:
		return (off_t)MAP_BYTES + take16(b);
	default:
		return PRISTINE;
	}
}

static void
make_file(struct life *l, off_t size)
{
	char image[PRISTINE];
	struct bound bound;
	struct stat sb;

	snprintf(l->path, sizeof(l->path), "%s/limiter", fuzz_dir());
	pristine_image(l->path, image);
	l->fd = open(l->path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	require(l->fd != -1);
	require(write(l->fd, image, sizeof(image)) == (ssize_t)sizeof(image));
	require(fstat(l->fd, &sb) == 0);
	bound = flki_fs_bound(l->fd, flki_fs_kind(l->fd), &sb);
	require(pwrite(l->fd, &bound, sizeof(bound), offsetof(struct header, bound)) ==
		(ssize_t)sizeof(bound));
	require(ftruncate(l->fd, size) == 0);
	l->size = (size_t)size < MAP_BYTES ? (size_t)size : MAP_BYTES;
	l->map = mmap(NULL, MAP_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, l->fd, 0);
	require(l->map != MAP_FAILED);
}

/* ---- steps ---- */

enum step {
	LIE,
	OVERLAY,
	TRY,
	ENQUEUE,
	WAIT,
	WAIT_CANCELLED,
	LEAVE,
	RELEASE,
	RELEASE_UNITS,
	FORGET,
	SNAPSHOT,
	CHECK,
	PLACE,
	HOLDS,
	OVERRIDE,
	PAUSE,
	RESUME,
	REFUSE,
	ADMIT,
	SET_LIMIT,
	RESTORE,
	WAIT_IDLE,
	PERMIT,
	GUARD,
	ANOTHER_TAKER,
	VERIFY,
	GUARD_BYTE,
	ATTACH,
	LAST_STEP
};

/* The first of those bytes that mean an operator instead: a new step is not to change the old. */
#define OPERATE 240
#define LATER   239 /* and this byte means one of what came later still, */
#define LATEST  238 /* and this one of the latest */
#define SEATED  237 /* and this one of seats */
#define GATED   236 /* and this one of the gate */

static struct timespec
soon(struct bytes *b)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	t.tv_nsec += take8(b) % 4 * 300000L; /* at most a ms, and at once */
	t.tv_sec += t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	return t;
}

static void
look_at_copies(struct life *l, struct flk_taker *t, uint8_t which)
{
	struct flk_snapshot *s;
	struct flk_place place;
	char why[100] = "";
	uint32_t i;

	if (which == SNAPSHOT) {
		int code = flk_snapshot(l->f, &s);
		life_one_of_ours(code);
		if (code != 0)
			return;
		require(s->holders <= MAX_SLOTS && s->waiters <= MAX_SLOTS);
		for (i = 0; i < s->holders + s->waiters; i++)
			require(strnlen(s->entry[i].command, FLK_COMMAND) < FLK_COMMAND);
		free(s);
	} else if (which == CHECK) {
		life_one_of_ours(flk_check(l->f, why, sizeof(why)));
		require(strnlen(why, sizeof(why)) < sizeof(why));
	} else {
		int code = flk_place(t, &place);
		life_one_of_ours(code);
		if (code == 0) {
			require(strnlen(place.head.command, FLK_COMMAND) < FLK_COMMAND);
			require(strnlen(place.oldest.command, FLK_COMMAND) < FLK_COMMAND);
		}
	}
}

static void
take_later_step(struct flk *f, struct flk_taker *t, struct bytes *b)
{
	struct timespec deadline;
	int code;

	switch (take8(b) % 6) {
	case 0: /* for a wait that comes later */
		flk_interrupt(t);
		break;
	case 1: /* without a deadline, but called away */
		flk_interrupt(t);
		life_one_of_ours(flk_wait(t, NULL, NULL));
		break;
	case 2: /* called away, and back */
		deadline = soon(b);
		flk_interrupt(t);
		code = flk_wait(t, &deadline, NULL);
		life_one_of_ours(code);
		if (code == -EINTR)
			life_one_of_ours(flk_wait(t, &deadline, NULL));
		break;
	case 3:
		code = flki_is_taker(f, take8(b), getpid());
		require(code <= 1);
		life_one_of_ours(code == 1 ? 0 : code);
		break;
	case 4:
		life_one_of_ours(flk_working(t, take8(b) % 2 ? getpid() : (pid_t)take32(b)));
		break;
	default:
		flki_working_child(t);
		break;
	}
}

/* Permits of what is free, whatever else is asked for, and permits that shrink. */
static void
take_latest_step(struct life *l, struct flk_taker *t, struct bytes *b)
{
	struct flk_request want = { .limit = 3, .command = "make -j4" };
	uint8_t which = take8(b);
	size_t i;

	if (which % 3 == 0) {
		life_one_of_ours(
		    flk_shrink(l->f, life_some_ticket(l->f, b), (uint32_t)take8(b) % 4));
		return;
	}
	want.weight = take8(b) % 4;
	want.most = take8(b) % 5;
	for (i = 0; i < REQUEST_NUMBERS; i++)
		if (request_numbers[i].most > 0)
			*request_number(&want, i) = take8(b) % (request_numbers[i].most + 1);
	life_one_of_ours(which % 3 == 1 ? flk_try(t, &want) : flk_enqueue(t, &want));
}

/* Seats out of use, and takers that do not want some. */
static void
take_seat_step(struct life *l, struct flk_taker *t, struct bytes *b)
{
	struct flk_request want = { .limit = 3, .command = "train" };
	uint8_t which = take8(b);

	if (which % 2 == 0) {
		life_one_of_ours(steer_seat(l->f, take8(b) % 66, which % 4 != 0));
		return;
	}
	want.weight = take8(b) % 4;
	want.most = take8(b) % 5;
	want.limit = which % 4 == 1 ? 3 : take8(b);
	want.not_seats = which % 8 < 4 ? take8(b) : take64(b);
	life_one_of_ours(flk_try(t, &want));
}

static bool
say_no(void *context)
{
	(void)context;
	return false;
}

/* A gate, and takers with a question. */
static void
take_gate_step(struct life *l, struct flk_taker *t, struct bytes *b)
{
	static const char *const texts[] = { "", "mem>1", "running<1", "disk:/>1,psi.io<50",
					     "mem" };
	struct flk_settings now;
	struct flk_gate gate = { .settle_ns = (uint64_t)take8(b) << 22,
				 .patience_ns = take8(b) % 2 ? UINT64_MAX : 1000 };
	struct flk_request want = { .limit = 3, .command = "train", .ask = say_no };
	struct timespec deadline;
	int code;

	switch (take8(b) % 4) {
	case 0:
		snprintf(gate.when, sizeof(gate.when), "%s", texts[take8(b) % 5]);
		life_one_of_ours(steer_gate(l->f, &gate));
		break;
	case 1:
		life_one_of_ours(flk_get(l->f, &now));
		require(strnlen(now.gate.when, sizeof(now.gate.when)) < sizeof(now.gate.when));
		break;
	case 2:
		want.ask_patience_ns = take8(b) % 2 ? UINT64_MAX : 1;
		life_one_of_ours(take8(b) % 2 ? flk_try(t, &want) : flk_enqueue(t, &want));
		break;
	default:
		deadline = soon(b);
		code = flk_wait(t, &deadline, NULL);
		if (code == -FLK_ASK)
			flk_answer(t, take8(b) % 2 != 0);
		else
			life_one_of_ours(code);
		break;
	}
}

static void
take_step(struct life *l, struct flk_taker **t, struct bytes *b)
{
	struct flk_request want = { .weight = 1, .limit = 3, .command = "make -j4" };
	uint8_t step = take8(b);
	struct flock lock = { .l_type = F_RDLCK, .l_len = 1 };
	struct flk_permit permit;
	struct timespec deadline;
	struct lie lie;
	struct flk *other;
	int fd;

	if (step >= OPERATE) {
		life_operate(l->f, *t, l->path, b);
		return;
	}
	if (step == LATER) {
		take_later_step(l->f, *t, b);
		return;
	}
	if (step == LATEST) {
		take_latest_step(l, *t, b);
		return;
	}
	if (step == SEATED) {
		take_seat_step(l, *t, b);
		return;
	}
	if (step == GATED) {
		take_gate_step(l, *t, b);
		return;
	}
	step %= LAST_STEP;
	switch (step) {
	case LIE:
		lie = life_lie(b);
		life_tell(l->map, l->size, &lie);
		break;
	case OVERLAY:
		overlay(l, b);
		break;
	case TRY:
	case ENQUEUE:
		want.weight = take8(b) % 4;
		want.limit = take8(b) % 5;
		want.limit_queue = (want.limit & 1) != 0;
		want.max_queue = 2;
		life_one_of_ours(step == TRY ? flk_try(*t, &want) : flk_enqueue(*t, &want));
		break;
	case WAIT:
		deadline = soon(b);
		life_one_of_ours(flk_wait(*t, &deadline, NULL));
		break;
	case WAIT_CANCELLED: /* without a deadline, but told to stop */
		flk_cancel(*t);
		life_one_of_ours(flk_wait(*t, NULL, NULL));
		break;
	case LEAVE:
		life_one_of_ours(flk_leave(*t));
		break;
	case RELEASE:
		life_one_of_ours(flk_release(*t));
		break;
	case RELEASE_UNITS:
		life_one_of_ours(flk_release_units(*t, take8(b) % 4));
		break;
	case FORGET:
		life_one_of_ours(flk_forget(*t));
		break;
	case SNAPSHOT:
	case CHECK:
	case PLACE:
		look_at_copies(l, *t, step);
		break;
	case HOLDS:
		life_one_of_ours(flk_holds(l->f, take32(b), take8(b), &permit) ? 0 : -FLK_NOPERMIT);
		break;
	case OVERRIDE:
		life_one_of_ours(steer_override(l->f, (int64_t)(take8(b) % 5) - 1));
		break;
	case PAUSE:
		life_one_of_ours(steer_pause(l->f));
		break;
	case RESUME:
		life_one_of_ours(steer_resume(l->f));
		break;
	case REFUSE:
		life_one_of_ours(steer_close(l->f));
		break;
	case ADMIT:
		life_one_of_ours(steer_open(l->f));
		break;
	case SET_LIMIT:
		life_one_of_ours(steer_limit(l->f, take8(b) % 5));
		break;
	case RESTORE:
		life_one_of_ours(steer_restore(l->f, take8(b)));
		break;
	case WAIT_IDLE:
		deadline = soon(b);
		life_one_of_ours(flk_wait_idle(*t, &deadline));
		break;
	case PERMIT:
		life_one_of_ours(flk_permit(*t, &permit));
		break;
	case GUARD:
		life_one_of_ours(flk_guard(*t, &fd));
		break;
	case ANOTHER_TAKER:
		flk_taker_free(*t);
		require(flk_taker_new(t, l->f) == 0);
		break;
	case VERIFY:
		life_one_of_ours(flk_verify(l->f));
		break;
	case GUARD_BYTE: /* as a command has it whose wrapper is dead */
		lock.l_start = GUARD_BASE + take8(b) % LIE_SLOTS;
		fcntl(l->fd, F_OFD_SETLK, &lock);
		break;
	default:
		fd = flk_attach(&other, l->path, NULL);
		life_one_of_ours(fd);
		if (fd == 0)
			flk_detach(other);
		break;
	}
}

/* ---- the end ---- */

/* The kernel reads this list when the thread dies, and the C library writes to it. */
static void
no_robust_list_left(void)
{
	struct {
		uintptr_t first;
	} * head;
	size_t size;

	require(syscall(SYS_get_robust_list, 0, &head, &size) == 0);
	require(head == NULL || head->first == (uintptr_t)head);
}

static void
end_life(struct life *l)
{
	struct flock unlock = { .l_type = F_UNLCK };
	int i, ms;

	fcntl(l->fd, F_OFD_SETLK, &unlock);
	for (i = 0; i < TAKERS; i++)
		flk_taker_free(l->t[i]);
	for (ms = 0; atomic_load(&l->f->base.users) > 1; ms++) {
		require(ms < AWAIT_MS);
		usleep(1000);
	}
	flk_detach(l->f);
	no_robust_list_left();
}

void
life_live(struct bytes *b, const struct life_watch *watch)
{
	struct life l = { .watch = watch };
	unsigned lies, steps;
	struct lie lie;
	int i, code;

	make_file(&l, chosen_size(b));
	for (lies = take8(b) % 64; lies > 0; lies--) {
		lie = life_lie(b);
		life_tell(l.map, l.size, &lie);
	}
	code = flk_attach(&l.f, l.path, NULL);
	life_one_of_ours(code);
	if (code == 0) {
		struct stat sb;
		/* an empty file has become a limiter by now */
		require(fstat(l.fd, &sb) == 0);
		l.size = (size_t)sb.st_size < MAP_BYTES ? (size_t)sb.st_size : MAP_BYTES;
		for (i = 0; i < TAKERS; i++)
			require(flk_taker_new(&l.t[i], l.f) == 0);
		if (watch != NULL)
			watch->before(watch->ctx, l.map, l.size);
		for (steps = 0; b->left > 0 && steps < STEPS; steps++) {
			if (watch != NULL)
				watch->step(watch->ctx);
			take_step(&l, &l.t[take8(b) % TAKERS], b);
		}
		if (watch != NULL)
			watch->after(watch->ctx);
		end_life(&l);
	}
	munmap(l.map, MAP_BYTES);
	close(l.fd);
	unlink(l.path);
}
