/* SPDX-License-Identifier: ISC */
/*
 * limiter_files.h - what an operator asks of limiters that are files of this machine.
 */
#ifndef LIMITER_FILES_H
#define LIMITER_FILES_H

#include "kind.h"

extern const struct operating operating_files;

#endif
