/* SPDX-License-Identifier: ISC */
/*
 * moves.c - the client of etcd's endpoints whose names get other addresses, or whose resolver
 * hangs.  The resolver is a function of the test's: it stands in the way of the C library's.
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "../helpers/tap.h"
#include "clock.h"
#include "etcd/client/client.h"
#include "pump.h"
#include "server.h"

#define LOOK_UPS 64

/* What the resolver answers, and what it has seen: children call it. */
static struct {
	char address[64]; /* of "moves.example"; "": it hangs */
	int look_ups;
	pid_t child[LOOK_UPS];
	int descriptors;
} * world;

static int
open_descriptors(void)
{
	DIR *fds = opendir("/proc/self/fd");
	int n = -3; /* ".", ".." and this one */

	if (fds == NULL)
		return 0;
	while (readdir(fds) != NULL)
		n++;
	closedir(fds);
	return n;
}

/* NOLINTNEXTLINE(bugprone-easily-swappable-parameters): as in netdb.h */
int
getaddrinfo(const char *restrict name, const char *restrict service,
	    const struct addrinfo *restrict hints, struct addrinfo **restrict list)
{
	static union {
		struct sockaddr_in four;
		struct sockaddr_in6 six;
	} where;
	static struct addrinfo a;

	(void)service;
	(void)hints;
	world->descriptors = open_descriptors();
	if (world->look_ups < LOOK_UPS)
		world->child[world->look_ups++] = getpid();
	while (*world->address == '\0' || strcmp(name, "hangs.example") == 0)
		pause();
	memset(&where, 0, sizeof(where));
	a = (struct addrinfo){ .ai_addr = (struct sockaddr *)&where };
	if (inet_pton(AF_INET6, world->address, &where.six.sin6_addr) == 1) {
		a.ai_family = where.six.sin6_family = AF_INET6;
		a.ai_addrlen = sizeof(where.six);
	} else if (inet_pton(AF_INET, world->address, &where.four.sin_addr) == 1) {
		a.ai_family = where.four.sin_family = AF_INET;
		a.ai_addrlen = sizeof(where.four);
	} else {
		return EAI_NONAME;
	}
	*list = &a;
	return 0;
}

void
freeaddrinfo(struct addrinfo *list)
{
	(void)list;
}

static void
live_at(const char *address)
{
	snprintf(world->address, sizeof(world->address), "%s", address);
}

static struct records *
client_of(const char *hosts, unsigned pause_ms)
{
	static struct url u;
	char text[256], why[RECORDS_TEXT] = "";
	struct records *e;

	world->look_ups = 0;
	snprintf(text, sizeof(text), "etcd://%s", hosts);
	if (url_parse(&u, text) != NULL || records_open(&e, &u, pause_ms, why) != 0)
		tap_bail("no client of %s: %s", text, why);
	return e;
}

static struct records *
client_at(unsigned port)
{
	char host[64];

	snprintf(host, sizeof(host), "moves.example:%u", port);
	return client_of(host, 5000);
}

/* How many calls it took until one was answered; 0: none was. */
static int
tries(struct records *e)
{
	struct outcome o = { 0 };
	uint64_t end = flki_boottime_ns() + 10000 * MS;
	int n = 0;

	while (flki_boottime_ns() < end) {
		n++;
		if (asked(e, "moved", 2000, &o) == RECORDS_OK) {
			return n;
		}
		usleep(10000);
	}
	return 0;
}

/* Until the first endpoint has that address. */
static bool
settled(struct records *e, const char *address)
{
	uint64_t end = flki_boottime_ns() + 10000 * MS;

	while (strcmp(e->endpoint[0].addresses, address) != 0 && flki_boottime_ns() < end) {
		usleep(1000);
		records_step(e);
	}
	return strcmp(e->endpoint[0].addresses, address) == 0;
}

/* Until the last look-up is over, and was long enough ago for another. */
static void
may_look_up(struct records *e)
{
	while (!resolver_may_start(e->resolver)) {
		usleep(1000);
		records_step(e);
	}
}

static void
answer_one(int listener)
{
	struct heard h;
	struct visitor *v = visit_and_hear(listener, &h);

	answer(v, h.id, sound(1));
	linger(v);
}

