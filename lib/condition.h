/* SPDX-License-Identifier: ISC */
/*
 * condition.h - the words of a gate: mem>4G, psi.io<20, running<16, disk:/var>10G.
 */
#ifndef FLKI_CONDITION_H
#define FLKI_CONDITION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CONDITION_TEXT 160 /* of a sentence about a word that is no condition */

enum condition_kind { MEM, PSI_CPU, PSI_MEM, PSI_IO, RUNNING, DISK };

struct condition {
	enum condition_kind kind;
	const char *word; /* where it begins in the text, and how long it is */
	size_t length;
	const char *path; /* of DISK: a part of the word */
	size_t path_length;
	uint64_t bound; /* bytes, hundredths of a per cent, or tasks */
};

/*
 * Reads the next condition from *text, which spaces and commas separate from others, and moves *text
 * behind it.  1; 0: there are no more; -1: it is wrong, and `wrong' has a sentence about it.
 */
int flki_condition_next(const char **text, struct condition *c, char wrong[CONDITION_TEXT]);

/* Whether a value that was measured lets a command start; UINT64_MAX, which is not known, does not. */
bool flki_condition_holds(const struct condition *c, uint64_t value);

#endif
