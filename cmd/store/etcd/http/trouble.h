/* SPDX-License-Identifier: ISC */
/*
 * trouble.h - what an error of libcurl means, in words that say what to do.
 */
#ifndef TROUBLE_H
#define TROUBLE_H

#include "latecurl.h"

#define HTTP_WHY 300

/* Why there is no answer. */
enum http_trouble {
	HTTP_FINE,   /* there is one */
	HTTP_AWAY,   /* refused, timed out, ... */
	HTTP_BROKEN, /* the connection broke, or TLS could not be begun */
	HTTP_WRONG   /* it can't work as it is: wrong CA, name, certificate, no HTTP spoken there */
};

/* The URL's scheme is wrong for that port. */
#define NO_TLS   "it speaks no TLS: use etcd:// or another port"
#define TLS_ONLY "it speaks TLS only: use etcd+https://"

/* error: as libcurl put it, or ""; os: errno of the connection, or 0. */
enum http_trouble http_trouble_of(CURLcode code, const char *error, long os, char why[HTTP_WHY]);

#endif
