/* SPDX-License-Identifier: ISC */
/*
 * commands.h - the commands.  Each is the main function of a program of its own, and all of them are
 * in a store's program, which calls the one that its argv[0] names.
 */
#ifndef COMMANDS_H
#define COMMANDS_H

int flocklimit_main(int argc, char **argv);

/*
 * The limiter, without a limit, in which the command runs when the time of -t is over.  NULL: the
 * command does not run then.  flocksem sets it for sem's words, which no option of flocklimit has.
 */
extern const char *flocklimit_overflow;

int flocklimitctl_main(int argc, char **argv);
int flockmap_main(int argc, char **argv);

#endif
