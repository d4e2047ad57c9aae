/* SPDX-License-Identifier: ISC */
/*
 * fake - a fake etcd 3.4 for tests, in memory, on 127.0.0.1: what flocklimit uses of its gRPC API, and, for
 * the tests themselves, what its JSON gateway has.  A call by gRPC is named as the gateway names it.
 *
 *	fake [-p PORT] [-c SOCKET] [-s SCRIPT] [-l LOG] [-u USER:PASSWORD] [-d PREFIX]
 *
 * It prints its port, and serves until it is killed or told to quit.  Faults come from lines, in the
 * script or, later, as the body of a request to the control socket:
 *
 *	curl --unix-socket SOCKET -d 'on /v3/kv/txn nth 2 with w/ cut' http://fake/
 *
 *	on PATH|* [nth N] [times K|always] [with TEXT] ACTION
 *		cut		done, and the connection ends without an answer (by gRPC: all calls on it)
 *		swallow		done, and never answered
 *		late MS		done at once, answered later
 *		delay MS	done later, even if the client is gone by then; the log has "done PATH" then
 *		hold		done when the operator says release, as with delay
 *		refuse		not done, and the connection ends
 *		hang		not done, and never answered
 *		answer STATUS BODY	not done; by gRPC, the code and message in BODY, or BODY itself
 *		garbage		not done; an answer that is no JSON
 *		cut-answer	done; half of the answer; of a watch: half of its first events
 *	release			what is held is done now
 *	clear			no faults from now on
 *	count [PATH]		how many calls there were
 *	expire ID|all		a lease ends now (revoke: the same)
 *	compact [REVISION]
 *	pause, resume		nothing is accepted, read or written
 *	kill [watches]		all connections end
 *	wipe			all data is lost
 *	logout			the token is not valid any more
 *	user [USER:PASSWORD]	there is this user from now on, or none, and no token is valid
 *	deny [PREFIX]		keys that are forbidden
 *	quit
 *
 * Each line of the log begins with its time, in ms of CLOCK_BOOTTIME: "MS N METHOD PATH WORDS [!FAULT]"
 * when a call comes, "MS done PATH", "MS over ID" when a lease's time is over, and "MS connection" when a
 * connection begins that speaks gRPC.
 *
 * TEXT is looked for in the description of the call that the log has, too: "put:KEY lease:ID",
 * "range:KEY..END", "delete:KEY", "if:KEY", "watch:KEY..END", else "key:KEY"; "else" stands before
 * what a txn does otherwise.
 */
#include "server.h"

#include <err.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void
run_script(struct server *s, const char *path)
{
	FILE *file = fopen(path, "re");
	struct buf text = { 0 }, said = { 0 };
	char piece[4096];
	size_t n;

	if (file == NULL)
		err(1, "%s", path);
	buf_text(&text, "");
	while ((n = fread(piece, 1, sizeof(piece), file)) > 0)
		buf_add(&text, piece, n);
	fclose(file);
	buf_text(&said, "");
	if (!control_text(s, text.at, &said))
		errx(1, "%s: %s", path, said.at);
	buf_free(&text);
	buf_free(&said);
}

static void
options(struct server *s, int argc, char **argv, int *port, const char **script)
{
	int c;

	while ((c = getopt(argc, argv, "c:d:l:p:s:u:")) != -1) {
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
			break;
		case 'p':
			*port = atoi(optarg);
			break;
		case 's':
			*script = optarg;
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
	const char *script = NULL;
	int port = 0;

	kv_wipe(&s.fake.kv);
	s.fake.cluster_id = 4631781485337446441;
	s.fake.member_id = 4117872192794419420;
	options(&s, argc, argv, &port, &script);
	if (script != NULL)
		run_script(&s, script);
	s.listener = listen_on_port(&port);
	if (s.listener == -1)
		err(1, "port %d", port);
	printf("%d\n", port);
	fflush(stdout);
	loop(&s);
	return 0;
}
