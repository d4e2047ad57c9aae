/* SPDX-License-Identifier: ISC */
/*
 * body.h - the JSON of a request's body, as the gateway's decoder comes by it.
 */
#ifndef FAKE_BODY_H
#define FAKE_BODY_H

#include "json.h"

/* Objects, as many as were heard. */
struct body {
	json_t **values;
	size_t count;
	struct wrong wrong; /* of the first that is no object */
};

/*
 * One: the first value alone, and an empty object if there is none.
 *
 * To the end: all of them.
 *
 * Until the answer: the decoder reads chunks that end at 512, 1536, 3584, ... bytes, and no further
 * than it must for a value.  When the first value is answered, what was not read yet is thrown
 * away.  In etcd that is a race; here the answer always wins.
 */
enum heard { HEARD_ONE, HEARD_TO_THE_END, HEARD_UNTIL_THE_ANSWER };

void body_read(struct body *b, struct bytes text, enum heard heard);
void body_free(struct body *b);

#endif
