/* SPDX-License-Identifier: ISC */
/*
 * boot.h - which boot of the machine this is.
 */
#ifndef FLKI_BOOT_H
#define FLKI_BOOT_H

#include <stdbool.h>

/*
 * Reads this boot's id.  0; -FLK_NOBOOT if the system does not say it; or -EMFILE or -ENFILE, for
 * want of a descriptor.
 */
int flki_boot_learn(void);

/* This boot's id, once flki_boot_learn() has returned 0; zeros before. */
void flki_boot_id(unsigned char id[16]);

/* True if that is this boot's id; false if this boot's id is not known. */
bool flki_boot_is_this(const unsigned char id[16]);

#endif
