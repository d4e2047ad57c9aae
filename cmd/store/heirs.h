/*
 * heirs.h - who has the other end of a pipe open: by /proc, those that it shows to us.
 */
#ifndef HEIRS_H
#define HEIRS_H

#include <sys/types.h>

/* Sends it to each process that has the pipe of this descriptor open, but for us and `spared'. */
void heirs_send(int pipe, pid_t spared, int sig);

#endif
