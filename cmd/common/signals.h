/*
 * signals.h - what signals do to a process that has said nothing about them.
 */
#ifndef SIGNALS_H
#define SIGNALS_H

#include <stdbool.h>

/* It tells of a fault of the process itself: never to be blocked, or put off. */
bool signal_is_fault(int sig);

/* It ends the process; the process can have a say in it. */
bool signal_ends(int sig);

/* Ends this process as if it had not been heard, without a core; returns where that can't be. */
void signal_die(int sig);

#endif
