/* SPDX-License-Identifier: ISC */
#include "store_http.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "world.h"

#define MESSAGE 1024

static bool
tell(int fd, const char *request)
{
	size_t size = strlen(request);

	return send(fd, request, size, MSG_NOSIGNAL) == (ssize_t)size;
}

/* All that comes until the other side closes, to be freed. */
static char *
hear(int fd)
{
	size_t room = 1 << 16, n = 0;
	char *text = NULL, *more;
	ssize_t got;

	do {
		if ((more = realloc(text, room)) == NULL)
			die("no memory");
		text = more;
		if ((got = read(fd, text + n, room - 1 - n)) > 0)
			n += (size_t)got;
		if (n == room - 1)
			room *= 2;
		text[n] = '\0';
	} while (got > 0);
	return text;
}

static char *
ask_port(int port, const char *request)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char *text = NULL;

	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd != -1 && connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0 && tell(fd, request))
		text = hear(fd);
	if (fd != -1)
		close(fd);
	return text;
}

bool
order(const char *path, const char *line)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char request[MESSAGE], *text = NULL;
	bool obeyed;

	snprintf(to.sun_path, sizeof(to.sun_path), "%s", path);
	snprintf(request, sizeof(request),
		 "POST / HTTP/1.1\r\nHost: proxy\r\nContent-Length: %zu\r\n\r\n%s", strlen(line),
		 line);
	if (fd != -1 && connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0 && tell(fd, request) &&
	    shutdown(fd, SHUT_WR) == 0)
		text = hear(fd);
	if (fd != -1)
		close(fd);
	obeyed = text != NULL && strstr(text, " 200 ") != NULL;
	free(text);
	return obeyed;
}

static char *
get(int port, const char *path)
{
	char request[MESSAGE];

	snprintf(request, sizeof(request),
		 "GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n", path);
	return ask_port(port, request);
}

bool
etcd_is_well(int port)
{
	char *text = get(port, "/health");
	bool well = text != NULL && strstr(text, "\"true\"") != NULL;

	free(text);
	return well;
}

/* ---- keys ---- */

static void
base64(const char *from, char *to)
{
	static const char digit[] =
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const unsigned char *s = (const unsigned char *)from;
	size_t n = strlen(from), i;
	unsigned v;

	for (i = 0; i < n; i += 3) {
		v = (unsigned)s[i] << 16;
		v |= i + 1 < n ? (unsigned)s[i + 1] << 8 : 0;
		v |= i + 2 < n ? (unsigned)s[i + 2] : 0;
		*to++ = digit[v >> 18];
		*to++ = digit[v >> 12 & 63];
		*to++ = (char)(i + 1 < n ? digit[v >> 6 & 63] : '=');
		*to++ = (char)(i + 2 < n ? digit[v & 63] : '=');
	}
	*to = '\0';
}

long
etcd_keys(const struct etcd *e, const char *prefix)
{
	char key[MESSAGE / 4], end[MESSAGE / 4], body[MESSAGE], request[2 * MESSAGE], after[128];
	size_t n = strlen(prefix);
	const char *count;
	char *text;
	long keys;

	if (n == 0 || n >= sizeof(after))
		die("%s: no prefix", prefix);
	memcpy(after, prefix, n + 1);
	after[n - 1]++;
	base64(prefix, key);
	base64(after, end);
	snprintf(body, sizeof(body), "{\"key\":\"%s\",\"range_end\":\"%s\",\"count_only\":true}",
		 key, end);
	snprintf(request, sizeof(request),
		 "POST /v3/kv/range HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
		 "Content-Length: %zu\r\n\r\n%s",
		 strlen(body), body);
	text = ask_port(e->node[0].port, request);
	if (text == NULL || strstr(text, " 200 ") == NULL)
		die("etcd does not answer: %s", text != NULL ? text : "nothing came");
	count = strstr(text, "\"count\":\"");
	keys = count != NULL ? atol(count + strlen("\"count\":\"")) : 0;
	free(text);
	return keys;
}

/* ---- metrics ---- */

/* The sum of all lines of a metric, whatever is in the braces after its name. */
static double
sum(const char *text, const char *name)
{
	const char *line, *value;
	size_t n = strlen(name);
	double all = 0;

	for (line = strstr(text, name); line != NULL; line = strstr(line + n, name)) {
		if (line[-1] != '\n' || (line[n] != ' ' && line[n] != '{'))
			continue;
		value = line + strcspn(line, "\n");
		while (value[-1] != ' ')
			value--;
		all += atof(value);
	}
	return all;
}

void
etcd_traffic(const struct etcd *e, struct traffic *t)
{
	double syncs;
	char *text;
	int i;

	memset(t, 0, sizeof(*t));
	for (i = 0; i < e->nodes; i++) {
		if ((text = get(e->node[i].port, "/metrics")) == NULL)
			die("etcd tells no figures");
		t->messages += sum(text, "grpc_server_msg_received_total");
		t->events += sum(text, "etcd_debugging_mvcc_events_total");
		syncs = sum(text, "etcd_disk_wal_fsync_duration_seconds_count");
		t->syncs = syncs > t->syncs ? syncs : t->syncs;
		free(text);
	}
}
