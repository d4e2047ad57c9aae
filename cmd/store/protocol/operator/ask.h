/* SPDX-License-Identifier: ISC */
/*
 * ask.h - an operator's question under way.
 *
 * We look, and then does what is asked by one txn, which compares all that the decision
 * depends on.  If the compare fails, or no answer comes, it looks again: the limiter may be as
 * asked by then, and `unsure' says that we may have done it.
 */
#ifndef ASK_H
#define ASK_H

#include "protocol/inside.h"

struct ask {
	struct fleet_part part;
	struct fleet *fleet;
	struct fleet_question q;
	fleet_answers *answers;
	void *context;
	struct records_call *call; /* NULL: none under way; part.due_ns is when the next is due */
	uint64_t until_ns;         /* give up then */
	unsigned failures;
	bool unsure; /* a txn was sent that got no answer */
	char text[FLEET_TEXT];
	struct look look;

	/* ASK_LIST */
	struct key from; /* the next page's first key */
	char **name;
	size_t names, room;
};

/* Answers the question, and frees it. */
void ask_answer(struct ask *a, const struct fleet_answer *answer);
void ask_answer_code(struct ask *a, int code, const char *text);

/* Asks at once; after a failure it asks again a bit later. */
void ask_txn(struct ask *a, struct txn *x, records_done *done);

/*
 * True if it can go on with the reply; else the question is answered, or asked again, and the
 * caller must not touch it any more.
 */
bool ask_went_well(struct ask *a, const struct records_answer *reply);

/* ---- operations.c: what to do, given a->look ---- */

/* What to send; or NULL, and *code is the answer. */
struct txn *operation_txn(struct ask *a, int *code);

/* ---- names.c, check.c ---- */

void names_ask(struct ask *a);
void check_ask(struct ask *a);

#endif
