/* SPDX-License-Identifier: ISC */
/*
 * ask.h - an operator's question under way.
 *
 * It is looked at and then done by one txn, which compares all that the decision stands on.  When
 * the compare fails, or no answer comes, it is looked at anew: what was asked for may be so by
 * then, and `unsure' tells that it may have been us.
 */
#ifndef ASK_H
#define ASK_H

#include "etcd/inside.h"

struct ask {
	struct engine_part part;
	struct engine *e;
	struct engine_question q;
	engine_tells *tells;
	void *context;
	struct etcd_call *call; /* NULL: none under way; part.due_ns is when the next is to be */
	uint64_t until_ns;      /* no longer than that */
	unsigned failures;
	bool unsure; /* a txn was sent that was never answered */
	char text[ENGINE_TEXT];
	struct look look;

	/* ASK_LIST */
	struct key from; /* the next page's first key */
	char **name;
	size_t names, room;
};

void ask_free(struct ask *a); /* unanswered */

/* Answers, and frees it. */
void ask_answer(struct ask *a, const struct engine_answer *answer);
void ask_answer_code(struct ask *a, int code, const char *text);

/* Asks at once; after a failure it is asked again a bit later. */
void ask_call(struct ask *a, const char *path, json_t *body, etcd_done *done);

/* The question's own txn: if its compares fail, it is looked at anew. */
void ask_do(struct ask *a, json_t *body);

/*
 * True if the reply is one to go on with; else the question is answered, or asked again, and must
 * not be touched any more.
 */
bool ask_went_well(struct ask *a, const struct etcd_reply *reply);

/* ---- operations.c: what is to be done, for what a->look has ---- */

/* A txn's body; or NULL, and *code is the answer. */
json_t *operation_txn(struct ask *a, int *code);

/* ---- names.c, check.c ---- */

void names_ask(struct ask *a);
void check_ask(struct ask *a);

#endif
