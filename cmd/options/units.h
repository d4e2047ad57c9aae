/* SPDX-License-Identifier: ISC */
/*
 * units.h - a limit and a weight as they are typed, into a struct taker_options.
 */
#ifndef UNITS_H
#define UNITS_H

#include "option.h"

option_take take_limit, take_weight;

#endif
