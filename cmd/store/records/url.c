/* SPDX-License-Identifier: ISC */
/*
 * url.c - see url.h.  Messages about a wrong URL never quote it: a password with a special
 * character in it could look like any other part.
 */
#include "url.h"

#include <stdio.h>
#include <string.h>

#define LOWER  "abcdefghijklmnopqrstuvwxyz"
#define UPPER  "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS "0123456789"

/*
 * Cuts the text off at the first of these; *text is what follows, *end the character that was cut.
 */
static char *
cut(char **text, const char *ends, char *end)
{
	char *start = *text;
	size_t n = strcspn(start, ends);

	*end = start[n];
	*text = start + n + (*end != '\0');
	start[n] = '\0';
	return start;
}

static int
hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)(c | 0x20);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Turns %XX into bytes, in place; refuses control characters, escaped or not. */
static bool
decode(char *text)
{
	char *to = text;

	for (; *text != '\0'; text++) {
		if (*text == '%') {
			int high = hex(text[1]), low = high < 0 ? -1 : hex(text[2]);

			if (low < 0)
				return false;
			*to = (char)(high << 4 | low);
			text += 2;
		} else {
			*to = *text;
		}
		if ((unsigned char)*to < ' ' || *to == 0x7f)
			return false;
		to++;
	}
	*to = '\0';
	return true;
}

static const char *
parse_scheme(struct url *u, char *scheme)
{
	char *plus = strchr(scheme, '+');

	u->variant = "";
	if (plus != NULL) {
		*plus = '\0';
		u->variant = plus + 1;
		if (*u->variant == '\0' || u->variant[strspn(u->variant, LOWER DIGITS)] != '\0')
			return "the part between + and :// must be lower-case letters";
	}
	u->scheme = scheme;
	if (strspn(scheme, LOWER) == 0 || scheme[strspn(scheme, LOWER DIGITS)] != '\0')
		return "the part before :// must be lower-case letters";
	return NULL;
}

static const char *
parse_user(struct url *u, char *user)
{
	char *colon = strchr(user, ':');

	if (colon != NULL) {
		*colon = '\0';
		u->password = colon + 1;
		if (!decode(colon + 1))
			return "the password has a % that is not part of a %XX: write %25 for %";
	}
	u->user = user;
	if (!decode(user))
		return "the user's name has a % that is not part of a %XX: write %25 for %";
	if (*user == '\0')
		return "the user before @ has no name";
	return NULL;
}

static const char *
parse_port(unsigned *port, const char *text)
{
	size_t n = strspn(text, DIGITS), i;

	*port = 0;
	if (n == 0 || n > 5 || text[n] != '\0')
		return "a port is not a number from 1 to 65535 (in a password, write %40 for @ and "
		       "%2F "
		       "for /)";
	for (i = 0; i < n; i++)
		*port = *port * 10 + (unsigned)(text[i] - '0');
	if (*port == 0 || *port > 65535)
		return "a port is not a number from 1 to 65535";
	return NULL;
}

static const char *
parse_host(struct url *u, char *host)
{
	char *bracket = strchr(host, ']'), *port;
	size_t i = u->hosts;

	if (i == URL_HOSTS)
		return "it names too many hosts";
	if (*host == '[' && bracket != NULL) {
		*bracket = '\0';
		host++;
		port = bracket + 1;
		if (*host == '\0' || host[strspn(host, DIGITS "abcdefABCDEF:.")] != '\0' ||
		    (*port != '\0' && *port != ':'))
			return "the text in brackets is not an IPv6 address";
		port += *port == ':' ? 0 : strlen(port);
	} else {
		port = host + strcspn(host, ":");
	}
	u->at[i].port = 0;
	if (*port == ':') {
		const char *wrong = parse_port(&u->at[i].port, port + 1);

		if (wrong != NULL)
			return wrong;
		*port = '\0';
	}
	if (!decode(host))
		return "a host's name has a % that is not part of a %XX";
	if (bracket == NULL && *host != '/' && host[strspn(host, LOWER UPPER DIGITS ".-_")] != '\0')
		return "a host's name has a character that can't be in one";
	if (*host == '\0')
		return "a host has no name";
	u->at[i].host = host;
	u->hosts++;
	return NULL;
}

