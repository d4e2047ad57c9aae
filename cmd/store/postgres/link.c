/* SPDX-License-Identifier: ISC */
/*
 * link.c - the connection to the primary, which one of the hosts is.
 *
 *   DOWN       -> CONNECTING  [connect_begin]  something waits, and the pause is over
 *   CONNECTING -> UP          [up]
 *   any        -> DOWN        [link_lost]      the next address's turn; after the last one, a pause
 */
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>

#include "client.h"
#include "now.h"
#include "records/retry.h"

#define CONNECT_NS (5 * SECOND)

/*
 * Each statement of functions.sql is about a few rows, which an index has.  But the tables grow and shrink all
 * day, so that the planner's idea of them is wrong at any time, and a plan stays for as long as the connection.
 */
#define SETTINGS                                             \
	"-c default_transaction_isolation=read\\ committed " \
	"-c plan_cache_mode=force_generic_plan -c jit=off "  \
	"-c enable_seqscan=off -c enable_hashjoin=off -c enable_mergejoin=off"

void
link_text(char text[RECORDS_TEXT], const struct records *r, const char *words)
{
	snprintf(text, RECORDS_TEXT, "%.100s: %.280s", r->host[r->at].text, words);
}

/* ---- its end ---- */

static void
disconnect(struct records *r)
{
	PQfinish(r->conn);
	r->conn = NULL;
	r->state = DOWN;
	r->broken = r->unsent = false;
	r->backend = 0;
}

void
link_lost(struct records *r, const struct verdict *v)
{
	uint64_t pause;
	bool all;

	r->why = *v;
	link_text(r->why.words, r, v->words);
	disconnect(r);
	all = !hosts_next(r);
	r->failures += all;
	pause = earlier(retry_pause(r->failures), r->pause_ns);
	r->due = all ? flki_boottime_ns() + pause : 0;
	calls_fail(r, all);
	watches_down(r);
}

static void
lost_by(struct records *r, const char *message)
{
	struct verdict v;

	verdict_of_connection(&v, message);
	/* A store that served us once is expected to do so again. */
	if (r->sound)
		v.result = RECORDS_AWAY;
	link_lost(r, &v);
}

/* ---- its beginning ---- */

void
link_drop_notice(void *context, const PGresult *notice)
{
	(void)context;
	(void)notice;
}

static void
wait_for(struct records *r, uint32_t events)
{
	struct epoll_event event = { .events = events };
	int fd = PQsocket(r->conn);

	/* libpq may have closed one socket and opened another, with the same number. */
	if (epoll_ctl(r->epoll, EPOLL_CTL_MOD, fd, &event) == -1)
		epoll_ctl(r->epoll, EPOLL_CTL_ADD, fd, &event);
}

void
link_parameters(struct parameters *p, const struct records *r)
{
	const struct host *h = &r->host[r->at];
	const struct secret *s = &r->secret;
	const char *mode = url_param(&r->url, "sslmode");

	if (mode == NULL && s->cacert != NULL)
		mode = "verify-full";
	*p = (struct parameters){
		.name = { "host", "hostaddr", "port", "user", "password", "dbname", "sslmode",
			  "sslrootcert", "sslcert", "sslkey", "target_session_attrs", "options",
			  "gssencmode", "application_name", "connect_timeout" },
		.value = { h->host, p->address, h->port, s->user, s->password,
			   url_param(&r->url, "database"), mode, s->cacert, s->cert, s->key,
			   "read-write", SETTINGS, "disable", "flocklimit", "5" },
	};
	host_address(r, p->address);
}

static void
connect_begin(struct records *r)
{
	struct parameters p;
	char why[RECORDS_TEXT];

	secret_password_changed(&r->secret, why, sizeof(why));
	r->state = CONNECTING;
	r->due = flki_boottime_ns() + CONNECT_NS;
	link_parameters(&p, r);
	r->conn = PQconnectStartParams(p.name, p.value, 0);
	if (PQstatus(r->conn) == CONNECTION_BAD) {
		lost_by(r, r->conn == NULL ? "no memory is left" : PQerrorMessage(r->conn));
		return;
	}
	PQsetErrorVerbosity(r->conn, PQERRORS_VERBOSE); /* with the code */
	PQsetNoticeReceiver(r->conn, link_drop_notice, NULL);
	r->polling = PGRES_POLLING_WRITING;
}

