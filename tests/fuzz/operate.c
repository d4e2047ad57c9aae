/* SPDX-License-Identifier: ISC */
/*
 * operate.c - what operators and readers do with a file that lies.
 */
#include "life.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

void
life_one_of_ours(int code)
{
	require(code == 0 || (code <= -FLK_BADNAME && code >= -FLK_ASK) ||
		(code < 0 && code > -4096));
	require(flk_strerror(code) != NULL);
}

uint64_t
life_some_ticket(struct flk *f, struct bytes *b)
{
	uint8_t n = take8(b);

	return n < LIE_SLOTS && n < flki_file_slots(&f->file) ? f->file.slots[n].ticket : n;
}

static void
read_history(struct flk *f, struct bytes *b)
{
	static struct flk_event e[FLK_HISTORY];
	size_t room = take8(b) < 128 ? FLK_HISTORY : 3, n, i;
	uint64_t number = take8(b);

	if (number >= 0xf0)
		number = UINT64_MAX - (number - 0xf0);
	n = flk_history(f, number, e, room);
	require(n <= room);
	for (i = 0; i < n; i++) {
		require(e[i].number > number && (i == 0 || e[i].number == e[i - 1].number + 1));
		require(strnlen(e[i].command, sizeof(e[i].command)) < sizeof(e[i].command));
	}
}

void
life_operate(struct flk *f, struct flk_taker *t, const char *path, struct bytes *b)
{
	static const struct flk_options damaged = { .existing = true, .damaged = true };
	struct timespec past = { 0, 0 };
	char why[200] = "";
	struct flk *other;
	pid_t by;
	uid_t user;
	int code;

	switch (take8(b) % 9) {
	case 0:
		read_history(f, b);
		break;
	case 1:
		code = flk_follow(f, take8(b), &past);
		require(code == 0 || code == -ETIMEDOUT || code == -EINTR || code == -FLK_GONE);
		break;
	case 2:
		life_one_of_ours(flk_evict(f, life_some_ticket(f, b)));
		break;
	case 3:
		life_one_of_ours(flk_remove(f));
		break;
	case 4:
		life_one_of_ours(flk_repair(f));
		break;
	case 5: /* as flocklimitctl check --repair */
		code = flk_check(f, why, sizeof(why));
		life_one_of_ours(code);
		require(strnlen(why, sizeof(why)) < sizeof(why));
		if (code == -FLK_DAMAGED)
			life_one_of_ours(flk_repair(f));
		break;
	case 6:
		life_one_of_ours(flk_ended(t, (int)take32(b)));
		life_one_of_ours(flk_took(t, UINT64_MAX, UINT64_MAX));
		break;
	case 7:
		flk_evictor(t, &by, &user);
		break;
	default: /* an operator who comes for it */
		code = flk_attach(&other, path, &damaged);
		life_one_of_ours(code);
		if (code != 0)
			break;
		life_one_of_ours(take8(b) % 2 ? flk_repair(other) : flk_remove(other));
		flk_detach(other);
		break;
	}
}
