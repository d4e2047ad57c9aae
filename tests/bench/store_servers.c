/* SPDX-License-Identifier: ISC */
#include "store_servers.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "parked.h"
#include "process.h"
#include "store_http.h"
#include "world.h"

#define PATIENCE_NS UINT64_C(20000000000)
#define CHILDREN    1000

/* What a server says is its own business: it goes to a file. */
pid_t
serve(const struct command *c, const char *log)
{
	posix_spawn_file_actions_t files;
	pid_t pid;
	int error;

	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, STDERR_FILENO, log, O_WRONLY | O_CREAT | O_APPEND,
					 0600);
	posix_spawn_file_actions_adddup2(&files, STDERR_FILENO, STDOUT_FILENO);
	error = posix_spawn(&pid, c->word[0], &files, NULL, c->word, environ);
	posix_spawn_file_actions_destroy(&files);
	if (error != 0)
		die("cannot start %s: %s", c->word[0], strerror(error));
	return pid;
}

static int
try_connect(int port)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), result;

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	result = connect(fd, (struct sockaddr *)&a, sizeof(a));
	close(fd);
	return result;
}

/* Free now: nobody else should take it in the instant before the server does. */
int
free_port(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	socklen_t size = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd == -1 || bind(fd, (struct sockaddr *)&a, size) == -1 ||
	    getsockname(fd, (struct sockaddr *)&a, &size) == -1)
		die("no free port: %s", strerror(errno));
	close(fd);
	return ntohs(a.sin_port);
}

static void
must_live(const struct server *s, const char *label, const char *log)
{
	if (waitpid(s->pid, NULL, WNOHANG) == s->pid)
		die("%s has ended: see %s", label, log);
}

static void
start_node(struct server *s, int index, int peer, const char *cluster, bool on_disk)
{
	static int started;
	char name[16], dir[PATH_SIZE], log[PATH_SIZE], file[32], client[64], other[64];
	struct command c;

	snprintf(name, sizeof(name), "node%d", index);
	snprintf(file, sizeof(file), "etcd.%d", started);
	if (on_disk)
		world_disk_path(dir, file);
	else
		world_path(dir, file);
	snprintf(file, sizeof(file), "etcd.%d.log", started++);
	world_path(log, file);
	s->port = free_port();
	snprintf(client, sizeof(client), "http://127.0.0.1:%d", s->port);
	snprintf(other, sizeof(other), "http://127.0.0.1:%d", peer);
	command_make(&c, "etcd", "etcd", "--name", name, "--data-dir", dir, NULL);
	if (!command_is_there(&c))
		die("there is no etcd: install etcd-server");
	setenv("ETCD_LISTEN_CLIENT_URLS", client, 1);
	setenv("ETCD_ADVERTISE_CLIENT_URLS", client, 1);
	setenv("ETCD_LISTEN_PEER_URLS", other, 1);
	setenv("ETCD_INITIAL_ADVERTISE_PEER_URLS", other, 1);
	setenv("ETCD_INITIAL_CLUSTER", cluster, 1);
	setenv("ETCD_LOGGER", "zap", 1);
	s->pid = serve(&c, log);
	command_free(&c);
}

static void
forget_settings(void)
{
	unsetenv("ETCD_LISTEN_CLIENT_URLS");
	unsetenv("ETCD_ADVERTISE_CLIENT_URLS");
	unsetenv("ETCD_LISTEN_PEER_URLS");
	unsetenv("ETCD_INITIAL_ADVERTISE_PEER_URLS");
	unsetenv("ETCD_INITIAL_CLUSTER");
	unsetenv("ETCD_LOGGER");
}

void
etcd_start(struct etcd *e, int nodes, bool on_disk)
{
	char cluster[64 * NODES] = "";
	uint64_t start = now_ns();
	int peer[NODES], i;
	size_t n = 0;

	memset(e, 0, sizeof(*e));
	e->nodes = nodes;
	for (i = 0; i < nodes; i++) {
		peer[i] = free_port();
		n += (size_t)snprintf(cluster + n, sizeof(cluster) - n,
				      "%snode%d=http://127.0.0.1:%d", i > 0 ? "," : "", i, peer[i]);
	}
	for (i = 0, n = 0; i < nodes; i++) {
		start_node(&e->node[i], i, peer[i], cluster, on_disk);
		n += (size_t)snprintf(e->endpoints + n, sizeof(e->endpoints) - n, "%s127.0.0.1:%d",
				      i > 0 ? "," : "", e->node[i].port);
	}
	forget_settings();
	for (i = 0; i < nodes; i++)
		while (!etcd_is_well(e->node[i].port)) {
			must_live(&e->node[i], "etcd", "its log");
			if (now_ns() - start > PATIENCE_NS)
				die("etcd does not serve");
			usleep(5000);
		}
}

