/* SPDX-License-Identifier: ISC */
/*
 * signal_holder.h - signals to the process that works under a permit.
 */
#ifndef SIGNAL_HOLDER_H
#define SIGNAL_HOLDER_H

#include "flocklimit.h"

/*
 * Signals the process that works under the permit; -ENOENT: it has ended, or its pid is another
 * process's by now.  The entry must be of this machine.
 */
int signal_holder(struct flk *f, const struct flk_entry *e, int sig);

#endif
