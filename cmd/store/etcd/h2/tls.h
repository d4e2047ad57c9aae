/* SPDX-License-Identifier: ISC */
/*
 * tls.h - TLS over a socket, by OpenSSL, which is loaded when it is first needed: it costs a
 * process more than all else that store-etcd loads.
 */
#ifndef TLS_H
#define TLS_H

#include <sys/types.h>

#include "h2.h"

struct tls;

/*
 * The files are read each time, as they may be renewed.  NULL, and why: a file that can't be used, no
 * library, no memory.
 */
struct tls *tls_begin(int fd, const char *host, const struct h2_tls *files, struct trouble *why);

enum tls_needs { TLS_NOTHING, TLS_TO_READ, TLS_TO_WRITE, TLS_TROUBLE };

/* Goes on with the handshake, until it needs nothing more, or the descriptor to be ready. */
enum tls_needs tls_shake(struct tls *t, struct trouble *why);

/* As read(2) and write(2), but they may raise SIGPIPE. */
ssize_t tls_read(struct tls *t, void *bytes, size_t room);
ssize_t tls_write(struct tls *t, const void *bytes, size_t size);

/* Why the last of these failed, if the library knows; else *why stays as it is. */
void tls_explain(struct tls *t, struct trouble *why);

void tls_end(struct tls *t);

#endif
