#include "client.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <arpa/inet.h>

#include "verdict.h"

#define DEFAULT_PORT   2379
#define DEFAULT_PREFIX "/flocklimit"
#define CONNECT_MS     2000
#define LOOK_UP_NS     (5000 * CLOCK_MS)

/* ---- endpoints ----------------------------------------------------------------------------- */

static bool
reaches(const struct endpoint *at)
{
	return !at->named || at->address != NULL;
}

/* To the next one whose address is known, if there is one. */
static void
go_on(struct etcd *e)
{
	size_t i;

	for (i = 0; i < e->endpoints; i++) {
		e->at = (e->at + 1) % e->endpoints;
		if (reaches(&e->endpoint[e->at]))
			break;
	}
}

void
client_turn(struct etcd *e, uint64_t turn)
{
	if (turn != e->turn)
		return;
	e->turn++;
	go_on(e);
}

struct endpoint *
client_endpoint(struct etcd *e)
{
	return &e->endpoint[e->at];
}

void
client_trouble(const struct etcd *e, enum http_trouble trouble, const char *why, struct verdict *v)
{
	const char *hint = "";

	if (trouble == HTTP_BROKEN && !e->sound)
		hint = strncmp(e->endpoint[0].base, "https", 5) == 0
			   ? " (does it speak TLS? if not: etcd://)"
			   : " (does it want TLS? then: etcd+https://)";
	v->result = trouble == HTTP_WRONG && !e->sound ? ETCD_WRONG : ETCD_AWAY;
	v->license = LICENSED;
	snprintf(v->words, sizeof(v->words), "%s%s", why, hint);
}

void
client_text(char text[CLIENT_TEXT], const struct endpoint *at, const char *words)
{
	snprintf(text, CLIENT_TEXT, "%s: %s", at->name, words);
}

bool
client_aim(struct etcd *e, struct post *p, const char *path)
{
	const struct endpoint *at = client_endpoint(e);

	if (asprintf(&p->url, "%s%s", at->base, path) == -1) {
		p->url = NULL;
		return false;
	}
	p->address = at->address;
	p->token = token_now(e);
	p->connect_ms = CONNECT_MS;
	return true;
}

/* "host:port:address,address", as libcurl is told of it; NULL for want of memory. */
static char *
join(const struct endpoint *at, const struct addrinfo *list)
{
	char address[INET6_ADDRSTRLEN + 16], *line = NULL, *longer;
	const struct addrinfo *a;

	if (asprintf(&line, "%s:%u:", at->host, at->port) == -1)
		return NULL;
	for (a = list; a != NULL; a = a->ai_next) {
		bool six = a->ai_family == AF_INET6;

		if (getnameinfo(a->ai_addr, a->ai_addrlen, address, sizeof(address), NULL, 0,
				NI_NUMERICHOST) != 0)
			continue;
		if (asprintf(&longer, "%s%s%s%s%s", line, a == list ? "" : ",", six ? "[" : "",
			     address, six ? "]" : "") == -1)
			longer = NULL;
		free(line);
		line = longer;
		if (line == NULL)
			break;
	}
	return line;
}

/*
 * libcurl would resolve a name in a thread of its own, or block at each call.  So the addresses are
 * handed to it.  A name that can't be resolved stays: among several, the others will do.
 */
static void
look_up(struct etcd *e)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *list;
	size_t i;

	for (i = 0; i < e->endpoints; i++) {
		struct endpoint *at = &e->endpoint[i];

		if (reaches(at) || getaddrinfo(at->host, NULL, &hints, &list) != 0)
			continue;
		at->address = join(at, list);
		freeaddrinfo(list);
	}
	e->looked_up = clock_ns();
	if (!reaches(&e->endpoint[e->at]))
		go_on(e);
}

bool
client_reaches(struct etcd *e)
{
	if (!reaches(&e->endpoint[e->at]) && clock_ns() - e->looked_up >= LOOK_UP_NS)
		look_up(e);
	return reaches(&e->endpoint[e->at]);
}

