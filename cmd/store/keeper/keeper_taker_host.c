/* SPDX-License-Identifier: ISC */
/*
 * keeper_taker_host.c - a taker whose keeper may be followed by another, in a host's keeper.
 */
#include "keeper_taker.h"

#include "host/ledger.h"
#include "now.h"
#include "stake.h"

/* The wrapper, if it lives, comes with the same and more, and then this one goes. */
void
keeper_taker_restore(struct keeper_taker *k, struct ledger_row *row)
{
	struct talk t = { .kind = TALK_ADOPT, .want = row->want };
	enum permit_state state = row->state;

	k->guard = ledger_give(row, DEPUTY_GUARD);
	k->pidfd = ledger_give(row, DEPUTY_PIDFD);
	k->local = ledger_give(row, DEPUTY_LOCAL);
	k->pid = row->pid;
	t.held = state == PERMIT_HELD || state == PERMIT_RELEASING;
	talk_copy(t.self, sizeof(t.self), row->self);
	keeper_taker_begin(k, &t, row);
	k->unclaimed = k->state != PERMIT_IDLE;
	if (state == PERMIT_LEAVING && permit_is_sought(k->state))
		keeper_taker_leave(k);
	if (state == PERMIT_RELEASING && k->state == PERMIT_HELD)
		keeper_taker_release(k);
}

void
keeper_taker_entrust(const struct keeper_taker *k)
{
	struct ledger_row *row = k->stake != NULL ? stake_row(k->stake) : NULL;

	if (row == NULL)
		return;
	row->pid = k->pid;
	row->guarded |= k->guard != -1 || k->pidfd != -1;
	ledger_keep(row, DEPUTY_GUARD, k->guard);
	ledger_keep(row, DEPUTY_PIDFD, k->pidfd);
	ledger_keep(row, DEPUTY_LOCAL, k->local);
}

uint64_t
keeper_taker_look_for_wrapper(struct keeper_taker *k, uint64_t now)
{
	if (now < k->look_ns)
		return k->look_ns;
	k->look_ns = now + SECOND;
	if (keeper_has_wrapper(k))
		return k->look_ns;
	k->unclaimed = false;
	keeper_taker_carry_on_alone(k);
	return now; /* it may have something to do now */
}
