/* SPDX-License-Identifier: ISC */
/*
 * secrets.c - what a client of etcd takes from its URL, from files and the environment.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>

#include "../helpers/tap.h"
#include "records/records.h"

static char path[64], why[RECORDS_TEXT];

static void
write_secret(const char *text, mode_t mode)
{
	FILE *f = fopen(path, "w");

	if (f == NULL || fputs(text, f) == EOF || fclose(f) == EOF || chmod(path, mode) == -1)
		tap_bail("no file can be written");
}

/* Whether a client can be had of that URL, in which %s is the file. */
static bool
begins(const char *format)
{
	static struct url u;
	struct records *r = NULL;
	char text[500];
	const char *at = strstr(format, "%s");

	snprintf(text, sizeof(text), "%.*s%s%s",
		 at == NULL ? (int)strlen(format) : (int)(at - format), format,
		 at != NULL ? path : "", at != NULL ? at + 2 : "");
	*why = '\0';
	if (url_parse(&u, text) != NULL)
		tap_bail("no URL: %s", text);
	if (records_open(&r, &u, 5000, why) != 0) {
		tap_note("%s", why);
		return false;
	}
	records_close(r);
	return true;
}

static void
files(void)
{
	write_secret("SECRET\n", 0600);
	ok(begins("etcd://127.0.0.1?user=me&password-file=%s"), "a password from a file");
	ok(begins("etcd://127.0.0.1?token-file=%s"), "a token from a file");
	write_secret("SECRET\n", 0640);
	ok(begins("etcd://127.0.0.1?token-file=%s"), "which the group may read");
	write_secret("SECRET\n", 0644);
	ok(!begins("etcd://127.0.0.1?token-file=%s") && strstr(why, "chmod 600 /") != NULL,
	   "but not others");
	write_secret("SECRET\n", 0660);
	ok(!begins("etcd://127.0.0.1?token-file=%s"), "nor the group write");
	write_secret("SECRET\nSECRET", 0600);
	ok(!begins("etcd://127.0.0.1?token-file=%s") && strstr(why, "SECRET") == NULL,
	   "two lines are no token");
	write_secret("", 0600);
	ok(!begins("etcd://127.0.0.1?token-file=%s"), "nothing is no token");
	ok(!begins("etcd://127.0.0.1?token-file=relative"), "it is named from the root");
	ok(!begins("etcd://127.0.0.1?token-file=/dev/zero"), "it is a regular file");
	unlink(path);
	ok(!begins("etcd://127.0.0.1?token-file=%s") && strstr(why, "No such file") != NULL,
	   "it is there");
}

static void
urls(void)
{
	write_secret("SECRET\n", 0600);
	ok(!begins("etcd+http3://127.0.0.1"), "there is no such variant");
	ok(!begins("etcd://127.0.0.1?secret=SECRET") && strstr(why, "SECRET") == NULL,
	   "there is no such parameter, and it is not told");
	ok(!begins("etcd://127.0.0.1?cacert=%s"), "TLS's are of no use without");
	ok(!begins("etcd+https://127.0.0.1?cert=%s"), "nor one without the other");
	ok(!begins("etcd://127.0.0.1?user=me") && strstr(why, "password") != NULL,
	   "nor a user without a password");
	ok(!begins("etcd://127.0.0.1?password-file=%s") && strstr(why, "user") != NULL,
	   "nor a password without a user");
	setenv("FLOCKLIMIT_STORE_USER", "me", 1);
	setenv("FLOCKLIMIT_STORE_PASSWORD", "SECRET", 1);
	ok(begins("etcd://127.0.0.1"), "both from the environment");
	setenv("FLOCKLIMIT_STORE_TOKEN", "SECRET\r\nX: y", 1);
	ok(!begins("etcd://127.0.0.1") && strstr(why, "SECRET") == NULL,
	   "what can't stand in a line is no token");
	unsetenv("FLOCKLIMIT_STORE_USER");
	unsetenv("FLOCKLIMIT_STORE_PASSWORD");
	unsetenv("FLOCKLIMIT_STORE_TOKEN");
	unlink(path);
}

int
main(void)
{
	unsetenv("FLOCKLIMIT_STORE_USER");
	unsetenv("FLOCKLIMIT_STORE_PASSWORD");
	unsetenv("FLOCKLIMIT_STORE_TOKEN");
	snprintf(path, sizeof(path), "/tmp/flocklimit-secret-%d", (int)getpid());
	files();
	urls();
	return tap_done();
}
