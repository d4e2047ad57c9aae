/* SPDX-License-Identifier: ISC */
/*
 * title.h - the keeper's command line, as ps(1) shows it.  The keeper is a fork of the wrapper: without
 * a title of its own, "pkill -f" for the words of the command would kill both, and then the permit
 * would stay until its grace is over.  setproctitle(3) of libbsd takes the room of the environment, too,
 * which /proc/PID/environ then no longer shows.
 */
#ifndef TITLE_H
#define TITLE_H

/* Remembers where the words of the command line are; main() calls it before anything moves them. */
void title_begin(int argc, char **argv);

/*
 * In the keeper: replaces the command line by "flocklimit: keeper of NAME".  NULL: no limiter is known
 * yet.  Without title_begin(), in a program that is not ours, does nothing.
 */
void title_set(const char *limiter);

#endif
