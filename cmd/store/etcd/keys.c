/*
 * keys.c - see keys.h.
 */
#include "keys.h"

#include <stdio.h>
#include <string.h>

struct key
key_base(const struct url *url)
{
	struct key k;

	snprintf(k.s, sizeof(k.s), "%s/", url->path[0] != '\0' ? url->path : KEY_DEFAULT_PATH);
	return k;
}

struct key
key_limiter(const struct url *url, const char *limiter)
{
	struct key k;

	snprintf(k.s, sizeof(k.s), "%s/%s/", url->path[0] != '\0' ? url->path : KEY_DEFAULT_PATH,
		 limiter);
	return k;
}

static struct key
joined(const struct key *limiter, const char *rest)
{
	struct key k;
	size_t n = strnlen(limiter->s, sizeof(k.s) - STORE_SELF - 8);

	memcpy(k.s, limiter->s, n);
	snprintf(k.s + n, sizeof(k.s) - n, "%s", rest);
	return k;
}

struct key
key_of(const struct key *limiter, char kind, const char *self)
{
	char rest[STORE_SELF + 3];

	snprintf(rest, sizeof(rest), "%c/%s", kind, self == NULL ? "" : self);
	return joined(limiter, rest);
}

struct key
key_cfg(const struct key *limiter)
{
	return joined(limiter, "cfg");
}

struct key
key_tail(const struct key *limiter)
{
	return joined(limiter, "tail");
}

struct key
key_end(const struct key *prefix)
{
	struct key k = *prefix;
	size_t n = strlen(k.s);

	if (n > 0)
		k.s[n - 1]++; /* a slash in all of ours */
	return k;
}

void
key_watched(const struct key *limiter, struct key *from, struct key *end)
{
	*from = joined(limiter, "c");
	*end = joined(limiter, "m");
}

bool
key_is_self(const char *text)
{
	return strlen(text) == STORE_SELF - 1 && strspn(text, "0123456789abcdef") == STORE_SELF - 1;
}

char
key_parse(const struct key *limiter, const char *key, char self[STORE_SELF])
{
	size_t n = strlen(limiter->s);

	self[0] = '\0';
	if (strncmp(key, limiter->s, n) != 0)
		return 0;
	key += n;
	if (strcmp(key, "cfg") == 0)
		return 'c';
	if (strcmp(key, "tail") == 0)
		return 'z';
	if (strchr("ehlstw", key[0]) == NULL || key[0] == '\0' || key[1] != '/' ||
	    !key_is_self(key + 2))
		return 0;
	memcpy(self, key + 2, STORE_SELF);
	return key[0];
}
