/* SPDX-License-Identifier: ISC */
#include "environment.h"
#include "seats.h"
#include "spawn.h"

#include <fcntl.h>
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

/* NAME and the number, in decimal; the end of the text.  A sprintf() takes ten times as long. */
static char *
put_number(char *text, const char *name, uint64_t number)
{
	char digits[24], *first = digits + sizeof(digits) - 1;

	*first = '\0';
	do
		*--first = (char)('0' + number % 10);
	while ((number /= 10) != 0);
	return stpcpy(stpcpy(text, name), first);
}

/* The links of the permits that we run under, and behind them our own. */
static char *
put_chain(char *text, const char *above, const char *held)
{
	text = stpcpy(stpcpy(text, HELD "="), above != NULL ? above : "");
	if (above != NULL && *above != '\0' && held != NULL)
		text = stpcpy(text, " ");
	return stpcpy(text, held != NULL ? held : "");
}

char **
environment_make(const char *name, const struct flk_permit *p, const char *held, const char *key)
{
	const char *above = getenv(HELD);
	size_t n, i, k = 0, room = 256 + SEATS_TEXT + strlen(name);
	char **envp, *text, seats[SEATS_TEXT];

	for (n = 0; environ[n] != NULL; n++)
		;
	if (above != NULL)
		room += strlen(above);
	if (held != NULL)
		room += strlen(held);
	if (key != NULL)
		room += strlen(key);
	/* 10: names[], KEY, and the NULL; 256 above: their names and numbers. */
	envp = malloc((n + 10) * sizeof(*envp) + room);
	if (envp == NULL)
		return NULL;
	text = (char *)(envp + n + 10);
	for (i = 0; i < n; i++)
		if (!is_ours(environ[i], key != NULL))
			envp[k++] = environ[i];
#define SET(put) (envp[k++] = text, text = (put) + 1)
	SET(stpcpy(stpcpy(text, "FLOCKLIMIT_LIMITER="), name));
	SET(put_number(text, "FLOCKLIMIT_WEIGHT=", p->weight));
	SET(put_number(text, "FLOCKLIMIT_LIMIT=", p->limit));
	SET(put_number(text, "FLOCKLIMIT_SEAT=", p->seat));
	if (p->seats != 0)
		SET(stpcpy(stpcpy(text, "FLOCKLIMIT_SEATS="), seats_text(p->seats, seats)));
	SET(put_number(text, "FLOCKLIMIT_TICKET=", p->ticket));
	SET(put_number(text, "FLOCKLIMIT_FENCE=", p->fence));
	SET(put_chain(text, above, held));
	if (key != NULL)
		SET(stpcpy(stpcpy(text, KEY "="), key));
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

static bool
environment_says(struct flk *limiter, struct flk_permit *permit)
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
	return false;
}

/* The guards that we inherited have numbers in a row, from GUARD_FD on. */
bool
environment_inherits(struct flk *limiter, struct flk_permit *permit)
{
	int fd;

	if (environment_says(limiter, permit))
		return true;
	for (fd = GUARD_FD; fcntl(fd, F_GETFD) != -1; fd++)
		if (flk_entrusted(limiter, fd, permit) == 0)
			return true;
	return false;
}

bool
environment_find(struct flk *limiter, struct flk_permit *permit)
{
	return environment_inherits(limiter, permit) || flk_entrusted(limiter, -1, permit) == 0;
}
