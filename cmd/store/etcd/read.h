/*
 * read.h - what json.c reads of answers, for the client's own use.
 */
#ifndef READ_H
#define READ_H

#include "etcd.h"

/* False: it makes no sense, and nothing is to be freed. */
bool read_kv(struct etcd_kv *kv, const json_t *object);

#endif
