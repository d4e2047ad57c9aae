/* SPDX-License-Identifier: ISC */
/*
 * entrusting.c - permits of descriptors: which descriptor has which, when others lock the same bytes, and
 * what stays as it was if a permit can't be handed over.
 */
#include "../helpers/common.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#undef PATIENCE_MS
#define PATIENCE_MS 3 /* the library's, for a byte that another description has locked */
#include "internal.h"
#include "entrust.c"

static struct flk *f;

static int
open_limiter(int flags)
{
	int fd = open(flk_path(f), flags | O_CLOEXEC);

	if (fd == -1)
		tap_bail("open");
	return fd;
}

static struct flk_taker *
holder(void)
{
	const struct flk_request one = { .weight = 1, .limit = 9 };
	struct flk_taker *t = taker(f);

	if (flk_try(t, &one) != 0)
		tap_bail("no permit");
	return t;
}

static uint64_t
ticket_of(const struct flk_taker *t)
{
	struct flk_permit permit = { .ticket = 0 };

	flk_permit(t, &permit);
	return permit.ticket;
}

static uint64_t
permit_of(int fd)
{
	struct flk_permit permit = { .ticket = UINT64_MAX };

	return flki_local_entrusted(f, fd, &permit) == 0 ? permit.ticket : 0;
}

static pid_t
pid_of_oldest(void)
{
	struct flk_snapshot *s;
	pid_t pid;

	if (flk_snapshot(f, &s) != 0)
		tap_bail("no snapshot");
	pid = s->holders > 0 ? s->entry[0].pid : 0;
	ok(s->holders > 0 && s->entry[0].role == FLK_CARRIED, "no process holds it");
	free(s);
	return pid;
}

static void
test_one(void)
{
	struct flk_taker *t;
	struct flk_permit permit;
	uint64_t ticket;
	uint32_t slot;
	pid_t pid;
	int fd;

	f = fresh(9);
	t = holder();
	ticket = ticket_of(t);
	fd = open_limiter(O_RDONLY);
	is(permit_of(fd), 0, "a descriptor has no permit");
	is(permit_of(-1), 0, "nor has any");
	is(flki_local_take_back(f, fd), -FLK_NOPERMIT, "there is nothing to be taken back");
	is(flki_local_entrust_to(t, fd, 1), 0, "a permit is handed over");
	is(pid_of_oldest(), 1, "a process that has the descriptor is shown");
	is(flk_permit(t, &permit), -FLK_NOPERMIT, "its taker has it no longer");
	is(permit_of(fd), ticket, "the descriptor has it");
	is(permit_of(-1), ticket, "which is found among all");
	if ((pid = fork_child()) == 0) {
		close(fd);
		_exit(permit_of(-1) != 0);
	}
	is(reap_child(pid), 0, "where it is among them");
	flk_taker_free(t);
	t = holder();
	slot = flk_slot(t);
	is(flki_local_entrust_to(t, fd, 0), 0, "a second one");
	is(flki_local_take_back(f, fd), 0, "all are taken back at once");
	ok(state_of(&f->file.slots[slot]) != HELD && f->file.h->holders.count == 0,
	   "and are over then");
	ok(flki_lock_owner(f->file.h) == NIL && f->file.h->repaired == 0, "in good order");
	is(permit_of(fd), 0, "none is left");
	is(permit_of(-1), 0, "by any descriptor");
	is(flki_local_take_back(f, fd), -FLK_NOPERMIT, "for another time");
	is(flki_local_entrust_to(t, fd, 0), -FLK_NOPERMIT, "what is not held can't be handed over");
	flk_taker_free(t);
	t = holder();
	is(flki_local_entrust_to(t, fd, 0), 0, "without a process");
	is(pid_of_oldest(), getpid(), "its taker's is shown");
	close(fd);
	flk_taker_free(t);
	whole(f, "when the last descriptor is closed");
	flk_detach(f);
}

static void
test_wrong_descriptors(void)
{
	struct flk_taker *t;
	struct flk *other = fresh(1);
	int fd, elsewhere;

	f = fresh(9);
	t = holder();
	elsewhere = open(flk_path(other), O_RDONLY | O_CLOEXEC);
	is(flki_local_entrust_to(t, elsewhere, 0), -FLK_NOTFILE, "not to another limiter's");
	close(elsewhere);
	elsewhere = open("/dev/null", O_RDONLY | O_CLOEXEC);
	is(flki_local_entrust_to(t, elsewhere, 0), -FLK_NOTFILE, "nor elsewhere");
	close(elsewhere);
	is(flki_local_entrust_to(t, elsewhere, 0), -EBADF, "nor to what is closed");
	fd = open_limiter(O_WRONLY);
	is(flki_local_entrust_to(t, fd, 0), -EACCES, "nor to one that can't be read");
	close(fd);
	fd = open_limiter(O_PATH);
	is(flki_local_entrust_to(t, fd, 0), -EACCES, "nor to one that can't be anything");
	is(flki_local_take_back(f, fd), -EACCES, "which has none to be taken back");
	close(fd);
	is(check_held(t, 1), 0, "the permit is still the taker's");
	flk_taker_free(t);
	whole(f, "after wrong descriptors");
	flk_detach(other);
	flk_detach(f);
}

/* Another description has the slot's byte locked. */
static void
lock_slot(int fd, short type, uint32_t slot)
{
	if (flki_byte_lock(fd, type, GUARD_BASE + slot) != 0)
		tap_bail("no lock");
}

static void
test_in_the_way(void)
{
	struct flk_taker *t;
	struct flk_permit permit;
	uint64_t ticket;
	uint32_t slot;
	int fd, other;

	f = fresh(9);
	t = holder();
	ticket = ticket_of(t);
	slot = flk_slot(t);
	fd = open_limiter(O_RDONLY);
	other = open_limiter(O_RDWR);
	lock_slot(other, F_WRLCK, slot);
	is(flki_local_entrust_to(t, fd, 1), -EBUSY, "a writer's lock is in the way");
	ok(flk_permit(t, &permit) == 0 && permit.ticket == ticket,
	   "the permit stays with its taker");
	ok(taker_slot(t)->pid == (uint32_t)getpid() && taker_slot(t)->role == FLK_WORKER,
	   "as it was");
	lock_slot(other, F_RDLCK, slot);
	is(flki_local_entrust_to(t, fd, 1), 0, "a reader's is not");
	is(permit_of(fd), ticket, "and the descriptor has the permit all the same");
	is(flki_local_take_back(f, fd), 0, "until it is taken back");
	close(other);
	close(fd);
	flk_taker_free(t);
	whole(f, "after other locks");
	flk_detach(f);
}

/* The guard of a taker's permit is named, but not searched for: its taker lives. */
static void
test_guard(void)
{
	struct flk_taker *t;
	struct flk_permit permit;
	int guard;

	f = fresh(9);
	t = holder();
	if (flk_guard(t, &guard) != 0)
		tap_bail("no guard");
	is(permit_of(guard), ticket_of(t), "a guard has its permit");
	is(permit_of(-1), 0, "which was not handed over to it");
	is(flki_local_take_back(f, guard), -FLK_NOPERMIT, "and can't be taken back");
	ok(flk_permit(t, &permit) == 0 && permit.weight == 1, "it is still held");
	flk_taker_free(t);
	whole(f, "after a guard");
	flk_detach(f);
}

int
main(void)
{
	begin();
	test_one();
	test_wrong_descriptors();
	test_in_the_way();
	test_guard();
	return tap_done();
}
