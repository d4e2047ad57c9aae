/* SPDX-License-Identifier: ISC */
/*
 * connections.c - a process holds permits of two limiters by one keeper, and the keeper has one connection.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <netinet/tcp.h>

#include "../helpers/common.h"
#include "settings.h"
#include "start.h"
#include "wrapper/store.h"

/* How many connections have that port at their other end. */
static int
connections_to(unsigned port)
{
	FILE *table = fopen("/proc/net/tcp", "re");
	unsigned to, state;
	char line[256];
	int n = 0;

	while (table != NULL && fgets(line, sizeof(line), table) != NULL)
		if (sscanf(line, "%*d: %*8x:%*4x %*8x:%4x %2x", &to, &state) == 2)
			n += to == port && state == TCP_ESTABLISHED;
	if (table != NULL)
		fclose(table);
	return n;
}

static struct flk_taker *
holder(const char *name)
{
	struct flk_request want = { .weight = 1, .limit = 1 };
	struct timespec until = in_ms(PATIENCE_MS);
	struct flk_taker *t;
	struct flk *f;

	if (store_attach(&f, name, NULL) != 0)
		tap_bail("can't attach to %s", name);
	t = taker(f);
	is(flk_acquire(t, &want, &until), 0, "a permit of %s", name);
	return t;
}

static void
end(struct flk_taker *t)
{
	struct flk *f = flk_limiter(t);

	is(flk_release(t), 0, "is given back");
	flk_taker_free(t);
	flk_detach(f);
}

int
main(void)
{
	struct flk_taker *a, *b;
	char url[100];
	unsigned port;

	begin();
	snprintf(url, sizeof(url), "%s/two", start_store());
	port = (unsigned)strtoul(strrchr(url, ':') + 1, NULL, 10);
	if (url_parse(&settings.url, url) != NULL)
		tap_bail("%s is no URL", url);
	settings.grace_s = 7;
	a = holder("a");
	is(connections_to(port), 1, "needs a connection");
	b = holder("b");
	is(connections_to(port), 1, "which serves another limiter, too");
	end(a);
	is(connections_to(port), 1, "and stays as long as a permit is held");
	end(b);
	return tap_done();
}
