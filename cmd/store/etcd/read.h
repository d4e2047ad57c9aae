/*
 * read.h - what json.c reads of answers, for the client's own use.
 */
#ifndef READ_H
#define READ_H

#include "etcd.h"

/*
 * The member's bytes, which an absent one has none of; they end with a NUL beyond their size and
 * are the caller's to free.  NULL: no string, no base64, or for want of memory.
 */
char *read_bytes(const json_t *object, const char *name, size_t *size);

/* False: it makes no sense, and nothing is to be freed. */
bool read_kv(struct etcd_kv *kv, const json_t *object);

#endif