static void
answer_one_and_end(int listener)
{
	struct heard h;
	struct visitor *v = visit_and_hear(listener, &h);

	answer(v, h.id, sound(1));
}

/* ---- it moves ------------------------------------------------------------------------------ */

static void
moved_to(const char *address)
{
	struct server there, here;
	struct outcome o = { 0 };
	struct records *e;

	live_at("127.0.0.1");
	here = serve(answer_one_and_end);
	e = client_at(here.port);
	is(asked(e, "here", 5000, &o), RECORDS_OK, "a name has an address");
	free(served(&here));
	there = serve_at(address, here.port, answer_one);
	if (there.port == 0) {
		tap_skip("the address can't be had");
		records_close(e);
		return;
	}
	live_at(address);
	ok(tries(e) > 1, "it has moved to %s: it is found there", address);
	ok(world->look_ups >= 2 && world->descriptors == 3,
	   "by a child that has no descriptor of ours: %d", world->descriptors - 3);
	records_close(e);
	free(served(&there));
}

/* A connection is good, and then nothing is heard over it. */
static void
answer_one_and_be_silent(int listener)
{
	struct heard h;
	struct visitor *v = visit_and_hear(listener, &h);

	answer(v, h.id, sound(1));
	linger(v);
}

static void
old_connection(void)
{
	struct server there, here;
	struct outcome a = { 0 };
	struct records *e;

	live_at("127.0.0.1");
	here = serve(answer_one_and_be_silent);
	there = serve_at("127.0.0.2", here.port, answer_one);
	e = client_at(here.port);
	is(asked(e, "a", 5000, &a), RECORDS_OK, "a connection is open");
	live_at("127.0.0.2");
	may_look_up(e);
	is(asked(e, "c", 300, &a), RECORDS_AWAY, "nothing is heard there any more");
	ok(settled(e, "127.0.0.2"), "so the name is looked up, and has moved");
	is(asked(e, "d", 5000, &a), RECORDS_OK, "the old connection is not used again");
	records_close(e);
	free(served(&here));
	kill(there.pid, SIGKILL);
	free(served(&there));
}

/* Of a watch alone: nobody calls. */
static void
stream(int listener)
{
	struct heard h;
	struct visitor *v = visit_and_hear(listener, &h);
	struct wire_out w = { .failed = false }, all;

	wire_number(&w, 2, 1);
	wire_number(&w, 3, 1);
	all = message(9, &w);
	say(v, h.id, all.at, all.n);
}

static void
watch_moves(void)
{
	static const struct records_range range = { .key = "a" };
	struct server there, here;
	struct remembered news = { 0 };
	struct records_watch *w;
	struct records *e;

	live_at("127.0.0.1");
	here = serve(stream);
	e = client_at(here.port);
	w = records_watch(e, &range, 1, 0, remember, &news);
	ok(until(e, &news.begun, 1), "a watch has begun");
	free(served(&here));
	there = serve_at("127.0.0.2", here.port, stream);
	live_at("127.0.0.2");
	ok(until(e, &news.begun, 2), "alone, it goes on where the name has moved");
	records_unwatch(w);
	records_close(e);
	kill(there.pid, SIGKILL); /* it may wait for a visitor still */
	free(served(&there));
}

/* ---- the resolver hangs -------------------------------------------------------------------- */

static int
alive(void)
{
	int i, n = 0;

	for (i = 0; i < world->look_ups; i++)
		n += kill(world->child[i], 0) == 0;
	return n;
}

