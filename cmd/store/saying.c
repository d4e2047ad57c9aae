/*
 * saying.c - say.h for what is the same in all three commands.
 */
#include "settings.h"

#define PROGRAM program
#include "../common/say.c"
