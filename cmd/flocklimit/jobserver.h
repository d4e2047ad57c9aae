/*
 * jobserver.h - GNU make's jobserver, each token of which is backed by a permit.
 */
#ifndef JOBSERVER_H
#define JOBSERVER_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "flocklimit.h"
#include "spawn.h"

enum jobserver_style { JOBSERVER_BEST, JOBSERVER_FIFO, JOBSERVER_PIPE };

struct jobserver;

/*
 * Before the command starts: prepares MAKEFLAGS, and the descriptors that it is to inherit.
 * tokens: so many at most.  want: for each.  Returns NULL when that was said.
 */
struct jobserver *jobserver_open(struct flk *limiter, const char *limiter_name,
				 const struct flk_request *want, uint32_t tokens,
				 enum jobserver_style style, const char *program,
				 struct heritage *heritage);

/* When the command runs: lends, and calls back. */
void jobserver_look(struct jobserver *j);

/* When it must be let look again, though nothing happens; NEVER. */
uint64_t jobserver_due(const struct jobserver *j);

/* True if that signal is one for the jobserver, and it has been dealt with. */
bool jobserver_hears(struct jobserver *j, const siginfo_t *info);

/* All permits go back. */
void jobserver_close(struct jobserver *j);

#endif