static void
hung(void)
{
	struct server here, there;
	struct outcome o = { 0 };
	uint64_t longest = 0, end;
	int most = 0, calls = 0;
	struct records *e;

	resolver_patience_ms = 300;
	live_at("127.0.0.1");
	here = serve(answer_one_and_end);
	e = client_at(here.port);
	is(asked(e, "here", 5000, &o), RECORDS_OK, "a name has an address");
	free(served(&here));
	live_at("");
	for (end = flki_boottime_ns() + 3000 * MS; flki_boottime_ns() < end; calls++) {
		uint64_t before = flki_boottime_ns();

		asked(e, "away", 2000, &o);
		if (flki_boottime_ns() - before > longest)
			longest = flki_boottime_ns() - before;
		if (alive() > most)
			most = alive();
		usleep(10000);
	}
	ok(calls > 20 && longest < 1000 * MS,
	   "a resolver that hangs blocks no call: %d calls, the longest of %d ms", calls,
	   (int)(longest / MS));
	ok(world->look_ups >= 3 && world->look_ups <= 8, "it is asked now and then: %d times",
	   world->look_ups - 1);
	is(most, 1, "by one process at a time");
	there = serve_at("127.0.0.2", here.port, answer_one);
	live_at("127.0.0.2");
	ok(tries(e) > 0, "and when it answers, the name is found where it has moved");
	records_close(e);
	free(served(&there));
}

static void
visited(int listener)
{
	visit(listener);
}

/* A process forked meanwhile keeps the pipe open from which the look-up was read. */
static void
forked_meanwhile(void)
{
	struct server witness;
	struct outcome o = { 0 };
	struct pollfd p = { .events = POLLIN };
	struct records *e;

	resolver_patience_ms = 300;
	live_at("127.0.0.1");
	e = client_at(nobodys_port());
	live_at("");
	may_look_up(e);
	is(asked(e, "away", 2000, &o), RECORDS_AWAY, "nobody is there");
	ok(resolver_looks(e->resolver), "so the name is looked up");
	witness = serve(visited);
	may_look_up(e);
	p.fd = records_fd(e);
	is(poll(&p, 1, 0), 0,
	   "no look-up is heard of after its end, whatever process has its pipe");
	records_close(e);
	kill(witness.pid, SIGKILL);
	free(served(&witness));
}

/* A store with a short ttl: a name that moves late, after many look-ups of no use, must be found in time. */
static void
in_a_hurry(void)
{
	struct outcome o = { 0 };
	uint64_t before = flki_boottime_ns(), took;
	struct records *e;
	char host[64];

	live_at("127.0.0.1");
	snprintf(host, sizeof(host), "moves.example:%u", nobodys_port());
	e = client_of(host, 500);
	do {
		asked(e, "away", 2000, &o);
		usleep(10000);
		took = (flki_boottime_ns() - before) / MS;
	} while (world->look_ups < 8 && took < 30000);
	ok(took < 15000, "however often in vain, the next look-up is soon: eight took %d ms",
	   (int)took);
	records_close(e);
}

static void
hung_at_first(void)
{
	struct outcome o = { 0 };
	uint64_t before = flki_boottime_ns(), took;
	struct records *e;
	pid_t child;
	int i;

	resolver_patience_ms = 60000;
	live_at("");
	e = client_at(1);
	took = (flki_boottime_ns() - before) / MS;
	ok(took >= 1900 && took < 10000, "a client is made without any address: after %d ms",
	   (int)took);
	is(asked(e, "a", 5000, &o), RECORDS_AWAY, "its calls fail");
	ok(strstr(o.text, "no address is known") != NULL, "and say why: %s", o.text);
	is(world->look_ups, 1, "it is still asking");
	child = world->child[0];
	records_close(e);
	for (i = 0; i < 1000 && kill(child, 0) == 0 && waitpid(child, NULL, WNOHANG) == 0; i++)
		usleep(10000);
	ok(kill(child, 0) == -1, "which ends with it");
}

static void
one_of_two_hangs(void)
{
	struct server here;
	char hosts[64];
	struct records *e;

	resolver_patience_ms = 300;
	live_at("127.0.0.1");
	here = serve(answer_one);
	snprintf(hosts, sizeof(hosts), "hangs.example:1,moves.example:%u", here.port);
	e = client_of(hosts, 5000);
	ok(tries(e) > 0, "a name that hangs does not keep another from being found");
	records_close(e);
	free(served(&here));
}

int
main(void)
{
	clients_begin();
	world =
	    mmap(NULL, sizeof(*world), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (world == MAP_FAILED)
		tap_bail("no memory");
	moved_to("127.0.0.2");
	moved_to("::1");
	old_connection();
	watch_moves();
	hung();
	in_a_hurry();
	forked_meanwhile();
	hung_at_first();
	one_of_two_hangs();
	return tap_done();
}
