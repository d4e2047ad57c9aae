/* SPDX-License-Identifier: ISC */
/*
 * request.h - what a watch asks for.
 */
#ifndef REQUEST_H
#define REQUEST_H

#include "etcd/client/etcd.h"

struct request_range {
	char *key, *end; /* end: NULL for one key */
	bool no_put, no_delete;
	int64_t next; /* changes from that revision on; 0: from now on */
};

/* The body; NULL for want of memory. */
char *request_make(const struct request_range *range, size_t ranges, size_t *size);

#endif
