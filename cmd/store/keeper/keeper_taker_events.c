/* SPDX-License-Identifier: ISC */
/*
 * keeper_taker_events.c - what a keeper does about the events of the fleet's taker.
 */
#include "keeper_taker.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "settings.h"
#include "kind.h"

static void
hear_grant(struct keeper_taker *k, const struct fleet_event *e)
{
	struct talk t = { .kind = TALK_GRANTED,
			  .ticket = e->ticket,
			  .fence = e->fence,
			  .weight = e->weight,
			  .limit = e->limit,
			  .seat = e->seat };

	if (permit_is_sought(k->state) || k->state == PERMIT_HELD)
		atomic_store(&board_ns[k->cell], e->alive_ns);
	if (permit_is_sought(k->state)) {
		keeper_taker_move(k, PERMIT_HELD);
		expiry_begin(&k->expiry, settings.ttl_s, settings.grace_s, settings.warn,
			     e->alive_ns);
	} else {
		expiry_renew(&k->expiry, e->alive_ns);
	}
	talk_copy(t.key, sizeof(t.key), e->key);
	keeper_taker_send(k, &t);
}

static void
hear_renewal(struct keeper_taker *k, const struct fleet_event *e)
{
	if (k->state != PERMIT_HELD)
		return;
	atomic_store(&board_ns[k->cell], e->alive_ns);
	if (expiry_renew(&k->expiry, e->alive_ns))
		keeper_taker_write(k, false, "the store has confirmed the permit: it was kept");
}

static void
hear_loss(struct keeper_taker *k, const struct fleet_event *e)
{
	bool warned;

	if (k->state == PERMIT_HELD)
		keeper_taker_catch_up(k);
	if (k->state == PERMIT_IDLE)
		return;
	if (k->state != PERMIT_HELD) { /* then there is no permit to lose any more */
		keeper_taker_end(k);
		return;
	}
	k->gone = true;
	warned = k->expiry.state != EXPIRY_SAFE;
	expiry_lose(&k->expiry, flki_boottime_ns());
	if (warned)
		keeper_taker_say(k, TALK_LOST, 0, e->text);
	else
		keeper_taker_carry_out(k, expiry_step(&k->expiry, flki_boottime_ns()), e->text);
}

static void
hear_refusal(struct keeper_taker *k, const struct fleet_event *e)
{
	struct talk t = { .kind = k->state == PERMIT_LEAVING ? TALK_LEFT : TALK_REFUSED,
			  .code = e->code,
			  .pid = e->pid,
			  .uid = e->uid };

	talk_copy(t.text, sizeof(t.text), e->text);
	talk_copy(t.host, sizeof(t.host), e->host);
	keeper_taker_send(k, &t);
	keeper_taker_rest(k);
}

static void
hear_reach(struct keeper_taker *k, const struct fleet_event *e)
{
	bool away = e->kind == FLEET_AWAY;

	free(k->away);
	k->away = away && e->text != NULL ? strdup(e->text) : NULL;
	keeper_taker_say(k, away ? TALK_AWAY : TALK_BACK, 0, e->text);
}

void
keeper_taker_on_event(struct keeper_taker *k, const struct fleet_event *e)
{
	struct talk t = { .kind = TALK_QUEUED, .ticket = e->ticket };

	switch (e->kind) {
	case FLEET_QUEUED:
		if (k->state == PERMIT_ENTERING)
			keeper_taker_move(k, PERMIT_WAITING);
		keeper_taker_send(k, &t);
		break;
	case FLEET_GRANTED:
		hear_grant(k, e);
		break;
	case FLEET_REFUSED:
		hear_refusal(k, e);
		break;
	case FLEET_RENEWED:
		hear_renewal(k, e);
		break;
	case FLEET_LOST:
		hear_loss(k, e);
		break;
	case FLEET_LEFT:
	case FLEET_RELEASED:
		keeper_taker_end(k);
		break;
	case FLEET_AWAY:
	case FLEET_BACK:
		hear_reach(k, e);
		break;
	case FLEET_NOTE:
		keeper_taker_write(k, true, "%s", e->text);
		break;
	}
}
