/*
 * clients.h - which programs speak which form of the jobserver's protocol.
 */
#ifndef CLIENTS_H
#define CLIENTS_H

#include <stdbool.h>

#include "spawn.h"

enum jobserver_style { JOBSERVER_BEST, JOBSERVER_FIFO, JOBSERVER_PIPE };

/*
 * True if the command is to be given a FIFO to open, false if two descriptors to inherit.  With
 * JOBSERVER_BEST that is what the command understands.  Where the command is known not to heed the
 * jobserver, one line says so, unless it must be quiet.
 */
bool clients_know_fifo(char *const *command, enum jobserver_style style,
		       const struct heritage *heritage, const char *limiter_name, bool quiet);

#endif
