/* SPDX-License-Identifier: ISC */
/*
 * fake - a fake etcd 3.4 for tests, in memory, on 127.0.0.1: what flocklimit uses of its gRPC API, and, for
 * the tests themselves, what its JSON gateway has.  A call by gRPC is named as the gateway names it.
 *
 *	fake [-c SOCKET] [-l LOG] [-u USER:PASSWORD] [-d PREFIX]
 *
 * It prints its port, and serves until it is killed.  -d: keys that are forbidden.  It fails in no other
 * way: the store in memory does (../memory/serve.c), and the servers of the client's own tests.  An
 * order is the body of a request to the control socket:
 *
 *	curl --unix-socket SOCKET -d 'user ann:new' http://fake/
 *
 *	user [USER:PASSWORD]	there is this user from now on, or none, and no token is valid
 *	logout			the token is not valid any more
 *	kill watches		all connections end that have a watch
 *
 * Each line of the log begins with its time, in ms of CLOCK_BOOTTIME: "MS PATH" when a call comes, "MS PATH
 * KEY" when one comes by gRPC that creates a watch, "MS over ID" when a lease's time is over, and "MS
 * connection" when a connection begins that speaks gRPC.
 */
#include "server.h"

#include <err.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void
options(struct server *s, int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "c:d:l:u:")) != -1) {
		switch (c) {
		case 'c':
			s->control = listen_on_path(optarg);
			if (s->control == -1)
				err(1, "%s", optarg);
			break;
		case 'd':
			s->fake.auth.denied = optarg;
			break;
		case 'l':
			s->log = fopen(optarg, "ae");
			if (s->log == NULL)
				err(1, "%s", optarg);
			setvbuf(s->log, NULL, _IOLBF, 0);
			break;
		case 'u':
			if (!auth_set_user(&s->fake.auth, optarg))
				errx(1, "-u: no colon in it");
			break;
		default:
			errx(1, "see the head of fake.c");
		}
	}
}

int
main(int argc, char **argv)
{
	struct server s = { .listener = -1, .control = -1 };
	int port = 0;

	kv_wipe(&s.fake.kv);
	s.fake.cluster_id = 4631781485337446441;
	s.fake.member_id = 4117872192794419420;
	options(&s, argc, argv);
	s.listener = listen_on_port(&port);
	if (s.listener == -1)
		err(1, "port %d", port);
	printf("%d\n", port);
	fflush(stdout);
	loop(&s);
}
