/* SPDX-License-Identifier: ISC */
/*
 * secret.h - the names, passwords and certificates by which a client of a store identifies itself,
 * and the files it needs for TLS: from the URL, the files that the URL names, and the environment.
 * Never from an argument, and never in a text.
 */
#ifndef SECRET_H
#define SECRET_H

#include <stdbool.h>
#include <stddef.h>

#include "url.h"

struct secret {
	char *user, *password;     /* NULL: none */
	char *token;               /* a ready one; NULL: none */
	char *password_file;       /* the file that the password is from; NULL: not from a file */
	char *token_file;          /* the same for the token */
	char *cacert, *cert, *key; /* names of files; NULL: none */
};

/* 0, or a negative errno and why; call secret_clear() in any case. */
int secret_load(struct secret *s, const struct url *u, char *why, size_t size);

/* For a service that knows a user only by a password: 0, or a negative errno and which of them lacks. */
int secret_check_pair(const struct secret *s, char *why, size_t size);

/*
 * Reads the file again, if there is one: true if it has another token, or password, by now.  If we
 * can't read it any more, `why' says why; else `why' is left alone.
 */
bool secret_token_changed(struct secret *s, char *why, size_t size);
bool secret_password_changed(struct secret *s, char *why, size_t size);

/* Whether the secret is from a file, which may have another one later. */
bool secret_may_change(const struct secret *s);

/* Wipes the text out and frees it. */
void secret_forget(char **text);

void secret_clear(struct secret *s);

#endif
