/* SPDX-License-Identifier: ISC */
/*
 * limits_text.h - a line of a limits file, as people read it.
 */
#ifndef LIMITS_TEXT_H
#define LIMITS_TEXT_H

#include "limits_file.h"

/* "FILE:NUMBER: command 'npm test' -N tests -n 2", and a newline. */
void limits_print(const struct limits_line *line);

#endif
