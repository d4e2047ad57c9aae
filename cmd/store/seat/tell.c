/*
 * tell.c - what a wrapper is told.  One that is stopped does not read, and its socket has room for
 * some dozens: what does not go in is kept, for if a grant were forgotten it would wait for ever, and
 * hold.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "seat.h"

#define AGAIN UINT64_C(100000000) /* ns between two tries */

/* Only the last of these counts: else they were as many as the store comes and goes. */
static bool
takes_the_place_of(enum talk_kind kind, enum talk_kind last)
{
	return kind == last || (kind == TALK_AWAY && last == TALK_BACK) ||
	       (kind == TALK_BACK && last == TALK_AWAY);
}

static void
owe(struct seat *s, const struct talk *t)
{
	struct owed *o = TAILQ_LAST(&s->owed, all_owed);

	if (o == NULL || !takes_the_place_of(t->kind, o->talk.kind)) {
		if ((o = malloc(sizeof(*o))) == NULL)
			_exit(1); /* another keeper goes on, who knows all that is needed */
		TAILQ_INSERT_TAIL(&s->owed, o, entry);
	}
	o->talk = *t;
}

/* Or there is nobody any more, which the socket's end tells. */
static bool
sent(const struct seat *s, const struct talk *t)
{
	int error = talk_send(s->socket, t, -1);

	return error == 0 || error == -EPIPE;
}

void
seat_tell(struct seat *s, const struct talk *t)
{
	if (s->socket == -1)
		return;
	if (!TAILQ_EMPTY(&s->owed) || !sent(s, t))
		owe(s, t);
}

void
seat_tell_kind(struct seat *s, enum talk_kind kind)
{
	struct talk t = { .kind = kind };

	seat_tell(s, &t);
}

void
seat_tell_lost(struct seat *s, const char *why)
{
	struct talk t = { .kind = TALK_LOST };

	talk_copy(t.text, sizeof(t.text), why);
	seat_tell(s, &t);
}

uint64_t
seat_tell_owed(struct seat *s, uint64_t now)
{
	struct owed *o;

	while ((o = TAILQ_FIRST(&s->owed)) != NULL) {
		if (!sent(s, &o->talk))
			return now + AGAIN;
		TAILQ_REMOVE(&s->owed, o, entry);
		free(o);
	}
	return WARD_NEVER;
}

void
seat_owe_nothing(struct seat *s)
{
	struct owed *o;

	while ((o = TAILQ_FIRST(&s->owed)) != NULL) {
		TAILQ_REMOVE(&s->owed, o, entry);
		free(o);
	}
}
