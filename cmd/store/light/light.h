/* SPDX-License-Identifier: ISC */
/*
 * light.h - flocklimit-wrapper: a wrapper without keeper, operator and engine, which all waiters of a host
 * can afford.  What it has not, the store's program has, which is started in its place, or beside it.
 */
#ifndef LIGHT_H
#define LIGHT_H

/*
 * The store's program starts a host's keeper, and ends, by the name that is made of this and of the name at which
 * the keeper and its takers meet.
 */
#define STARTER "flocklimit-keeper-"

/*
 * The store's program, beside this one: a descriptor, which is still that program when the file is replaced.  And
 * the words of our command line.
 */
extern int light_program;
extern char **light_argv;

#endif
