/* SPDX-License-Identifier: ISC */
/*
 * seat.c - the verb seat: takes seats out of use, and puts them back.
 */
#include "ctl.h"
#include "seats.h"

#include <string.h>

#include "limiters.h"
#include "say.h"

struct seats {
	uint64_t set;
	bool off;
};

static int
set_one(const struct ctl *c, const char *name, const char *path, struct flk *f, int error,
	void *ctx)
{
	const struct seats *seats = ctx;
	uint64_t set;

	(void)c;
	for (set = seats->set; error == 0 && set != 0; set &= set - 1)
		error = flk_set_seat(f, seats_first(set), seats->off);
	return error == 0 ? DONE : refuse(name, path, f, error);
}

int
seat(const struct ctl *c)
{
	struct ctl mine = *c;
	const char *to, *numbers;
	struct seats seats;

	if (!is_named(c))
		return FAILED;
	to = last_word(&mine);
	numbers = to != NULL ? last_word(&mine) : NULL;
	if (numbers == NULL) {
		say(name_of(c), "which seat, and off or on? See --help");
		return FAILED;
	}
	seats.off = strcmp(to, "off") == 0;
	if (!seats.off && strcmp(to, "on") != 0) {
		say(name_of(c), "'%s': use off or on, say: seat NAME 3 off", to);
		return FAILED;
	}
	if (!seats_parse(numbers, &seats.set)) {
		say(name_of(c), "'%s': " SEATS_LIST, numbers);
		return FAILED;
	}
	return for_each(&mine, set_one, &seats);
}
