/*
 * share.h - several users of one limiter in a process: the last to put it back closes it.
 */
#ifndef FLKI_SHARE_H
#define FLKI_SHARE_H

struct flk;

void flki_share(struct flk *f);
void flki_put(struct flk *f);

#endif
