/* SPDX-License-Identifier: ISC */
/*
 * url.h - where a store is:
 * SCHEME[+VARIANT]://[USER[:PASSWORD]@]HOST[:PORT][,HOST[:PORT]]...[/PATH][?NAME=VALUE[&...]]
 * A host may be the directory of a socket, as %2Frun; or else, without hosts, host= and port= say so.
 */
#ifndef URL_H
#define URL_H

#include <stdbool.h>
#include <stddef.h>

#define URL_HOSTS  16
#define URL_PARAMS 16
#define URL_TEXT   2048
#define URL_PATH   "/flocklimit" /* where limiters are kept if the URL gives no path */

struct url {
	char room[URL_TEXT];          /* the other members point into this */
	char shown[URL_TEXT];         /* for people: without password and parameters */
	const char *scheme, *variant; /* variant: "" if none */
	const char *user, *password;  /* NULL: not given */
	struct {
		const char *host; /* without the brackets of an IPv6 address; or an absolute path */
		unsigned port;    /* 0: not given */
	} at[URL_HOSTS];
	size_t hosts;
	const char *path; /* "/team"; without a slash at the end; "" if none */
	struct {
		const char *name, *value;
	} param[URL_PARAMS];
	size_t params;
};

/* NULL, or what is wrong with it: a sentence that holds no secret. */
const char *url_parse(struct url *u, const char *text);

/* The parameter's value, or NULL. */
const char *url_param(const struct url *u, const char *name);

#endif
