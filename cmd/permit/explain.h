/* SPDX-License-Identifier: ISC */
/*
 * explain.h - what a code of the library means to a user of the commands.
 */
#ifndef EXPLAIN_H
#define EXPLAIN_H

/* As flk_strerror(); where an option or a program helps, the sentence names it. */
const char *explain(int code);

/* What to do about an errno value that a small limit causes, with a colon before it; "": it is none. */
const char *remedy_for(int error);

#endif
