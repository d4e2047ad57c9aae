/*
 * program.h - put before what all commands share: one program here is three.
 */
#ifndef PROGRAM_H
#define PROGRAM_H

/* The command that this is: argv[0], without what is before its name. */
extern const char *this_command;

#undef PROGRAM
#define PROGRAM this_command

#endif
