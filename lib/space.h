/* SPDX-License-Identifier: ISC */
/*
 * space.h - disk space for a page of the file before the page is touched.
 */
#ifndef FLKI_SPACE_H
#define FLKI_SPACE_H

#include <sys/types.h>

/*
 * Reserves disk space from FROM to TO, so that a full file system is an error here, and no SIGBUS
 * later.
 */
int flki_space_reserve(int fd, off_t from, off_t to);

#endif
