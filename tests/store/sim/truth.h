/* SPDX-License-Identifier: ISC */
/*
 * truth.h - the kinds of a limiter's keys.
 */
#ifndef TRUTH_H
#define TRUTH_H

enum key_kind {
	BELL = 'b',
	CONFIG = 'c',
	EVICTOR = 'e',
	PERMIT = 'h',
	LIFE = 'l',
	RUN = 'm',
	TALLY = 'n',
	PERSON = 'p',
	MARK = 's',
	GRACE = 't',
	PLACE = 'w',
	TAIL = 'z'
};

char key_kind(const char *key);

#endif
