/* SPDX-License-Identifier: ISC */
/*
 * pieces.c - what etcd's client makes bodies of and reads out of answers, which may be anything; and
 * its secrets.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>

#include "../helpers/tap.h"
#include "etcd/body/base64.h"
#include "etcd/body/request.h"
#include "etcd/client/etcd.h"

static bool
same(const char *got, const char *want)
{
	if (got != NULL && strcmp(got, want) == 0)
		return true;
	tap_note("got \"%s\", want \"%s\"", got != NULL ? got : "(none)", want);
	return false;
}

/* Whether that is the JSON's text; takes the JSON. */
static bool
is_json(json_t *o, const char *want)
{
	char *text = json_dumps(o, JSON_COMPACT);
	bool is_so = same(text, want);

	free(text);
	json_decref(o);
	return is_so;
}

/* ---- base64 -------------------------------------------------------------------------------- */

static void
base64(void)
{
	static const char *const pairs[][2] = { { "", "" },
						{ "f", "Zg==" },
						{ "fo", "Zm8=" },
						{ "foo", "Zm9v" },
						{ "foob", "Zm9vYg==" },
						{ "\xff\xfe", "//4=" },
						{ "\xfb\xef", "++8=" } };
	static const char *const bad[] = {
		"Z",        "Zg",   "Zg=",    "Zg===", "=",     "====", "Z===",
		"Zg==Zg==", "Z g=", "Zm9v\n", "Zm-_",  "Zm9v=", "Zm=v", "\xff\xff\xff\xff"
	};
	char text[BASE64_ROOM(300)], bytes[400], all[256];
	size_t i, n, wrong = 0;

	for (i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		base64_encode(text, pairs[i][0], strlen(pairs[i][0]));
		ok(same(text, pairs[i][1]), "it becomes \"%s\"", pairs[i][1]);
		ok(base64_decode(bytes, &n, text) && n == strlen(pairs[i][0]) &&
		       same(bytes, pairs[i][0]),
		   "and is the same again");
	}
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		wrong += base64_decode(bytes, &n, bad[i]);
	is(wrong, 0, "what is none is none");
	for (i = 0; i < sizeof(all); i++)
		all[i] = (char)i;
	for (i = 0; i <= sizeof(all); i++) {
		base64_encode(text, all, i);
		if (!base64_decode(bytes, &n, text) || n != i || memcmp(bytes, all, n) != 0)
			wrong++;
	}
	is(wrong, 0, "all bytes, in any number, are the same again");
}

/* ---- what is asked ------------------------------------------------------------------------- */

static void
bodies(void)
{

	ok(is_json(etcd_get("a", NULL, false, 0), "{\"request_range\":{\"key\":\"YQ==\"}}"), "get");
	ok(is_json(etcd_get("a", "b", true, 1),
		   "{\"request_range\":{\"key\":\"YQ==\",\"range_end\":\"Yg==\",\"keys_only\":true,"
		   "\"limit\":\"1\"}}"),
	   "get of keys only");
	ok(is_json(etcd_put("a", "1", 7),
		   "{\"request_put\":{\"key\":\"YQ==\",\"value\":\"MQ==\",\"lease\":\"7\"}}"),
	   "put under a lease");
	ok(is_json(etcd_txn(json_pack("[o]", etcd_if_absent("a", "b")), NULL,
			    json_pack("[o]", etcd_delete("a", NULL))),
		   "{\"compare\":[{\"key\":\"YQ==\",\"range_end\":\"Yg==\",\"target\":\"CREATE\","
		   "\"result\":\"EQUAL\",\"create_revision\":\"0\"}],\"failure\":[{"
		   "\"request_delete_range\":{\"key\":\"YQ==\"}}]}"),
	   "txn");
	ok(is_json(etcd_if_mod("a", 5), "{\"key\":\"YQ==\",\"target\":\"MOD\",\"result\":\"EQUAL\","
					"\"mod_revision\":\"5\"}"),
	   "if it was modified then");
	ok(is_json(
	       etcd_if_no_news("a", "b", 5),
	       "{\"key\":\"YQ==\",\"range_end\":\"Yg==\",\"target\":\"MOD\",\"result\":\"LESS\","
	       "\"mod_revision\":\"6\"}"),
	   "if nothing is new since");
	ok(is_json(json_pack("[o]", etcd_number(INT64_MIN)), "[\"-9223372036854775808\"]"),
	   "numbers are strings");
}

/* ---- what was answered --------------------------------------------------------------------- */