/* The turn of a host whose name is being looked up has not come yet. */
static void
begin(struct records *r)
{
	char address[ADDRESS];

	if (!host_address(r, address))
		hosts_look_up(r);
	if (host_address(r, address))
		connect_begin(r);
	else if (host_due(r) <= flki_boottime_ns())
		lost_by(r, "no address is known for that name");
}

static void
up(struct records *r)
{
	if (PQsetnonblocking(r->conn, 1) != 0 || !PQenterPipelineMode(r->conn)) {
		lost_by(r, PQerrorMessage(r->conn));
		return;
	}
	r->state = UP;
	r->heard_ns = flki_boottime_ns();
	wait_for(r, EPOLLIN);
	r->broken |= !hello_begin(r);
	watches_up(r);
	calls_send(r);
}

static void
connect_go_on(struct records *r)
{
	struct pollfd p;

	while (r->state == CONNECTING) {
		bool read = r->polling == PGRES_POLLING_READING;

		p = (struct pollfd){ .fd = PQsocket(r->conn), .events = read ? POLLIN : POLLOUT };
		if (poll(&p, 1, 0) == 0) {
			wait_for(r, read ? EPOLLIN : EPOLLOUT);
			break;
		}
		r->polling = PQconnectPoll(r->conn);
		if (r->polling == PGRES_POLLING_OK)
			up(r);
		else if (r->polling == PGRES_POLLING_FAILED)
			lost_by(r, PQerrorMessage(r->conn));
	}
	if (r->state == CONNECTING && flki_boottime_ns() >= r->due)
		lost_by(r, "no connection in time");
}

/* ---- while it is up ---- */

static void
read_answers(struct records *r)
{
	PGnotify *notify;
	PGresult *result;
	int nulls = 0;

	/* NULL comes after each answer; two, after the end of the connection. */
	while (r->state == UP && nulls < 2 && !TAILQ_EMPTY(&r->sent) && !PQisBusy(r->conn)) {
		result = PQgetResult(r->conn);
		nulls = result == NULL ? nulls + 1 : 0;
		if (PQresultStatus(result) == PGRES_PIPELINE_SYNC)
			calls_got_all(r);
		else if (result != NULL)
			calls_got(r, result);
		PQclear(result);
	}
	while (r->state == UP && (notify = PQnotifies(r->conn)) != NULL) {
		watches_notified(r, notify->extra);
		PQfreemem(notify);
	}
}

/* What libpq can't send at once, it sends when there is room; meanwhile it reads, too. */
static void
flush(struct records *r)
{
	int more = PQflush(r->conn);

	r->unsent = false;
	wait_for(r, more == 1 ? EPOLLIN | EPOLLOUT : EPOLLIN);
	r->broken |= more == -1;
}

uint64_t
link_due(const struct records *r)
{
	if (r->state == DOWN && !calls_wait(r) && !watches_wait(r))
		return UINT64_MAX;
	if (r->state == DOWN)
		return r->due > host_due(r) ? r->due : host_due(r);
	if (r->state == CONNECTING)
		return r->due;
	return r->broken || r->unsent ? 0 : UINT64_MAX;
}

void
link_step(struct records *r)
{
	if (r->state == DOWN && link_due(r) <= flki_boottime_ns())
		begin(r);
	if (r->state == CONNECTING)
		connect_go_on(r);
	if (r->state != UP)
		return;
	/* What came before the end says more than the end. */
	if (!r->broken) {
		r->broken = !PQconsumeInput(r->conn);
		read_answers(r);
	}
	if (r->state == UP && !r->broken)
		flush(r);
	if (r->state == UP && r->broken)
		lost_by(r, PQerrorMessage(r->conn));
}

void
link_end(struct records *r)
{
	disconnect(r);
}