void
redis_start(struct server *s)
{
	uint64_t start = now_ns();
	char dir[PATH_SIZE], log[PATH_SIZE], port[16];
	struct command c;

	s->pid = 0;
	s->port = free_port();
	snprintf(port, sizeof(port), "%d", s->port);
	if (mkdir(world_path(dir, "redis"), 0700) == -1)
		die("%s: %s", dir, strerror(errno));
	command_make(&c, "redis", "redis-server", "--port", port, "--bind", "127.0.0.1", "--dir",
		     dir, "--appendonly", "yes", "--appendfsync", "always", NULL);
	if (!command_is_there(&c))
		return;
	s->pid = serve(&c, world_path(log, "redis.log"));
	while (try_connect(s->port) == -1) {
		must_live(s, "redis-server", log);
		if (now_ns() - start > PATIENCE_NS)
			die("redis-server does not serve");
		usleep(5000);
	}
	command_free(&c);
}

void
proxy_start(struct server *s, const char *program, int to, int ms)
{
	static int started;
	char file[32], control[PATH_SIZE], said[PATH_SIZE], port[16], line[32];
	uint64_t start = now_ns();
	struct command c;
	FILE *f;

	s->pid = 0;
	s->port = 0;
	snprintf(file, sizeof(file), "proxy.%d", started);
	world_path(control, file);
	snprintf(file, sizeof(file), "proxy.%d.log", started++);
	world_path(said, file);
	snprintf(port, sizeof(port), "%d", to);
	command_make(&c, "proxy", program, "-c", control, port, NULL);
	if (!command_is_there(&c))
		return;
	s->pid = serve(&c, said);
	while (s->port == 0) {
		must_live(s, "the proxy", said);
		if (now_ns() - start > PATIENCE_NS)
			die("the proxy does not tell its port");
		usleep(1000);
		if ((f = fopen(said, "re")) == NULL)
			continue;
		if (fscanf(f, "%d\n", &s->port) != 1)
			s->port = 0;
		fclose(f);
	}
	snprintf(line, sizeof(line), "delay %d\n", ms);
	if (!order(control, line))
		die("the proxy does not obey");
	command_free(&c);
}

void
server_stop(struct server *s)
{
	if (s->pid == 0)
		return;
	kill(s->pid, SIGKILL);
	waitpid(s->pid, NULL, 0);
	s->pid = 0;
}

void
etcd_stop(struct etcd *e)
{
	int i;

	for (i = 0; i < e->nodes; i++)
		server_stop(&e->node[i]);
	e->nodes = 0;
}

/* ---- what they use ---- */

/* In ticks; and its children that have ended. */
static double
ticks(pid_t pid, bool children)
{
	unsigned long user = 0, system = 0, user_ended = 0, system_ended = 0;
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	if ((f = fopen(path, "re")) == NULL)
		return 0;
	if (fscanf(f, "%*d (%*[^)]) %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %lu %lu",
		   &user, &system, &user_ended, &system_ended) != 4)
		user = system = 0;
	fclose(f);
	return (double)(user + system + (children ? user_ended + system_ended : 0));
}

/* That live; returns how many. */
static int
children_of(pid_t pid, pid_t *child, int room)
{
	char path[64];
	int n = 0, one;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)pid);
	if ((f = fopen(path, "re")) == NULL)
		return 0;
	while (n < room && fscanf(f, "%d", &one) == 1)
		child[n++] = one;
	fclose(f);
	return n;
}

double
server_cpu(const struct server *s)
{
	static pid_t child[CHILDREN];
	int n = children_of(s->pid, child, CHILDREN), i;
	double all = ticks(s->pid, true);

	for (i = 0; i < n; i++)
		all += ticks(child[i], false);
	return all / (double)sysconf(_SC_CLK_TCK);
}

double
server_pss_mb(const struct server *s)
{
	static pid_t child[CHILDREN];
	int n = children_of(s->pid, child, CHILDREN), i;
	struct use use = { 0 };

	parked_memory(s->pid, &use);
	for (i = 0; i < n; i++)
		parked_memory(child[i], &use);
	return (double)use.pss_kb / 1024;
}

double
etcd_cpu(const struct etcd *e)
{
	double all = 0;
	int i;

	for (i = 0; i < e->nodes; i++)
		all += server_cpu(&e->node[i]);
	return all;
}

double
etcd_rss_mb(const struct etcd *e)
{
	unsigned long pages;
	double most = 0, mb;
	char path[64];
	FILE *f;
	int i;

	for (i = 0; i < e->nodes; i++) {
		snprintf(path, sizeof(path), "/proc/%d/statm", (int)e->node[i].pid);
		if ((f = fopen(path, "re")) == NULL)
			die("etcd is gone");
		if (fscanf(f, "%*u %lu", &pages) == 1) {
			mb = (double)pages * (double)sysconf(_SC_PAGESIZE) / 1048576;
			most = mb > most ? mb : most;
		}
		fclose(f);
	}
	return most;
}
