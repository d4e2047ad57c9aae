/* SPDX-License-Identifier: ISC */
/*
 * ask.h - an operator's question under way.
 *
 * The engine looks, and then does what is asked by one txn, which compares all that the decision
 * depends on.  If the compare fails, or no answer comes, it looks again: the limiter may be as
 * asked by then, and `unsure' says that we may have done it.
 */
#ifndef ASK_H
#define ASK_H

#include "etcd/inside.h"

struct ask {
	struct engine_part part;
	struct engine *e;
	struct engine_question q;
	engine_answers *answers;
	void *context;
	struct etcd_call *call; /* NULL: none under way; part.due_ns is when the next is due */
	uint64_t until_ns;      /* give up then */
	unsigned failures;
	bool unsure; /* a txn was sent that got no answer */
	char text[ENGINE_TEXT];
	struct look look;

	/* ASK_LIST */
	struct key from; /* the next page's first key */
	char **name;
	size_t names, room;
};

void ask_free(struct ask *a); /* unanswered */

/* Answers the question, and frees it. */
void ask_answer(struct ask *a, const struct engine_answer *answer);
void ask_answer_code(struct ask *a, int code, const char *text);

/* Asks at once; after a failure it asks again a bit later. */
void ask_call(struct ask *a, const char *path, json_t *body, etcd_done *done);

/* The question's own txn: if its compares fail, it looks again. */
void ask_do(struct ask *a, json_t *body);

/*
 * True if it can go on with the reply; else the question is answered, or asked again, and the
 * caller must not touch it any more.
 */
bool ask_went_well(struct ask *a, const struct etcd_reply *reply);

/* ---- operations.c: what to do, given a->look ---- */

/* A txn's body; or NULL, and *code is the answer. */
json_t *operation_txn(struct ask *a, int *code);

/* ---- names.c, check.c ---- */

void names_ask(struct ask *a);
void check_ask(struct ask *a);

#endif
