/*
 * trouble.h - what an error of libcurl means, in words that say what to do.
 */
#ifndef TROUBLE_H
#define TROUBLE_H

#include "http.h"

/* error: as libcurl put it, or ""; os: errno of the connection, or 0. */
enum http_trouble http_trouble_of(CURLcode code, const char *error, long os, char why[HTTP_WHY]);

#endif
