/*
 * explain.h - what a code of the library means to a user of the commands.
 */
#ifndef EXPLAIN_H
#define EXPLAIN_H

/* As flk_strerror(), and with the option or the program that helps where one does. */
const char *explain(int code);

#endif
