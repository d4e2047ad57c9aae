/* SPDX-License-Identifier: ISC */
/*
 * contract.c - runs the cases of contract.h, and knows where the two implementations differ.
 */
#include "contract.h"
#include "../../cmd/permit/store_codes.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- documented differences ---- */

#define ENGINES "doc/store-engines.md, flocklimit.h in a store"

static const struct {
	int result[2];    /* of files, of a store */
	const char *page; /* that says so */
} differences[DIFFERENCES] = {
	[PATH_FOR_A_NAME] = { { 0, -FLK_BADNAME }, "flocklimit-store(7), Options: no -f" },
	[ATTACH_EXISTING_TO_NONE] = { { -ENOENT, 0 }, ENGINES ": flk_attach" },
	[VERIFY_REMOVED] = { { -FLK_GONE, 0 }, ENGINES ": flk_verify" },
	[ACQUIRE_REMOVED] = { { -FLK_GONE, 0 }, ENGINES ": flk_verify" },
	[RELEASE_A_PART] = { { 0, -ENOTSUP }, ENGINES ": flk_release_units" },
	[SHRINK] = { { 0, -ENOTSUP }, ENGINES ": flk_shrink" },
	[ELASTIC] = { { 0, -ENOTSUP }, ENGINES ": most" },
	[CONSENT] = { { 0, -ENOTSUP }, ENGINES ": yield" },
	[SEAT_SETS] = { { 0, -ENOTSUP }, ENGINES ": seats out of use, not_seats and seats" },
	[GATE] = { { 0, -ENOTSUP }, ENGINES ": a gate and ask" },
	[WAITS_FOR] = { { 0, -ENOTSUP }, ENGINES ": flk_waits_for" },
	[FORGET_IT] = { { 0, -ENOTSUP }, ENGINES ": flk_forget" },
	[ENTRUST_TO] = { { 0, -ENOTSUP }, ENGINES ": flk_entrust_to" },
	[ENTRUSTED] = { { 0, -FLK_NOPERMIT }, ENGINES ": flk_entrust_to" },
	[TAKE_BACK] = { { 0, -ENOTSUP }, ENGINES ": flk_entrust_to" },
	[GUARD_FOR_READING] = { { true, false }, "flocklimit-store(7), Processes: a pipe" },
	[HEIRS] = { { 1, 0 }, "lib/own.h: flki_heirs" },
	[IS_TAKER] = { { 1, 0 }, "lib/own.h: flki_is_taker" },
	[WORKER] = { { true, false }, ENGINES ": flk_snapshot" },
	[REPAIR] = { { 0, -FLK_STORE }, ENGINES ": flk_repair" },
};

int
expected(enum difference what)
{
	tap_note("files and stores differ here: %s", differences[what].page);
	return differences[what].result[side.which];
}

/* ---- what cases share ---- */

const char *
new_name(void)
{
	static unsigned count;
	static char name[FLK_NAME_MAX + 1];

	snprintf(name, sizeof(name), "case-%u", ++count);
	return name;
}

struct flk *
limiter_named(const char *name, const struct flk_options *options)
{
	struct flk *f;
	int error = side.attach(&f, name, options);

	if (error != 0)
		tap_bail("attach to %s: %s", name, side.strerror(error));
	return f;
}

struct flk *
limiter(uint32_t limit)
{
	struct flk_options options = { .limit = limit != 0 ? limit : 1 };

	return limiter_named(new_name(), &options);
}

int
acquire(struct flk_taker *t, uint32_t weight, uint32_t limit, int ms)
{
	struct flk_request want = { .weight = weight, .limit = limit };
	struct timespec until = in_ms(ms);

	return flk_acquire(t, &want, &until);
}

int
try_it(struct flk_taker *t, uint32_t weight, uint32_t limit)
{
	struct flk_request want = { .weight = weight, .limit = limit };

	return flk_try(t, &want);
}

int
wait_ms(struct flk_taker *t, int ms)
{
	struct timespec until = in_ms(ms);

	return flk_wait(t, &until, NULL);
}

void
take(struct flk_taker *t, uint32_t weight, uint32_t limit)
{
	int error = acquire(t, weight, limit, PATIENCE_MS);

	if (error != 0)
		tap_bail("no permit: %s", side.strerror(error));
}

void
queue(struct flk_taker *t, uint32_t weight, uint32_t limit, int waiters)
{
	struct flk_request want = { .weight = weight, .limit = limit };
	int error = flk_enqueue(t, &want);

	if (error != -EINPROGRESS || !stands(flk_limiter(t), -1, waiters))
		tap_bail("not in the line: %s", side.strerror(error));
}

void
is_out(struct flk_taker *t, const char *after)
{
	struct timespec past = { .tv_sec = 0 };
	struct flk_permit p;

	ok(flk_wait(t, &past, NULL) == -FLK_NOPERMIT && flk_permit(t, &p) == -FLK_NOPERMIT,
	   "%s: the taker neither waits nor holds", after);
}

void
done_with(struct flk *f, const char *what, ...)
{
	struct flk_taker *t;
	va_list takers;

	va_start(takers, what);
	while ((t = va_arg(takers, struct flk_taker *)) != NULL)
		flk_taker_free(t);
	va_end(takers);
	ok(stands(f, 0, 0), "%s: its takers are gone", what);
	whole(f, what);
	flk_detach(f);
}

int
main(void)
{
	begin();
	side.begin();
	contract_names();
	contract_line();
	contract_permit();
	contract_process();
	contract_guard();
	contract_idle();
	contract_steer();
	contract_look();
	contract_map();
	return tap_done();
}
