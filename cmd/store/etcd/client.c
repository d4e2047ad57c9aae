#include "client.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <arpa/inet.h>

#define DEFAULT_PORT   2379
#define DEFAULT_PREFIX "/flocklimit"
#define CONNECT_MS     2000

/* ---- endpoints ----------------------------------------------------------------------------- */

void
client_turn(struct etcd *e, uint64_t turn)
{
	if (turn != e->turn)
		return;
	e->turn++;
	e->at = (e->at + 1) % e->endpoints;
}

struct endpoint *
client_endpoint(struct etcd *e)
{
	return &e->endpoint[e->at];
}

enum etcd_result
client_result(const struct etcd *e, enum http_trouble trouble)
{
	return trouble == HTTP_WRONG && !e->sound ? ETCD_WRONG : ETCD_AWAY;
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

/*
 * libcurl would resolve a name in a thread of its own, or block at each call.  So the addresses are
 * handed to it: "host:port:address,address".  NULL, with no words in why: it is an address itself.
 */
static char *
resolve(const char *host, unsigned port, char *why, size_t size)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *list, *a;
	char address[INET6_ADDRSTRLEN + 16], *line = NULL;
	struct in6_addr numeric;
	int error;

	*why = '\0';
	if (inet_pton(AF_INET, host, &numeric) == 1 || inet_pton(AF_INET6, host, &numeric) == 1)
		return NULL;
	error = getaddrinfo(host, NULL, &hints, &list);
	if (error != 0) {
		snprintf(why, size, "%s: no address is known for that name: %s", host,
			 gai_strerror(error));
		return NULL;
	}
	for (a = list; a != NULL; a = a->ai_next) {
		bool six = a->ai_family == AF_INET6;
		char *longer;
		int n;

		if (getnameinfo(a->ai_addr, a->ai_addrlen, address, sizeof(address), NULL, 0,
				NI_NUMERICHOST) != 0)
			continue;
		if (line == NULL)
			n = asprintf(&longer, "%s:%u:%s%s%s", host, port, six ? "[" : "", address,
				     six ? "]" : "");
		else
			n = asprintf(&longer, "%s,%s%s%s", line, six ? "[" : "", address,
				     six ? "]" : "");
		if (n == -1)
			break;
		free(line);
		line = longer;
	}
	freeaddrinfo(list);
	if (line == NULL)
		snprintf(why, size, "%s: no address is known for that name", host);
	return line;
}

/* A name that can't be resolved stays: among several, the others will do. */
static int
set_endpoint(struct endpoint *at, const struct url *u, size_t i, char *why, size_t size)
{
	const char *host = u->at[i].host;
	unsigned port = u->at[i].port != 0 ? u->at[i].port : DEFAULT_PORT;
	bool six = strchr(host, ':') != NULL;

	at->address = resolve(host, port, why, size);
	if (asprintf(&at->name, "%s%s%s:%u", six ? "[" : "", host, six ? "]" : "", port) == -1)
		at->name = NULL;
	if (asprintf(&at->base, "http%s://%s", *u->variant != '\0' ? "s" : "", at->name) == -1)
		at->base = NULL;
	if (at->name == NULL || at->base == NULL) {
		snprintf(why, size, "no memory is left");
		return -ENOMEM;
	}
	return 0;
}

static int
set_endpoints(struct etcd *e, const struct url *u, char *why, size_t size)
{
	size_t i;

	e->endpoint = calloc(u->hosts, sizeof(*e->endpoint));
	if (e->endpoint == NULL)
		return -ENOMEM;
	for (i = 0; i < u->hosts; i++) {
		int error = set_endpoint(&e->endpoint[i], u, i, why, size);

		e->endpoints++;
		if (error != 0)
			return error;
	}
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
				 "it has a parameter that is none: there are user=, "
				 "password-file=, token-file=, cacert=, cert= and key=");
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
		error = set_endpoints(e, url, why, size);
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
