/* SPDX-License-Identifier: ISC */
/*
 * names.c - the client of PostgreSQL and names: a resolver that hangs blocks no step, and a name's addresses
 * have their turns.  The resolver is a function of the test's, which libpq would call, too; the servers only
 * accept connections.
 */
#include <arpa/inet.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "../../helpers/tap.h"
#include "clock.h"
#include "records/records.h"
#include "records/resolve.h"

#define PATIENCE (20 * SECOND)

/* What the resolver does; a child calls it, as this process must not. */
static struct {
	bool hangs;
	pid_t parent;
	int blocked; /* it was called by this process */
} * world;

/* NOLINTNEXTLINE(bugprone-easily-swappable-parameters): as in netdb.h */
int
getaddrinfo(const char *restrict name, const char *restrict service,
	    const struct addrinfo *restrict hints, struct addrinfo **restrict list)
{
	static struct sockaddr_in where[2];
	static struct addrinfo a[2];
	int n = 2, i;

	(void)service;
	if (inet_pton(AF_INET, name, &where[0].sin_addr) == 1)
		n = 1; /* libpq's hostaddr */
	else if (getpid() == world->parent)
		world->blocked++;
	while (n == 2 && world->hangs)
		pause();
	if (n == 2) {
		inet_pton(AF_INET, "127.0.0.2", &where[0].sin_addr);
		inet_pton(AF_INET, "127.0.0.3", &where[1].sin_addr);
	}
	for (i = 0; i < n; i++) {
		where[i].sin_family = AF_INET;
		if (service != NULL)
			where[i].sin_port = htons((uint16_t)strtoul(service, NULL, 10));
		a[i] = (struct addrinfo){ .ai_family = AF_INET,
					  .ai_socktype = hints->ai_socktype,
					  .ai_addr = (struct sockaddr *)&where[i],
					  .ai_addrlen = sizeof(where[i]),
					  .ai_next = i + 1 < n ? &a[i + 1] : NULL };
	}
	*list = a;
	return 0;
}

void
freeaddrinfo(struct addrinfo *list)
{
	(void)list;
}

/* On that address and *port; 0: a free one. */
static int
listen_at(const char *address, unsigned *port)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons((uint16_t)*port) };
	socklen_t size = sizeof(at);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	inet_pton(AF_INET, address, &at.sin_addr);
	if (fd == -1 || bind(fd, (struct sockaddr *)&at, size) == -1 || listen(fd, 8) == -1 ||
	    getsockname(fd, (struct sockaddr *)&at, &size) == -1)
		tap_bail("no server at %s", address);
	*port = ntohs(at.sin_port);
	return fd;
}

static struct records *
client_of(const char *hosts)
{
	static struct url u;
	char text[256], why[RECORDS_TEXT] = "";
	struct records *r;

	snprintf(text, sizeof(text), "postgres://fl@%s/?database=x", hosts);
	if (url_parse(&u, text) != NULL || records_open(&r, &u, 200, why) != 0)
		tap_bail("no client of %s: %s", text, why);
	return r;
}

static void
remember(void *context, const struct records_answer *a)
{
	char *text = context;

	snprintf(text, RECORDS_TEXT, "%s", a->text != NULL ? a->text : "");
}

static uint64_t longest;

static void
step(struct records *r)
{
	struct pollfd p = { .fd = records_fd(r), .events = POLLIN };
	uint64_t now = flki_boottime_ns();

	poll(&p, 1, records_due(r) <= now ? 0 : 10);
	now = flki_boottime_ns();
	records_step(r);
	if (flki_boottime_ns() - now > longest)
		longest = flki_boottime_ns() - now;
}

/* Why a call of that long got no answer. */
static const char *
failed(struct records *r, unsigned timeout_ms)
{
	static char text[RECORDS_TEXT];
	uint64_t end = flki_boottime_ns() + PATIENCE;

	*text = '\0';
	records_renew(r, 1, timeout_ms, remember, text);
	while (*text == '\0' && flki_boottime_ns() < end)
		step(r);
	return text;
}

/* Whether a connection comes to that server. */
static bool
visited(struct records *r, int server)
{
	uint64_t end = flki_boottime_ns() + PATIENCE;
	char text[RECORDS_TEXT];
	int fd = -1;

	while (fd == -1 && flki_boottime_ns() < end) {
		records_renew(r, 1, 5000, remember, text);
		step(r);
		fd = accept4(server, NULL, NULL, SOCK_CLOEXEC);
	}
	if (fd != -1)
		close(fd);
	return fd != -1;
}

static void
hangs(void)
{
	struct records *r;
	unsigned port = 0;
	int server = listen_at("127.0.0.1", &port);
	char hosts[64];
	const char *why;

	world->hangs = true;
	resolver_patience_ms = 3000;
	snprintf(hosts, sizeof(hosts), "moves.example,127.0.0.1:%u", port);
	r = client_of(hosts);
	why = failed(r, 300);
	ok(strstr(why, "moves.example:5432") != NULL, "a call ends in its time: %s", why);
	ok(visited(r, server), "a name that hangs does not keep another host from being used");
	records_close(r);
	r = client_of("moves.example");
	why = failed(r, 10000);
	ok(strstr(why, "no address is known") != NULL, "if there is no other, that is said: %s",
	   why);
	records_close(r);
	close(server);
}

static void
has_two(void)
{
	struct records *r;
	unsigned port = 0;
	int server = listen_at("127.0.0.3", &port);
	char hosts[64];

	world->hangs = false;
	snprintf(hosts, sizeof(hosts), "moves.example:%u", port);
	r = client_of(hosts);
	ok(visited(r, server), "the second address of a name is tried, too");
	records_close(r);
	close(server);
}

int
main(void)
{
	world =
	    mmap(NULL, sizeof(*world), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (world == MAP_FAILED)
		tap_bail("no memory");
	world->parent = getpid();
	hangs();
	has_two();
	is(world->blocked, 0, "no name was looked up by the process itself");
	ok(longest < SECOND, "no step took long: %d ms at most", (int)(longest / MS));
	return tap_done();
}
