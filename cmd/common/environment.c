/* SPDX-License-Identifier: ISC */
#include "environment.h"
#include "seats.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HELD "FLOCKLIMIT_HELD"
#define KEY  "FLOCKLIMIT_STORE_KEY"

/* KEY: the command gets a key of its own.  Else it keeps that of the permit which it joins. */
static bool
is_ours(const char *entry, bool key)
{
	static const char *const names[] = { "FLOCKLIMIT_LIMITER=", "FLOCKLIMIT_WEIGHT=",
					     "FLOCKLIMIT_LIMIT=",   "FLOCKLIMIT_SEAT=",
					     "FLOCKLIMIT_TICKET=",  "FLOCKLIMIT_FENCE=",
					     "FLOCKLIMIT_SEATS=",   "FLOCKLIMIT_HELD=" };
	size_t i;

	/* Most begin with another letter, and are seen at each start of a command. */
	if (*entry != 'F' || strncmp(entry, "FLOCKLIMIT_", 11) != 0)
		return false;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strncmp(entry, names[i], strlen(names[i])) == 0)
			return true;
	return key && strncmp(entry, KEY "=", sizeof(KEY)) == 0;
}

char **
environment_make(const char *name, const struct flk_permit *p, const char *held, const char *key)
{
	const char *above = getenv(HELD);
	size_t n, i, k = 0, room = 256 + SEATS_TEXT + strlen(name);
	char **envp, *text;

	for (n = 0; environ[n] != NULL; n++)
		;
	if (above != NULL)
		room += strlen(above);
	if (held != NULL)
		room += strlen(held);
	if (key != NULL)
		room += strlen(key);
	envp = malloc((n + 10) * sizeof(*envp) + room);
	if (envp == NULL)
		return NULL;
	text = (char *)(envp + n + 10);
	for (i = 0; i < n; i++)
		if (!is_ours(environ[i], key != NULL))
			envp[k++] = environ[i];
#define SET(...)                                        \
	do {                                            \
		envp[k++] = text;                       \
		text += sprintf(text, __VA_ARGS__) + 1; \
	} while (0)
	SET("FLOCKLIMIT_LIMITER=%s", name);
	SET("FLOCKLIMIT_WEIGHT=%" PRIu32, p->weight);
	SET("FLOCKLIMIT_LIMIT=%" PRIu32, p->limit);
	SET("FLOCKLIMIT_SEAT=%" PRIu32, p->seat);
	if (p->seats != 0) { /* without sprintf(), which takes ten times as long */
		envp[k++] = text;
		text = stpcpy(text, "FLOCKLIMIT_SEATS=");
		text += strlen(seats_text(p->seats, text)) + 1;
	}
	SET("FLOCKLIMIT_TICKET=%" PRIu64, p->ticket);
	SET("FLOCKLIMIT_FENCE=%" PRIu64, p->fence);
	SET(HELD "=%s%s%s", above != NULL ? above : "",
	    above != NULL && *above != '\0' && held != NULL ? " " : "", held != NULL ? held : "");
	if (key != NULL)
		SET(KEY "=%s", key);
#undef SET
	envp[k] = NULL;
	return envp;
}

void
environment_link(struct flk *limiter, uint32_t slot, uint64_t ticket, char link[HELD_LINK])
{
	snprintf(link, HELD_LINK, "%" PRIx64 ":%" PRIx32 ":%" PRIx64, flk_identity(limiter), slot,
		 ticket);
}

bool
environment_find(struct flk *limiter, struct flk_permit *permit)
{
	const char *held = getenv(HELD), *p = held != NULL ? held : "";
	uint64_t identity, ticket;
	uint32_t slot;
	int used;

	while (*p != '\0') {
		if (sscanf(p, "%" SCNx64 ":%" SCNx32 ":%" SCNx64 "%n", &identity, &slot, &ticket,
			   &used) != 3)
			break;
		if (identity == flk_identity(limiter) && flk_holds(limiter, slot, ticket, permit))
			return true;
		p += used;
		while (*p == ' ')
			p++;
	}
	return flk_entrusted(limiter, -1, permit) == 0;
}
