/* SPDX-License-Identifier: ISC */
/*
 * reader.h - a limiter that is only read.
 */
#ifndef FLKI_READER_H
#define FLKI_READER_H

struct flk;

/* Makes f, which has nothing open, a reader of that file: 0, or a code. */
int flki_reader_open(struct flk *f, int dirfd, const char *base);

#endif
