/* SPDX-License-Identifier: ISC */
/*
 * trouble.h - why there is no answer, in words that say what to do.
 */
#ifndef TROUBLE_H
#define TROUBLE_H

enum trouble_kind {
	FINE,   /* there is one */
	AWAY,   /* refused, timed out, ... */
	BROKEN, /* the connection broke, or TLS could not be begun */
	WRONG   /* it can't work as it is: wrong CA, name, certificate, no HTTP/2 spoken there */
};

/* words: never NULL if there is trouble, and never freed. */
struct trouble {
	enum trouble_kind kind;
	const char *words;
};

/* The URL's scheme is wrong for that port. */
#define NO_TLS   "it speaks no TLS: use etcd:// or another port"
#define TLS_ONLY "it speaks TLS only: use etcd+https://"

#define SILENT    "no answer in time"
#define CUT       "the connection broke before the answer was there"
#define NO_MEMORY "no memory is left"
#define TOO_LONG  "the answer is too long"
#define NONSENSE  "its answer makes no sense"
#define NO_H2     "it speaks no HTTP/2: it is not etcd, or wants TLS (etcd+https://)"

#endif
