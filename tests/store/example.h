/* SPDX-License-Identifier: ISC */
/*
 * example.h - what the example of an engine keeps its records in, for its test.
 */
#ifndef EXAMPLE_H
#define EXAMPLE_H

#include "memory/inside.h"

extern struct memory *example_service; /* of all that this program opens */

#endif
