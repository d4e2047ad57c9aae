/* SPDX-License-Identifier: ISC */
#include "same.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>

#include "records/url.h"
#include "settings.h"
#include "siphash.h"

/*
 * FLOCKLIMIT_STORE is the URL by now, and what begins so are secrets.  The others are read by the libraries
 * of the engines, and by the C library when it looks up a name.
 */
static const char *const prefixes[] = { "FLOCKLIMIT_STORE", "PG",           "HOME=", "SSL_CERT_",
					"RES_OPTIONS=",     "LOCALDOMAIN=", "TZ=" };

static const char *const files[] = { "password-file", "token-file", "cacert", "cert", "key" };

static const char *const namespaces[] = { "mnt", "net", "pid", "time", "user" };

#define N(array) (sizeof(array) / sizeof((array)[0]))

struct sum {
	const uint64_t *key;
	uint64_t sum;
};

/* The order does not count, as it does not in an environment. */
static void
add(struct sum *s, const void *data, size_t size)
{
	s->sum += siphash(s->key, data, size);
}

/*
 * Which file it is, and of when: after a password was replaced, takers get another keeper.  A namespace has
 * no time of its own.
 */
static void
add_file(struct sum *s, const char *what, const char *path, bool timed)
{
	char text[300];
	struct stat sb;
	int n;

	if (path == NULL || stat(path, &sb) == -1)
		return;
	n = snprintf(text, sizeof(text), "%s %ju %ju %jd.%09ld", what, (uintmax_t)sb.st_dev,
		     (uintmax_t)sb.st_ino, timed ? (intmax_t)sb.st_mtim.tv_sec : 0,
		     timed ? sb.st_mtim.tv_nsec : 0);
	add(s, text, (size_t)n);
}

static void
add_environment(struct sum *s)
{
	size_t i;
	char **e;

	for (e = environ; *e != NULL; e++)
		for (i = 0; i < N(prefixes); i++)
			if (strncmp(*e, prefixes[i], strlen(prefixes[i])) == 0)
				add(s, *e, strlen(*e));
}

void
same_name(const uint64_t key[2], char name[SAME_NAME])
{
	struct sum s = { .key = key };
	char text[300], path[40];
	size_t i;
	int n;

	n = snprintf(text, sizeof(text), "%u %u %d %d %u %u", settings.ttl_s, settings.grace_s,
		     settings.manual, settings.warn, (unsigned)geteuid(), (unsigned)getegid());
	add(&s, text, (size_t)n);
	add_environment(&s);
	add_file(&s, "exe", settings.program != NULL ? settings.program : "/proc/self/exe", true);
	add(&s, VERSION, strlen(VERSION));
	for (i = 0; i < N(files); i++)
		add_file(&s, files[i], url_param(&settings.url, files[i]), true);
	for (i = 0; i < N(namespaces); i++) {
		snprintf(path, sizeof(path), "/proc/self/ns/%s", namespaces[i]);
		add_file(&s, namespaces[i], path, false);
	}
	snprintf(name, SAME_NAME, "%016" PRIx64, s.sum);
}