static const char *
parse_param(struct url *u, char *text)
{
	char *value = strchr(text, '=');

	if (value == NULL || value == text)
		return "the part after ? must be NAME=VALUE, separated by &";
	*value++ = '\0';
	if (text[strspn(text, LOWER DIGITS "-")] != '\0' || !decode(value))
		return "a parameter's name or value has a character that can't be in one";
	if (url_param(u, text) != NULL)
		return "a parameter is given twice";
	if (u->params == URL_PARAMS)
		return "it has too many parameters";
	u->param[u->params].name = text;
	u->param[u->params++].value = value;
	return NULL;
}

static const char *
parse_path(struct url *u, char *path)
{
	size_t n;

	if (strchr(path, '@') != NULL)
		return "its path has a @ in it: write %40 (and in a password %2F for /)";
	if (!decode(path))
		return "its path has a % that is not part of a %XX: write %25 for %";
	/* Two slashes separate a limiter from its keys: protocol/keys.h. */
	if (strstr(path, "//") != NULL)
		return "its path has two slashes in a row";
	n = strlen(path);
	if (n > 0 && path[n - 1] == '/')
		path[n - 1] = '\0';
	u->path = path;
	return NULL;
}

/* A service of this machine may have a socket instead: its directory stands in host=, or as %2F... for a host. */
static const char *
parse_hosts(struct url *u, char *hosts)
{
	const char *directory = url_param(u, "host"), *port = url_param(u, "port"), *wrong;
	char end;

	if (directory == NULL && port == NULL) {
		do {
			wrong = parse_host(u, cut(&hosts, ",", &end));
		} while (wrong == NULL && end == ',');
		return wrong;
	}
	if (*hosts != '\0')
		return "host= and port= are for a URL that has no host before its path";
	if (directory == NULL || *directory != '/')
		return "host= is the directory of a socket, an absolute path";
	u->at[0].host = directory;
	u->hosts = 1;
	return port != NULL ? parse_port(&u->at[0].port, port) : NULL;
}

/* The URL as given, without what may be secret; call it before anything is cut or decoded. */
static void
set_shown(struct url *u, const char *scheme, const char *rest)
{
	const char *end = rest + strcspn(rest, "?"), *slash = rest + strcspn(rest, "/?"), *at,
		   *colon;
	char *to;

	at = memrchr(rest, '@', (size_t)(slash - rest));
	colon = at == NULL ? NULL : memchr(rest, ':', (size_t)(at - rest));
	if (colon == NULL)
		colon = at;
	if (colon == NULL)
		colon = at = rest;
	/* Nothing is added: it fits. */
	to = stpcpy(stpcpy(u->shown, scheme), "://");
	to = mempcpy(to, rest, (size_t)(colon - rest));
	to = mempcpy(to, at, (size_t)(end - at));
	if (to[-1] == '/' && to[-2] != '/')
		to--;
	*to = '\0';
}

const char *
url_parse(struct url *u, const char *text)
{
	char *rest, *hosts, *at, end;
	const char *wrong;
	size_t n = strlen(text);

	memset(u, 0, sizeof(*u));
	u->path = "";
	if (n >= sizeof(u->room) - 2)
		return "it is too long";
	memcpy(u->room, text, n + 1);
	rest = strstr(u->room, "://");
	if (rest == NULL)
		return "it is no URL: SCHEME://HOST[:PORT]/PATH";
	*rest = '\0';
	rest += 3;
	set_shown(u, u->room, rest);
	wrong = parse_scheme(u, u->room);
	if (wrong != NULL)
		return wrong;
	if (strchr(rest, '#') != NULL)
		return "it has a # in it: write %23";
	hosts = cut(&rest, "/?", &end);
	if (end == '/') {
		/* The path begins with the slash that ended the hosts: move it up by one. */
		memmove(rest + 1, rest, strlen(rest) + 1);
		*rest = '/';
		wrong = parse_path(u, cut(&rest, "?", &end));
		if (wrong != NULL)
			return wrong;
	}
	while (end == '?' || end == '&') {
		wrong = parse_param(u, cut(&rest, "&", &end));
		if (wrong != NULL)
			return wrong;
	}
	at = strrchr(hosts, '@');
	if (at != NULL) {
		*at = '\0';
		wrong = parse_user(u, hosts);
		if (wrong != NULL)
			return wrong;
		hosts = at + 1;
	}
	return parse_hosts(u, hosts);
}

const char *
url_param(const struct url *u, const char *name)
{
	size_t i;

	for (i = 0; i < u->params; i++)
		if (strcmp(u->param[i].name, name) == 0)
			return u->param[i].value;
	return NULL;
}
