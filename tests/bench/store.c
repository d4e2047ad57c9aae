/* SPDX-License-Identifier: ISC */
/*
 * store.c - measures limiters that are kept in etcd and in PostgreSQL, and peers, side by side.
 *
 *	store FLOCKLIMIT LIBEXEC DIRECTORY-OF-NOOP-AND-MARK SOURCE TOOLS [SECTION...]
 *
 * BENCH_QUICK=1 in the environment: fewer runs.
 */
#include "store.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "report.h"
#include "samples.h"
#include "store_http.h"

static struct etcd etcd;
static struct server redis, postgres;
static struct stage one_node = { .title = "one node", .etcd = &etcd };

static void
alone(const struct bench *b)
{
	store_alone(b, &one_node);
}

static void
inside(const struct bench *b)
{
	store_inside(b, &one_node);
}

static void
handover(const struct bench *b)
{
	store_handover(b, &one_node);
}

static void
crowd(const struct bench *b)
{
	store_crowd(b, &one_node);
}

static void
crash(const struct bench *b)
{
	store_crash(b, &one_node);
}

static void
use(const struct bench *b)
{
	store_use(b, &one_node);
}

static void
starting(const struct bench *b)
{
	store_start(b, &one_node);
}

/* How long a request and its answer take. */
static double
round_trip_ms(int port)
{
	struct samples s = { 0 };
	double median;
	uint64_t start;
	int i;

	for (i = 0; i < 20; i++) {
		start = now_ns();
		if (!etcd_is_well(port))
			die("the proxy has no etcd behind it");
		samples_add(&s, (double)(now_ns() - start) / 1e6);
	}
	median = samples_median(&s);
	samples_free(&s);
	return median;
}

static void
measure_all(const struct bench *b, const struct stage *s)
{
	store_alone(b, s);
	store_inside(b, s);
	store_handover(b, s);
}

/* Half of it on the way there, half on the way back. */
static void
away(const struct bench *b, int delay_ms)
{
	char proxy[PATH_SIZE + 16], title[64];
	struct stage s = { .title = title, .etcd = &etcd, .slow = delay_ms / 8 };
	struct server to_etcd, to_redis = { 0, 0 };

	snprintf(proxy, sizeof(proxy), "%s/fake/proxy", b->tools);
	proxy_start(&to_etcd, proxy, etcd.node[0].port, delay_ms / 2);
	if (to_etcd.pid == 0)
		return;
	if (redis.pid != 0)
		proxy_start(&to_redis, proxy, redis.port, delay_ms / 2);
	snprintf(s.endpoints, sizeof(s.endpoints), "127.0.0.1:%d", to_etcd.port);
	s.redis = to_redis.port;
	snprintf(title, sizeof(title), "one node, a round trip of %.0f ms",
		 round_trip_ms(to_etcd.port));
	measure_all(b, &s);
	server_stop(&to_etcd);
	server_stop(&to_redis);
}

static void
near(const struct bench *b)
{
	away(b, 5);
}

static void
far(const struct bench *b)
{
	away(b, 40);
}

static void
others(const struct bench *b, const char *title, int nodes, bool on_disk)
{
	struct stage s = { .title = title, .slow = 2 };
	struct etcd cluster;

	etcd_start(&cluster, nodes, on_disk);
	s.etcd = &cluster;
	memcpy(s.endpoints, cluster.endpoints, sizeof(s.endpoints));
	measure_all(b, &s);
	etcd_stop(&cluster);
}

static void
three(const struct bench *b)
{
	others(b, "three nodes", NODES, false);
}

/* Each commit waits for the disk. */
static void
disk(const struct bench *b)
{
	others(b, "one node, its data on a disk", 1, true);
}

static const struct section {
	const char *name;
	void (*measure)(const struct bench *b);
} sections[] = {
	{ "start", starting }, { "alone", alone }, { "inside", inside }, { "handover", handover },
	{ "crowd", crowd },    { "use", use },     { "crash", crash },   { "near", near },
	{ "far", far },        { "three", three }, { "disk", disk },
};

#define SECTIONS (sizeof(sections) / sizeof(sections[0]))
#define WORDS    6 /* before the sections */

static bool
is_wanted(const struct section *s, char **names)
{
	int i;

	for (i = 0; names[i] != NULL; i++)
		if (strcmp(names[i], s->name) == 0)
			return true;
	return i == 0;
}

static bool
are_known(char **names)
{
	char *one[2] = { NULL, NULL };
	size_t s;

	for (; *names != NULL; names++) {
		one[0] = *names;
		for (s = 0; s < SECTIONS && !is_wanted(&sections[s], one); s++)
			;
		if (s == SECTIONS)
			return false;
	}
	return true;
}

/* A server has a descriptor or three for each who waits. */
static void
allow_many_files(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

static void
settle(struct bench *b, char **argv)
{
	const char *quick = getenv("BENCH_QUICK");

	b->quick = quick != NULL && *quick != '\0' && *quick != '0';
	snprintf(b->program, sizeof(b->program), "%s", argv[1]);
	snprintf(b->libexec, sizeof(b->libexec), "%s", argv[2]);
	snprintf(b->dir, sizeof(b->dir), "%s", argv[3]);
	snprintf(b->source, sizeof(b->source), "%s", argv[4]);
	snprintf(b->tools, sizeof(b->tools), "%s", argv[5]);
	setenv("FLOCKLIMIT_LIBEXEC", b->libexec, 1);
	setenv("FLOCKLIMIT_KEEPER", "own", 0); /* each taker as on a machine of its own */
	setenv("ETCDCTL_API", "3", 1);
	unsetenv("FLOCKLIMIT_STORE");
	allow_many_files();
}

int
main(int argc, char **argv)
{
	uint64_t begun = now_ns();
	struct bench b = { 0 };
	char ctl[PATH_SIZE + 4];
	size_t s;

	if (argc < WORDS || !are_known(argv + WORDS)) {
		fprintf(stderr,
			"usage: store FLOCKLIMIT LIBEXEC COMMANDS SOURCE TOOLS [SECTION...]\n"
			"sections:");
		for (s = 0; s < SECTIONS; s++)
			fprintf(stderr, " %s", sections[s].name);
		fprintf(stderr, "\n");
		return 2;
	}
	settle(&b, argv);
	snprintf(ctl, sizeof(ctl), "%sctl", b.program);
	world_begin();
	report_machine();
	etcd_start(&etcd, 1, false);
	redis_start(&redis);
	memcpy(one_node.endpoints, etcd.endpoints, sizeof(one_node.endpoints));
	postgres_start(&postgres, ctl);
	one_node.postgres = postgres.pid != 0 ? &postgres : NULL;
	one_node.redis = redis.pid != 0 ? redis.port : 0;
	for (s = 0; s < SECTIONS; s++)
		if (is_wanted(&sections[s], argv + WORDS))
			sections[s].measure(&b);
	server_stop(&redis);
	postgres_stop(&postgres);
	etcd_stop(&etcd);
	report_end(begun);
	if (world_complaints(report) != 0)
		die("somebody complained: see above");
	return 0;
}
