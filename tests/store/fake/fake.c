/* SPDX-License-Identifier: ISC */
/*
 * fake - a fake etcd 3.4 for tests, on 127.0.0.1: what flocklimit uses of its gRPC API, in front of the
 * store in memory.  It has users and tokens, but no rights.
 *
 *	fake [-l LOG] [-u USER:PASSWORD]
 *
 * It prints its port, and serves until it is killed.  Its standard input takes orders, a line each, and
 * it prints a line when it has done one:
 *
 *	user [USER:PASSWORD]	there is this user from now on, or none, and no token is valid
 *	login			the user gets a token, as by a call
 *	logout			the token is not valid any more
 *	cut			all connections end that have a watch
 *
 * It fails in no other way: the store in memory does (../memory/serve.c), and the servers of the client's
 * own tests.  The log has a line for each call, its name, and of one that creates a watch the key, too.
 */
#include "fake.h"

#include <err.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "../../../lib/clock.h"
#include "../memory/clock.h"
#include "../memory/world.h"
#include "sockets.h"

#define PEERS   4096
#define MOST_MS 60000 /* between two looks at the time */

static FILE *log_file;
static struct peer *peers[PEERS];
static size_t n_peers;
static char user[200], token[40]; /* user: NAME:PASSWORD, or nothing; token: or none is valid */
static unsigned tokens;

void
note(const char *words, ...)
{
	va_list args;

	if (log_file == NULL)
		return;
	va_start(args, words);
	vfprintf(log_file, words, args);
	va_end(args);
	fputc('\n', log_file);
}

/* ---- users ---- */

const char *
user_wrong(const char *given, enum code *code)
{
	*code = given[0] == '\0' ? BAD_ARGUMENT : UNAUTHENTICATED;
	if (given[0] == '\0')
		return user[0] == '\0' ? NULL : "etcdserver: user name is empty";
	/* A token where no authentication is: etcd looks at it all the same. */
	return strcmp(given, token) == 0 ? NULL : "etcdserver: invalid auth token";
}

static const char *
login(void)
{
	if (token[0] == '\0')
		snprintf(token, sizeof(token), "dbDgyEJFrlaNVtqZ.%u", ++tokens);
	return token;
}

const char *
user_token(const char *name, const char *password, const char **why, enum code *code)
{
	char given[200];

	snprintf(given, sizeof(given), "%s:%s", name == NULL ? "" : name,
		 password == NULL ? "" : password);
	*code = user[0] == '\0' ? PRECONDITION : BAD_ARGUMENT;
	*why = user[0] == '\0' ? "etcdserver: authentication is not enabled"
			       : "etcdserver: authentication failed, invalid user ID or password";
	return user[0] != '\0' && strcmp(given, user) == 0 ? login() : NULL;
}

/* ---- orders ---- */

static void
end_peer(size_t i)
{
	peer_free(peers[i]);
	peers[i] = peers[--n_peers];
}

/* False: there are no more. */
static bool
obey(void)
{
	char line[256];
	ssize_t n = read(STDIN_FILENO, line, sizeof(line) - 1);
	size_t i;

	if (n <= 0)
		return false;
	line[n] = '\0';
	if (strncmp(line, "user", 4) == 0) {
		snprintf(user, sizeof(user), "%s", line + 4 + strspn(line + 4, " "));
		user[strcspn(user, "\n")] = token[0] = '\0';
	} else if (strcmp(line, "login\n") == 0) {
		login();
	} else if (strcmp(line, "logout\n") == 0) {
		token[0] = '\0';
	} else if (strcmp(line, "cut\n") == 0) {
		for (i = n_peers; i > 0; i--)
			if (peer_watches(peers[i - 1]))
				end_peer(i - 1);
	} else {
		errx(1, "no such order: %s", line);
	}
	puts("done");
	return true;
}

/* ---- connections ---- */

static void
accept_all(int listener)
{
	int fd, on = 1;

	while (n_peers < PEERS &&
	       (fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) != -1) {
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
		peers[n_peers++] = peer_new(fd);
	}
}

static int
patience(void)
{
	uint64_t due = world_due();

	if (due <= true_ns)
		return 0;
	return due - true_ns > MOST_MS * MS ? MOST_MS : (int)((due - true_ns) / MS) + 1;
}

/* What one has done, others hear of; none ends before the last has heard. */
static void
serve_all(const struct pollfd *fds, size_t n)
{
	bool over[PEERS];
	size_t i;

	for (i = 0; i < n; i++)
		over[i] = fds[i].revents != 0 && !peer_hears(peers[i]);
	for (i = 0; i < n; i++)
		over[i] = over[i] || !peer_speaks(peers[i]);
	for (i = n; i > 0; i--)
		if (over[i - 1])
			end_peer(i - 1);
}

static void
loop(int listener)
{
	static struct pollfd fds[PEERS + 2];
	bool orders = true;
	size_t i, n;

	for (;;) {
		n = n_peers;
		for (i = 0; i < n; i++)
			fds[i] = (struct pollfd){
				.fd = peer_fd(peers[i]),
				.events =
				    (short)(POLLIN | (peer_wants_to_write(peers[i]) ? POLLOUT : 0))
			};
		fds[n] = (struct pollfd){ .fd = listener, .events = POLLIN };
		fds[n + 1] = (struct pollfd){ .fd = orders ? STDIN_FILENO : -1, .events = POLLIN };
		true_ns = flki_boottime_ns();
		poll(fds, n + 2, patience());
		true_ns = flki_boottime_ns();
		world_step();
		serve_all(fds, n);
		if (fds[n + 1].revents != 0)
			orders = obey();
		if (fds[n].revents != 0)
			accept_all(listener);
	}
}

int
main(int argc, char **argv)
{
	static const struct world_rules rules;
	int c, port = 0, listener = listen_on_port(&port);

	while ((c = getopt(argc, argv, "l:u:")) != -1)
		if (c == 'u')
			snprintf(user, sizeof(user), "%s", optarg);
		else if (c != 'l' || (log_file = fopen(optarg, "ae")) == NULL)
			err(1, "see the head of fake.c");
	if (listener == -1)
		err(1, "port %d", port);
	if (log_file != NULL)
		setvbuf(log_file, NULL, _IOLBF, 0);
	setvbuf(stdout, NULL, _IOLBF, 0);
	world_open(&rules, NULL);
	printf("%d\n", port);
	loop(listener);
}
