/* SPDX-License-Identifier: ISC */
#include "store_postgres.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/wait.h>

#include "store_servers.h"
#include "world.h"

/* A server that is killed leaves its shared memory. */
void
postgres_stop(struct server *s)
{
	if (s->pid == 0)
		return;
	kill(s->pid, SIGQUIT);
	waitpid(s->pid, NULL, 0);
	s->pid = 0;
}

#ifdef WITH_POSTGRES

#include <pwd.h>
#include <sys/stat.h>

#include <libpq-fe.h>

#define SETTLES_US  2200000
#define PATIENCE_NS UINT64_C(20000000000)

/* The first number of the first row. */
static double
ask(const struct server *s, const char *database, const char *sql)
{
	static PGconn *conn;
	static int port;
	char how[128];
	PGresult *result;
	double n = 0;

	snprintf(how, sizeof(how), "host=127.0.0.1 port=%d user=postgres dbname=%s", s->port,
		 database);
	if (conn == NULL || port != s->port || strcmp(PQdb(conn), database) != 0) {
		PQfinish(conn);
		conn = PQconnectdb(how);
		port = s->port;
	}
	result = PQexec(conn, sql);
	if (PQresultStatus(result) == PGRES_TUPLES_OK)
		n = atof(PQgetvalue(result, 0, 0));
	else if (PQresultStatus(result) != PGRES_COMMAND_OK)
		die("PostgreSQL: %s", PQerrorMessage(conn));
	PQclear(result);
	return n;
}

long
postgres_keys(const struct server *s, const char *prefix)
{
	char sql[2 * PATH_SIZE];

	snprintf(sql, sizeof(sql),
		 "SELECT count(*) FROM flocklimit.records WHERE key >= '%s' AND key < '%s'::bytea "
		 "|| '\\xff'",
		 prefix, prefix);
	return (long)ask(s, "fl", sql);
}

void
postgres_traffic(const struct server *s, struct traffic *t)
{
	usleep(SETTLES_US);
	*t = (struct traffic){
		.messages = ask(s, "fl",
				"SELECT xact_commit + xact_rollback FROM pg_stat_database "
				"WHERE datname = current_database()"),
		.syncs = ask(s, "fl", "SELECT wal_sync FROM pg_stat_wal"),
	};
}

/* ---- its beginning ---- */

/* PostgreSQL refuses to run as root. */
static void
as_server(struct command *c)
{
	struct command own = *c;
	int i;

	if (geteuid() != 0)
		return;
	command_make(c, own.label, "setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups",
		     NULL);
	for (i = 0; i < own.words; i++)
		command_add(c, own.word[i]);
	command_free(&own);
}

static void
run(struct command *c, const char *log)
{
	struct server s = { .pid = serve(c, log) };
	int status;

	if (waitpid(s.pid, &status, 0) != s.pid || status != 0)
		die("%s failed: see %s", c->label, log);
	command_free(c);
}

static bool
find(char bin[PATH_SIZE])
{
	FILE *f = popen("ls -d \"$(pg_config --bindir 2>/dev/null)\"/postgres "
			"/usr/lib/postgresql/*/bin/postgres 2>/dev/null | tail -n 1",
			"re");
	bool found = f != NULL && fgets(bin, PATH_SIZE, f) != NULL && strrchr(bin, '/') != NULL;

	if (found)
		*strrchr(bin, '/') = '\0';
	if (f != NULL)
		pclose(f);
	return found;
}

static void
settle(const char *data, int port, const char *directory)
{
	char path[PATH_SIZE + 32];
	FILE *f;

	snprintf(path, sizeof(path), "%s/postgresql.conf", data);
	if ((f = fopen(path, "ae")) == NULL)
		die("%s can't be written", path);
	fprintf(f,
		"listen_addresses = '127.0.0.1'\nport = %d\nunix_socket_directories = '%s'\n"
		"max_connections = 700\n",
		port, directory);
	fclose(f);
}

static void
set_up(const struct server *s, const char *ctl, const char *log)
{
	char url[128];
	struct command c;

	ask(s, "postgres", "CREATE DATABASE fl");
	snprintf(url, sizeof(url), "postgres://postgres@127.0.0.1:%d/?database=fl", s->port);
	command_make(&c, "setup", ctl, "--store", url, "setup", "--apply", NULL);
	run(&c, log);
	ask(s, "fl", "CREATE ROLE fl LOGIN IN ROLE flocklimit");
}

void
postgres_start(struct server *s, const char *ctl)
{
	char bin[PATH_SIZE], program[2 * PATH_SIZE], data[PATH_SIZE], log[PATH_SIZE], how[64];
	const struct passwd *nobody = getpwnam("nobody");
	uint64_t start = now_ns();
	struct command c;

	*s = (struct server){ .pid = 0 };
	if (!find(bin))
		return;
	world_path(data, "");
	chmod(data, 0711);
	world_path(data, "postgres");
	world_path(log, "postgres.log");
	if (mkdir(data, 0700) == -1 ||
	    (geteuid() == 0 &&
	     (nobody == NULL || chown(data, nobody->pw_uid, nobody->pw_gid) == -1)))
		die("%s can't be made", data);
	snprintf(program, sizeof(program), "%s/initdb", bin);
	command_make(&c, "initdb", program, "-D", data, "--auth=trust", "--username=postgres",
		     "--encoding=UTF8", "--locale=C", "--no-sync", NULL);
	as_server(&c);
	run(&c, log);
	s->port = free_port();
	settle(data, s->port, data);
	snprintf(program, sizeof(program), "%s/postgres", bin);
	command_make(&c, "postgres", program, "-D", data, NULL);
	as_server(&c);
	s->pid = serve(&c, log);
	command_free(&c);
	snprintf(how, sizeof(how), "host=127.0.0.1 port=%d", s->port);
	while (PQping(how) != PQPING_OK) {
		if (now_ns() - start > PATIENCE_NS)
			die("PostgreSQL does not serve: see %s", log);
		usleep(5000);
	}
	set_up(s, ctl, log);
}

#else

void
postgres_start(struct server *s, const char *ctl)
{
	(void)ctl;
	*s = (struct server){ .pid = 0 };
}

long
postgres_keys(const struct server *s, const char *prefix)
{
	(void)s;
	(void)prefix;
	return 0;
}

void
postgres_traffic(const struct server *s, struct traffic *t)
{
	(void)s;
	*t = (struct traffic){ .messages = 0 };
}

#endif
