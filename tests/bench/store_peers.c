/* SPDX-License-Identifier: ISC */
/*
 * store_peers.c - who holds a permit for a command, and how one sees that somebody waits for it.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store.h"
#include "store_http.h"

#define PATIENCE_NS UINT64_C(60000000000)

const char *const peer_label[PEERS] = { "flocklimit, etcd", "flocklimit, PostgreSQL",
					"etcdctl lock", "redis-lock" };

static bool
url_of(char url[URL_SIZE], const struct bench *b, const struct stage *s, enum peer p)
{
	char path[2 * PATH_SIZE];

	if (p == POSTGRES && s->postgres == NULL)
		return false;
	snprintf(path, sizeof(path), "%s/store-%s", b->libexec, p == OURS ? "etcd" : "postgres");
	if (p == OURS)
		snprintf(url, URL_SIZE, "etcd://%s/bench", s->endpoints);
	else
		snprintf(url, URL_SIZE, "postgres://fl@127.0.0.1:%d/bench?database=fl",
			 s->postgres->port);
	return access(path, X_OK) == 0;
}

void
peer_limiter(struct command *c, const struct bench *b, const struct stage *s, enum peer p,
	     const char *name, const char *limit, const char *ttl)
{
	char url[URL_SIZE];

	memset(c, 0, sizeof(*c));
	if (url_of(url, b, s, p))
		command_make(c, peer_label[p], b->program, "--store", url, "-N", name, "-n", limit,
			     ttl != NULL ? "--ttl" : NULL, ttl, NULL);
}

bool
peer_takers(char program[PATH_SIZE], char url[URL_SIZE], const struct bench *b,
	    const struct stage *s, enum peer p)
{
	if (snprintf(program, PATH_SIZE, "%s%s/takers", b->tools, p == OURS ? "" : "/postgres") >=
	    PATH_SIZE)
		die("%s: path too long", b->tools);
	return url_of(url, b, s, p) && access(program, X_OK) == 0;
}

char *
bench_command(const struct bench *b, const char *name, char path[PATH_SIZE])
{
	if (snprintf(path, PATH_SIZE, "%s/%s", b->dir, name) >= PATH_SIZE)
		die("%s: path too long", b->dir);
	return path;
}

int
runs(const struct bench *b, const struct stage *s, int many)
{
	int n = many / (s->slow > 0 ? s->slow : 1) / (b->quick ? 10 : 1);

	return n > 0 ? n : 1;
}

void
peer_command(struct command *c, const struct bench *b, const struct stage *s, enum peer p,
	     const char *name, const char *ttl)
{
	char port[16], path[2 * PATH_SIZE];

	memset(c, 0, sizeof(*c));
	switch (p) {
	case OURS:
	case POSTGRES:
		peer_limiter(c, b, s, p, name, "1", ttl);
		break;
	case ETCDCTL:
		command_make(c, peer_label[p], "etcdctl", "--endpoints", s->endpoints, "lock", name,
			     ttl != NULL ? "--ttl" : NULL, ttl, NULL);
		break;
	default:
		snprintf(path, sizeof(path), "%s/redis-lock", b->source);
		snprintf(port, sizeof(port), "%d", s->redis);
		if (s->redis != 0)
			command_make(c, peer_label[p], path, port, name, NULL);
		break;
	}
}

static long
keys(const struct line *l, const char *prefix)
{
	return l->peer == POSTGRES ? postgres_keys(l->stage->postgres, prefix)
				   : etcd_keys(l->stage->etcd, prefix);
}

/* The keys of those in line; for etcdctl also that of the holder. */
void
peer_stands(const struct queue *q)
{
	const struct line *l = q->of;
	uint64_t start = now_ns();
	char prefix[PATH_SIZE];
	bool locks = l->peer == ETCDCTL;

	snprintf(prefix, sizeof(prefix), locks ? "%s/" : "/bench/%s/cfg//w/", l->name);
	while (keys(l, prefix) < (locks ? q->count : q->count - 1)) {
		if (now_ns() - start > PATIENCE_NS)
			die("%s: waiter %d is not in the line", peer_label[l->peer], q->count - 1);
		usleep(3000);
	}
}

static bool
has_setting(pid_t pid, const char *setting)
{
	static char text[1 << 17];
	size_t n = strlen(setting), at;
	char path[64];
	ssize_t got, all = 0;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/environ", (int)pid);
	if ((fd = open(path, O_RDONLY | O_CLOEXEC)) == -1)
		return false;
	while ((got = read(fd, text + all, sizeof(text) - 1 - (size_t)all)) > 0)
		all += got;
	close(fd);
	text[all] = '\0';
	for (at = 0; at < (size_t)all; at += strlen(text + at) + 1)
		if (strncmp(text + at, setting, n) == 0 && text[at + n] == '\0')
			return true;
	return false;
}

int
marked(const char *name, const char *value, pid_t *pid, int room)
{
	const struct dirent *entry;
	DIR *proc = opendir("/proc");
	char setting[128];
	int n = 0;
	pid_t p;

	snprintf(setting, sizeof(setting), "%s=%s", name, value);
	while (proc != NULL && n < room && (entry = readdir(proc)) != NULL)
		if ((p = atoi(entry->d_name)) > 1 && has_setting(p, setting))
			pid[n++] = p;
	if (proc != NULL)
		closedir(proc);
	return n;
}

/* ---- what their servers do ---- */

void
peer_traffic(const struct stage *s, enum peer p, struct traffic *t)
{
	if (p == POSTGRES)
		postgres_traffic(s->postgres, t);
	else
		etcd_traffic(s->etcd, t);
}

double
peer_cpu(const struct stage *s, enum peer p)
{
	return p == POSTGRES ? server_cpu(s->postgres) : etcd_cpu(s->etcd);
}

double
peer_memory_mb(const struct stage *s, enum peer p)
{
	return p == POSTGRES ? server_pss_mb(s->postgres) : etcd_rss_mb(s->etcd);
}
