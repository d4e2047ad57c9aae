/* SPDX-License-Identifier: ISC */
/*
 * states.c - a move that the tables of states do not allow is caught, and so is a state in which
 * what must hold does not.
 */
#include "protocol/taker/taker.h"

#include <signal.h>
#include <unistd.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "../helpers/tap.h"

/* Whether a child that does this is aborted. */
static bool
aborts(void (*does)(const void *), const void *with)
{
	int status;
	pid_t child = fork();

	if (child == 0) {
		setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
		close(STDERR_FILENO);
		does(with);
		_exit(0);
	}
	if (child == -1 || waitpid(child, &status, 0) != child)
		tap_bail("no child");
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

struct move {
	const struct state_rule *from, *to;
};

static void
make_move(const void *with)
{
	const struct move *m = with;

	state_check(m->from, m->to, true);
}

/* Each move of two rows: caught if and only if the bit is absent. */
static void
all_moves(const char *what, const struct state_rule *const *rule, size_t n)
{
	size_t i, j, allowed = 0, wrong = 0;

	for (i = 0; i < n; i++)
		for (j = 0; j < n; j++) {
			struct move m = { rule[i], rule[j] };
			bool may = (rule[i]->next & UINT32_C(1) << j) != 0;

			allowed += may;
			if (aborts(make_move, &m) == may) {
				tap_note("%s -> %s", rule[i]->name, rule[j]->name);
				wrong++;
			}
		}
	ok(wrong == 0 && allowed > 0 && allowed < n * n / 2,
	   "%s: of %zu moves, %zu are allowed, and the others are caught", what, n * n, allowed);
}

/* A step of the engine leaves the permit in its state, or moves it as permits move. */
static bool
is_move_of_permit(uint32_t from, uint32_t to)
{
	unsigned i;

	for (i = 0; i < PERMIT_STATES; i++)
		if ((from & STATE_BIT(i)) != 0 && ((STATE_BIT(i) | permit_rules[i].next) & to) != 0)
			return true;
	return false;
}

static void
one_vocabulary(void)
{
	const struct taker_row *row = taker_deeds.row;
	unsigned i, j, wrong = 0;

	for (i = 0; i < TAKER_STATES; i++)
		for (j = 0; j < TAKER_STATES; j++)
			if ((row[i].rule.next & row[j].rule.bit) != 0 &&
			    !is_move_of_permit(row[i].permit, row[j].permit)) {
				tap_note("%s -> %s", row[i].rule.name, row[j].rule.name);
				wrong++;
			}
	is((int)wrong, 0, "every step of a taker is a move that a permit may make");
}

static void
go(const void *with)
{
	struct fleet_taker t = *(const struct fleet_taker *)with;

	taker_move(&t, CLAIMING);
}

static void
what_must_hold(void)
{
	struct fleet_taker t = { .state = ASKING };

	ok(!aborts(go, &t), "a taker without a place claims one");
	t.created = 7;
	ok(aborts(go, &t), "with a place it must not: that is caught");
	t.created = 0;
	t.state = HOLDING;
	ok(aborts(go, &t), "nor with a permit");
}

int
main(void)
{
	const struct state_rule *permit[PERMIT_STATES], *taker[TAKER_STATES];
	unsigned i;

	for (i = 0; i < PERMIT_STATES; i++)
		permit[i] = &permit_rules[i];
	for (i = 0; i < TAKER_STATES; i++)
		taker[i] = &taker_deeds.row[i].rule;
	all_moves("a permit", permit, PERMIT_STATES);
	all_moves("a taker", taker, TAKER_STATES);
	one_vocabulary();
	what_must_hold();
	return tap_done();
}
