/*
 * hear.c - what the engine tells of a seat's taker.
 */
#include "seat.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "detach.h"
#include "elsewhere.h"
#include "link.h"
#include "settings.h"
#include "tend.h"

static void
hear_grant(struct seat *s, const struct engine_event *e)
{
	struct talk t = { .kind = TALK_GRANTED,
			  .ticket = e->ticket,
			  .weight = e->weight,
			  .limit = e->limit,
			  .seat = e->seat,
			  .alive_ns = e->alive_ns };

	if (s->stage == ASKED || s->stage == HOLDS)
		atomic_store(&board_ns[s->place], e->alive_ns);
	if (s->stage == ASKED) {
		s->stage = HOLDS;
		ward_begin(&s->ward, settings.ttl_s, settings.grace_s, settings.warn, e->alive_ns);
	} else {
		ward_renew(&s->ward, e->alive_ns);
	}
	talk_copy(t.key, sizeof(t.key), e->key);
	seat_tell(s, &t);
}

static void
hear_renewal(struct seat *s, const struct engine_event *e)
{
	if (s->stage != HOLDS)
		return;
	atomic_store(&board_ns[s->place], e->alive_ns);
	if (ward_renew(&s->ward, e->alive_ns))
		detach_say(s->branch->limiter, "the store has confirmed the permit: it was kept");
}

static void
hear_loss(struct seat *s, const struct engine_event *e)
{
	bool told;

	if (s->stage == HOLDS)
		seat_catch_up(s);
	if (s->stage == AT_REST)
		return;
	if (s->stage != HOLDS) { /* then nobody has a permit to lose any more */
		seat_tell_kind(s, s->stage == LEAVING ? TALK_LEFT : TALK_RELEASED);
		seat_rest(s);
		return;
	}
	s->gone = true;
	told = s->ward.stage != WARD_SAFE;
	ward_lose(&s->ward, keeper_now());
	if (told)
		seat_tell_lost(s, e->text);
	else
		seat_deed(s, ward_step(&s->ward, keeper_now()), e->text);
}

static void
hear_refusal(struct seat *s, const struct engine_event *e)
{
	struct talk t = { .kind = s->stage == LEAVING ? TALK_LEFT : TALK_REFUSED,
			  .code = e->code,
			  .limit = e->limit,
			  .pid = e->pid,
			  .uid = e->uid };

	talk_copy(t.text, sizeof(t.text), e->text);
	talk_copy(t.host, sizeof(t.host), e->host);
	seat_tell(s, &t);
	seat_rest(s);
}

static void
hear_reach(struct seat *s, const struct engine_event *e)
{
	struct talk t = { .kind = e->kind == ENGINE_AWAY ? TALK_AWAY : TALK_BACK };

	talk_copy(t.text, sizeof(t.text), e->text);
	talk_copy(s->away, sizeof(s->away), e->kind == ENGINE_AWAY ? e->text : "");
	seat_tell(s, &t);
}

void
seat_hear(void *context, const struct engine_event *e)
{
	struct seat *s = ((struct ear *)context)->seat;
	struct talk t = { .kind = TALK_QUEUED, .ticket = e->ticket };

	if (s == NULL)
		return;
	switch (e->kind) {
	case ENGINE_QUEUED:
		seat_tell(s, &t);
		break;
	case ENGINE_GRANTED:
		hear_grant(s, e);
		break;
	case ENGINE_REFUSED:
		hear_refusal(s, e);
		break;
	case ENGINE_RENEWED:
		hear_renewal(s, e);
		break;
	case ENGINE_LOST:
		hear_loss(s, e);
		break;
	case ENGINE_LEFT:
	case ENGINE_RELEASED:
		seat_tell_kind(s, e->kind == ENGINE_LEFT ? TALK_LEFT : TALK_RELEASED);
		seat_rest(s);
		break;
	case ENGINE_AWAY:
	case ENGINE_BACK:
		hear_reach(s, e);
		break;
	case ENGINE_NOTE:
		if (!tend_is_quiet()) /* the wrapper set it before it forked us */
			detach_say(s->branch->limiter, "%s", e->text);
		break;
	}
}