static int
set_endpoint(struct endpoint *at, const struct url *u, size_t i)
{
	const char *host = u->at[i].host;
	struct in6_addr numeric;
	bool six = inet_pton(AF_INET6, host, &numeric) == 1;

	at->named = !six && inet_pton(AF_INET, host, &numeric) != 1;
	at->port = u->at[i].port != 0 ? u->at[i].port : DEFAULT_PORT;
	if (asprintf(&at->name, "%s%s%s:%u", six ? "[" : "", host, six ? "]" : "", at->port) ==
	    -1) {
		at->name = NULL;
		return -ENOMEM;
	}
	if (asprintf(&at->base, "http%s://%s", *u->variant != '\0' ? "s" : "", at->name) == -1) {
		at->base = NULL;
		return -ENOMEM;
	}
	snprintf(at->host, sizeof(at->host), "%s", host);
	return 0;
}

static int
set_endpoints(struct etcd *e, const struct url *u)
{
	size_t i;

	e->endpoint = calloc(u->hosts, sizeof(*e->endpoint));
	if (e->endpoint == NULL)
		return -ENOMEM;
	for (i = 0; i < u->hosts; i++) {
		e->endpoints++;
		if (set_endpoint(&e->endpoint[i], u, i) != 0)
			return -ENOMEM;
	}
	look_up(e);
	return 0;
}

/* ---- the client ---------------------------------------------------------------------------- */

static int
check_url(const struct url *u, char *why, size_t size)
{
	static const char *const names[] = { "user",   "password-file", "token-file",
					     "cacert", "cert",          "key" };
	bool tls = strcmp(u->variant, "https") == 0;
	size_t i, k;

	if (!tls && *u->variant != '\0') {
		snprintf(why, size, "use etcd:// or etcd+https://");
		return -EINVAL;
	}
	for (i = 0; i < u->params; i++) {
		for (k = 0; k < sizeof(names) / sizeof(names[0]); k++)
			if (strcmp(u->param[i].name, names[k]) == 0)
				break;
		if (k == sizeof(names) / sizeof(names[0])) {
			snprintf(why, size,
				 "there is no parameter %.40s=: there are user=, password-file=, "
				 "token-file=, cacert=, cert= and key=",
				 u->param[i].name);
			return -EINVAL;
		}
		if (k >= 3 && !tls) {
			snprintf(why, size, "%s= is for etcd+https://", names[k]);
			return -EINVAL;
		}
	}
	return 0;
}

int
etcd_new(struct etcd **etcd, const struct url *url, char *why, size_t size)
{
	struct etcd *e = calloc(1, sizeof(*e));
	int error = -ENOMEM;
	struct http_tls tls;

	*etcd = NULL;
	snprintf(why, size, "no memory is left");
	if (e == NULL)
		return -ENOMEM;
	LIST_INIT(&e->calls);
	LIST_INIT(&e->watches);
	e->token = token_new();
	if (e->token == NULL ||
	    asprintf(&e->prefix, "%s/", *url->path != '\0' ? url->path : DEFAULT_PREFIX) == -1)
		goto out;
	error = check_url(url, why, size);
	if (error == 0)
		error = secret_load(&e->secret, url, why, size);
	if (error == 0)
		error = set_endpoints(e, url);
	if (error != 0)
		goto out;
	tls.on = *url->variant != '\0';
	tls.cacert = e->secret.cacert;
	tls.cert = e->secret.cert;
	tls.key = e->secret.key;
	e->http = http_new(&tls, why, size);
	error = e->http == NULL ? -ELIBACC : 0;
out:
	if (error != 0)
		etcd_free(e);
	else
		*etcd = e;
	return error;
}

void
etcd_free(struct etcd *e)
{
	size_t i;

	if (e == NULL)
		return;
	while (!LIST_EMPTY(&e->calls))
		etcd_cancel(LIST_FIRST(&e->calls));
	while (!LIST_EMPTY(&e->watches))
		etcd_unwatch(LIST_FIRST(&e->watches));
	token_free(e->token);
	http_free(e->http);
	for (i = 0; i < e->endpoints; i++) {
		free(e->endpoint[i].base);
		free(e->endpoint[i].name);
		free(e->endpoint[i].address);
	}
	free(e->endpoint);
	free(e->prefix);
	secret_clear(&e->secret);
	free(e);
}

int
etcd_fd(const struct etcd *e)
{
	return http_fd(e->http);
}

uint64_t
etcd_due(const struct etcd *e)
{
	uint64_t due = http_due(e->http), calls = calls_due(e), watches = watches_due(e);

	if (calls < due)
		due = calls;
	return watches < due ? watches : due;
}

void
etcd_step(struct etcd *e)
{
	http_step(e->http);
	calls_step(e);
	watches_step(e);
}
