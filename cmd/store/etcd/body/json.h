/* SPDX-License-Identifier: ISC */
/*
 * json.h - what json.c reads from answers, for the client's own use.
 */
#ifndef JSON_H
#define JSON_H

#include "etcd/client/etcd.h"

/* False: it makes no sense, and there is nothing to free. */
bool read_kv(struct etcd_kv *kv, const json_t *object);

#endif