static void
integers(void)
{
	json_t *o = json_loads("{\"a\":\"5\",\"b\":-6,\"c\":\"x\",\"d\":\"5x\",\"e\":[],\"f\":\"\","
			       "\"g\":\"99999999999999999999\",\"h\":\" 5\",\"i\":\"-\","
			       "\"j\":\"-9223372036854775808\",\"k\":1.5}",
			       0, NULL);

	ok(etcd_integer(o, "a") == 5 && etcd_integer(o, "b") == -6 &&
	       etcd_integer(o, "j") == INT64_MIN,
	   "a number is one as a string, or as itself");
	ok(etcd_integer(o, "c") == 0 && etcd_integer(o, "d") == 0 && etcd_integer(o, "e") == 0 &&
	       etcd_integer(o, "f") == 0 && etcd_integer(o, "g") == 0 &&
	       etcd_integer(o, "h") == 0 && etcd_integer(o, "i") == 0 && etcd_integer(o, "k") == 0,
	   "whatever else is none");
	ok(etcd_integer(o, "z") == 0 && etcd_integer(NULL, "a") == 0, "nothing is none");
	json_decref(o);
}

static void
ranges(void)
{
	static const char *const bad[] = {
		"[]",
		"{\"kvs\":{}}",
		"{\"kvs\":[7]}",
		"{\"kvs\":[{}]}",
		"{\"kvs\":[{\"key\":\"YQ==\"}]}",
		"{\"kvs\":[{\"key\":\"YQ=\",\"create_revision\":\"2\",\"mod_revision\":\"2\"}]}",
		"{\"kvs\":[{\"key\":7,\"create_revision\":\"2\",\"mod_revision\":\"2\"}]}",
		"{\"kvs\":[{\"key\":\"YQ==\",\"create_revision\":\"3\",\"mod_revision\":\"2\"}]}",
		"{\"kvs\":[{\"key\":\"YQ==\",\"create_revision\":2,\"mod_revision\":2},{}]}",
	};
	json_t *o = json_loads(
	    "{\"responses\":[{\"response_put\":{}},{\"response_range\":{\"kvs\":[{\"key\":\"YQ==\","
	    "\"value\":\"MQAy\",\"create_revision\":\"2\",\"mod_revision\":\"3\",\"lease\":\"4\"},"
	    "{\"key\":\"Yg==\",\"create_revision\":\"5\",\"mod_revision\":\"5\"}]}},"
	    "{\"response_range\":{}},{\"response_range\":7},8]}",
	    0, NULL);
	struct etcd_kv *kvs = NULL;
	size_t i;

	is(etcd_kvs(etcd_response_range(o, 1), &kvs), 2, "two keys");
	ok(same(kvs[0].key, "a") && kvs[0].value_size == 3 &&
	       memcmp(kvs[0].value, "1\0002", 4) == 0 && kvs[0].create_revision == 2 &&
	       kvs[0].mod_revision == 3 && kvs[0].lease == 4,
	   "with all that is known of them");
	ok(same(kvs[1].key, "b") && same(kvs[1].value, "") && kvs[1].lease == 0,
	   "or what is there of it");
	etcd_kvs_free(kvs, 2);
	is(etcd_kvs(etcd_response_range(o, 2), &kvs), 0, "none");
	etcd_kvs_free(kvs, 0);
	ok(etcd_response_range(o, 0) == NULL && etcd_response_range(o, 3) == NULL &&
	       etcd_response_range(o, 4) == NULL && etcd_response_range(o, 5) == NULL &&
	       etcd_response_range(NULL, 0) == NULL,
	   "what is no range's answer is none");
	is(etcd_kvs(NULL, &kvs), -1, "and has no keys, not even none");
	json_decref(o);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		o = json_loads(bad[i], 0, NULL);
		is(etcd_kvs(o, &kvs), -1, "no sense: %s", bad[i]);
		json_decref(o);
	}
}

/* ---- secrets ------------------------------------------------------------------------------- */

static char path[64], why[600];

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
	struct etcd *e = NULL;
	char text[500];
	const char *at = strstr(format, "%s");

	snprintf(text, sizeof(text), "%.*s%s%s",
		 at == NULL ? (int)strlen(format) : (int)(at - format), format,
		 at != NULL ? path : "", at != NULL ? at + 2 : "");
	*why = '\0';
	if (url_parse(&u, text) != NULL)
		tap_bail("no URL: %s", text);
	if (etcd_new(&e, &u, 5000, why, sizeof(why)) != 0) {
		tap_note("%s", why);
		return false;
	}
	etcd_free(e);
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
	base64();
	bodies();
	integers();
	ranges();
	files();
	urls();
	return tap_done();
}
