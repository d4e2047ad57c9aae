/*
 * process.h - what /proc says of a process, and of this one's descriptors.
 */
#ifndef PROCESS_H
#define PROCESS_H

#include <stdbool.h>
#include <sys/types.h>

/* The state letter and the parent, from /proc; false if they can't be had. */
bool process_stat(pid_t pid, char *state, pid_t *parent);

/* One of its children; 0: it has none, or none that we may see. */
pid_t process_child(pid_t pid);

/*
 * Where stdio is closed, a descriptor of ours must not stand in its place: a message for people would
 * go there.  Takes the descriptor, or -1; its duplicate is above 2, with close-on-exec.  -1: errno.
 */
int process_above_stdio(int fd);

/* Closes that descriptor and all above. */
void process_close_from(int first);

/* A pidfd, with close-on-exec; and kill(2) by a pidfd.  -1: errno. */
int process_pidfd(pid_t pid);
int process_signal(int pidfd, int sig);

/* By a signal or a debugger. */
bool process_is_stopped(pid_t pid);

#endif
