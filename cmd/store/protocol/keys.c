/* SPDX-License-Identifier: ISC */
/*
 * keys.c - see keys.h.
 */
#include "keys.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define CFG    "/cfg"
#define DIGITS "0123456789abcdef"
#define PART   "//" /* no path has this, and so no limiter's cfg */

/* The longest key: PATH/NAME/cfg//l/LIFE/LEASE; the sizes of both include a byte for "/" or NUL. */
static_assert(KEY_PATH_MAX + 1 + FLK_NAME_MAX + sizeof(CFG PART "l/") - 1 + 2 * STORE_SELF <=
		  KEY_MAX,
	      "there is room for every key");

struct key
key_base(const struct url *url)
{
	struct key k;

	snprintf(k.s, sizeof(k.s), "%.*s/", KEY_PATH_MAX,
		 url->path[0] != '\0' ? url->path : URL_PATH);
	return k;
}

struct key
key_named(const struct key *base, const char *name, size_t n)
{
	struct key k;

	snprintf(k.s, sizeof(k.s), "%.*s%.*s" CFG, KEY_PATH_MAX + 1, base->s,
		 n < FLK_NAME_MAX ? (int)n : FLK_NAME_MAX, name);
	return k;
}

struct key
key_limiter(const struct key *base, const char *limiter)
{
	return key_named(base, limiter, strlen(limiter));
}

static struct key
joined(const struct key *limiter, const char *rest)
{
	struct key k;
	size_t n = strnlen(limiter->s, sizeof(k.s) - 2 * STORE_SELF - 8);

	memcpy(k.s, limiter->s, n);
	snprintf(k.s + n, sizeof(k.s) - n, "%s", rest);
	return k;
}

struct key
key_of(const struct key *limiter, char kind, const char *self)
{
	char rest[sizeof(PART) + 2 + STORE_SELF];

	snprintf(rest, sizeof(rest), PART "%c/%s", kind, self == NULL ? "" : self);
	return joined(limiter, rest);
}

struct key
key_life(const struct key *limiter, const char *life, int64_t lease)
{
	char rest[sizeof(PART) + 2 + 2 * STORE_SELF];

	snprintf(rest, sizeof(rest), PART "l/%s/%016" PRIx64, life, (uint64_t)lease);
	return joined(limiter, rest);
}

#define KEY_OF_WORD(name, word, kind)                    \
	struct key key_##name(const struct key *limiter) \
	{                                                \
		return joined(limiter, PART word);       \
	}

/* clang-format off */
KEY_WORDS(KEY_OF_WORD)
/* clang-format on */

struct key
key_parts(const struct key *limiter)
{
	return joined(limiter, PART);
}

struct key
key_end(const struct key *prefix)
{
	return key_after(prefix->s);
}

struct key
key_after(const char *text)
{
	size_t n = strnlen(text, KEY_MAX - 2);
	struct key k;

	memcpy(k.s, text, n);
	while (n > 0 && (unsigned char)k.s[n - 1] == 0xff)
		n--;
	if (n > 0)
		k.s[n - 1] = (char)((unsigned char)k.s[n - 1] + 1);
	k.s[n] = '\0';
	return k;
}

void
key_steering(const struct key *limiter, struct key *from, struct key *end)
{
	*from = *limiter;
	*end = joined(limiter, PART "b");
}

void
key_watched(const struct key *limiter, struct key *from, struct key *end)
{
	*from = *limiter;
	*end = joined(limiter, PART "m");
}

void
key_whole(const struct key *limiter, struct key *from, struct key *end)
{
	struct key parts = key_parts(limiter);

	*from = *limiter;
	*end = key_end(&parts);
}

bool
key_is_self(const char *text)
{
	return strlen(text) == STORE_SELF - 1 && strspn(text, DIGITS) == STORE_SELF - 1;
}

/* "LIFE/LEASE" */
static bool
is_life(const char *text)
{
	return strspn(text, DIGITS) == STORE_SELF - 1 && text[STORE_SELF - 1] == '/' &&
	       key_is_self(text + STORE_SELF);
}

char
key_parse(const struct key *limiter, const char *key, char self[STORE_SELF])
{
#define ROW(name, word, kind) { word, kind },
	static const struct {
		const char *name;
		char kind;
	} words[] = { KEY_WORDS(ROW) };
	const __typeof__(words[0]) *word;
	size_t n = strlen(limiter->s);

	self[0] = '\0';
	if (strncmp(key, limiter->s, n) != 0)
		return 0;
	key += n;
	if (*key == '\0')
		return 'c';
	if (strncmp(key, PART, strlen(PART)) != 0)
		return 0;
	key += strlen(PART);
	for (word = words; word < words + sizeof(words) / sizeof(words[0]); word++)
		if (strcmp(key, word->name) == 0)
			return word->kind;
	if (strchr("ehlmnpstw", key[0]) == NULL || key[0] == '\0' || key[1] != '/' ||
	    !(key[0] == 'l' ? is_life(key + 2) : key_is_self(key + 2)))
		return '?';
	memcpy(self, key + 2, STORE_SELF - 1);
	self[STORE_SELF - 1] = '\0';
	return key[0];
}
