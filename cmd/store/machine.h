/* SPDX-License-Identifier: ISC */
/*
 * machine.h - names of machines, as people and records have them.
 */
#ifndef MACHINE_H
#define MACHINE_H

#include "protocol/view.h"

void machine_name(char host[STORE_HOST]); /* this one's */
const char *machine_here(void);

/* That name, for as long as this process runs; NULL: it is this machine's. */
const char *machine_of(const char *host);

#endif
