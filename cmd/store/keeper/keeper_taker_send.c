/* SPDX-License-Identifier: ISC */
/*
 * keeper_taker_send.c - messages to the wrapper.  A wrapper that is stopped does not read, and its socket
 * has room for some dozens.  The keeper keeps the messages that find no room: a wrapper that never
 * learned of its grant would wait for ever, and hold the permit.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "detach.h"
#include "host/ledger.h"
#include "keeper_taker.h"
#include "settings.h"

#define AGAIN UINT64_C(100000000) /* ns between two tries */

/*
 * The later message replaces the earlier one.  Otherwise a stopped wrapper would cost memory each
 * time the store goes away and comes back.
 */
static bool
takes_the_place_of(enum talk_kind kind, enum talk_kind last)
{
	return kind == last || (kind == TALK_AWAY && last == TALK_BACK) ||
	       (kind == TALK_BACK && last == TALK_AWAY);
}

static void
owe(struct keeper_taker *k, const struct talk *t)
{
	struct owed *o = TAILQ_LAST(&k->owed, all_owed);

	if (o == NULL || !takes_the_place_of(t->kind, o->talk.kind)) {
		if ((o = malloc(sizeof(*o))) == NULL)
			_exit(1); /* the wrapper starts another keeper, and sends it all of this */
		TAILQ_INSERT_TAIL(&k->owed, o, entry);
	}
	o->talk = *t;
}

/* True, too, if the wrapper is gone, or the socket closed because of that: nobody would read it. */
static bool
sent(const struct keeper_taker *k, const struct talk *t)
{
	int error = talk_send(k->socket, t, -1);

	return error == 0 || error == -EPIPE;
}

void
keeper_taker_send(struct keeper_taker *k, const struct talk *t)
{
	if (k->socket != -1 && (!TAILQ_EMPTY(&k->owed) || !sent(k, t)))
		owe(k, t);
}

void
keeper_taker_say(struct keeper_taker *k, enum talk_kind kind, int code, const char *text)
{
	struct talk t = { .kind = kind, .code = code };

	talk_copy(t.text, sizeof(t.text), text);
	keeper_taker_send(k, &t);
}

/* Nothing of a command's is open in the keeper of a host. */
void
keeper_taker_write(struct keeper_taker *k, bool note, const char *format, ...)
{
	char text[FLEET_TEXT];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	if (ledger_is_kept())
		keeper_taker_say(k, TALK_SAY, note, text);
	else if (!note || !settings.quiet) /* the wrapper set it before it forked us */
		detach_say(k->limiter->name, "%s", text);
}

uint64_t
keeper_taker_send_unsent(struct keeper_taker *k, uint64_t now)
{
	struct owed *o;

	while ((o = TAILQ_FIRST(&k->owed)) != NULL) {
		if (!sent(k, &o->talk))
			return now + AGAIN;
		TAILQ_REMOVE(&k->owed, o, entry);
		free(o);
	}
	return EXPIRY_NEVER;
}
