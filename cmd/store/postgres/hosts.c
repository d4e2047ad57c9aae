/* SPDX-License-Identifier: ISC */
/*
 * hosts.c - the hosts of the URL, and their addresses, which have their turns one after the other.
 *
 * libpq would resolve a name itself, and block meanwhile: so it is given one address, and the name only for
 * certificates.  Names are looked up when the client first needs them, and again when all have failed.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client.h"
#include "now.h"

#define NAME_NS (2 * SECOND) /* how long a host's turn waits for its first address */

/* The n-th address of a list; NULL: it is shorter. */
static const char *
nth(const char *list, size_t n)
{
	for (; list != NULL && n > 0; n--)
		if ((list = strchr(list, ',')) != NULL)
			list++;
	return list;
}

static size_t
addresses(const struct host *h)
{
	size_t n = 0;

	while (nth(h->addresses, n) != NULL)
		n++;
	return n > 0 ? n : 1; /* one that has none has a turn, too */
}

/* For want of memory the old ones stay. */
static void
found(void *context, size_t i, const char *list)
{
	struct records *r = context;
	char *copy = strdup(list);

	if (copy == NULL)
		return;
	free(r->host[i].addresses);
	r->host[i].addresses = copy;
}

bool
host_address(const struct records *r, char address[ADDRESS])
{
	const struct host *h = &r->host[r->at];
	const char *at;

	*address = '\0';
	if (*h->host == '/')
		return true;
	if (!h->named)
		at = h->host;
	/* A look-up since may have found fewer. */
	else if ((at = nth(h->addresses, r->address)) == NULL)
		at = h->addresses;
	if (at != NULL)
		snprintf(address, ADDRESS, "%.*s", (int)strcspn(at, ","), at);
	return at != NULL;
}

bool
hosts_next(struct records *r)
{
	size_t all = 0, i;

	if (++r->address >= addresses(&r->host[r->at])) {
		r->address = 0;
		r->at = (r->at + 1) % r->hosts;
	}
	for (i = 0; i < r->hosts; i++)
		all += addresses(&r->host[i]);
	if (++r->turns < all)
		return true;
	r->turns = 0;
	hosts_look_up(r);
	return false;
}

void
hosts_well(struct records *r)
{
	r->turns = 0;
	r->failures = 0;
	resolver_was_useful(r->resolver);
}

void
hosts_look_up(struct records *r)
{
	if (!resolver_may_start(r->resolver))
		return;
	resolver_start(r->resolver);
	r->name_due = flki_boottime_ns() + NAME_NS;
}

uint64_t
host_due(const struct records *r)
{
	const struct host *h = &r->host[r->at];

	return h->named && h->addresses == NULL && resolver_looks(r->resolver) ? r->name_due : 0;
}

/* ---- beginning and end ---- */

static int
set_host(struct host *h, const char *text, unsigned port)
{
	h->host = text;
	h->named = resolver_is_name(text);
	snprintf(h->port, sizeof(h->port), "%u", port != 0 ? port : 5432);
	if (asprintf(&h->text, strchr(text, ':') ? "[%s]:%s" : "%s:%s", text, h->port) == -1)
		h->text = NULL;
	return h->text != NULL ? 0 : -ENOMEM;
}

int
hosts_set(struct records *r)
{
	size_t i;

	for (i = 0; i < r->url.hosts; i++) {
		r->hosts++;
		if (set_host(&r->host[i], r->url.at[i].host, r->url.at[i].port) != 0)
			return -ENOMEM;
		r->name[i] = r->host[i].named ? r->host[i].host : NULL;
	}
	r->resolver = resolver_new(r->epoll, r->name, r->hosts, r->pause_ns, found, r);
	return r->resolver != NULL ? 0 : -ENOMEM;
}

void
hosts_free(struct records *r)
{
	size_t i;

	resolver_free(r->resolver);
	for (i = 0; i < r->hosts; i++) {
		free(r->host[i].text);
		free(r->host[i].addresses);
	}
}
