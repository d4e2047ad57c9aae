/* SPDX-License-Identifier: ISC */
#include "machine.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void
machine_name(char host[STORE_HOST])
{
	if (gethostname(host, STORE_HOST) == -1)
		host[0] = '\0';
	host[STORE_HOST - 1] = '\0';
}

const char *
machine_here(void)
{
	static char host[STORE_HOST];

	if (host[0] == '\0')
		machine_name(host);
	return host;
}

struct machine {
	struct machine *next;
	char name[];
};

const char *
machine_of(const char *host)
{
	static struct machine *machines;
	size_t n = strlen(host) + 1;
	struct machine *m;

	if (strcmp(host, machine_here()) == 0)
		return NULL;
	for (m = machines; m != NULL; m = m->next)
		if (strcmp(m->name, host) == 0)
			return m->name;
	m = malloc(sizeof(*m) + n);
	if (m == NULL)
		return "?";
	memcpy(m->name, host, n);
	m->next = machines;
	machines = m;
	return m->name;
}
