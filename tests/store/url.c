/* SPDX-License-Identifier: ISC */
/*
 * url.c - where a store is, as people write it; and that nothing which is wrong with it is told in
 * its own words.
 */
#include "records/url.h"

#include <stdio.h>
#include <string.h>

#include "../helpers/tap.h"

static struct url u;

static bool
same(const char *got, const char *want)
{
	if (got != NULL && want != NULL && strcmp(got, want) == 0)
		return true;
	if (got == want)
		return true;
	tap_note("got \"%s\", want \"%s\"", got != NULL ? got : "(none)",
		 want != NULL ? want : "(none)");
	return false;
}

static bool
parses(const char *text)
{
	const char *wrong = url_parse(&u, text);

	if (wrong != NULL)
		tap_note("%s: %s", text, wrong);
	return wrong == NULL;
}

static void
whole(void)
{
	ok(parses("etcd+https://ci:s%3Acret%40@a.example:2379,[::1]:1,10.0.0.1/team/x/"
		  "?cacert=/etc/ca%20x.pem&user=me"),
	   "all parts at once are understood");
	ok(same(u.scheme, "etcd") && same(u.variant, "https"), "scheme and variant");
	ok(same(u.user, "ci") && same(u.password, "s:cret@"), "user and password, decoded");
	is(u.hosts, 3, "three hosts");
	ok(same(u.at[0].host, "a.example") && u.at[0].port == 2379, "a name with a port");
	ok(same(u.at[1].host, "::1") && u.at[1].port == 1, "an IPv6 address without its brackets");
	ok(same(u.at[2].host, "10.0.0.1") && u.at[2].port == 0, "an address without a port");
	ok(same(u.path, "/team/x"), "a path, without the slash at its end");
	ok(same(url_param(&u, "cacert"), "/etc/ca x.pem"), "a parameter, decoded");
	ok(same(url_param(&u, "user"), "me"), "another parameter");
	ok(same(url_param(&u, "use"), NULL), "a parameter that is not there");
	ok(same(u.shown, "etcd+https://ci@a.example:2379,[::1]:1,10.0.0.1/team/x"),
	   "what is shown has no password and no parameters");
}

static void
parts(void)
{
	ok(parses("etcd://h") && same(u.path, "") && same(u.variant, "") && u.user == NULL &&
	       u.password == NULL && same(u.shown, "etcd://h"),
	   "a host is enough");
	ok(parses("etcd://h/") && same(u.path, "") && same(u.shown, "etcd://h"),
	   "a slash alone is no path");
	ok(parses("etcd://h?user=a%26b") && same(url_param(&u, "user"), "a&b") && same(u.path, ""),
	   "parameters without a path");
	ok(parses("etcd://u@h/a%2Fb") && same(u.user, "u") && u.password == NULL &&
	       same(u.path, "/a/b") && same(u.shown, "etcd://u@h/a%2Fb"),
	   "a user without a password; what is shown is not decoded");
	ok(parses("etcd://u:p@p@h") && same(u.password, "p@p") && same(u.shown, "etcd://u@h"),
	   "the last @ before the path ends the password");
	ok(parses("etcd://u:@h") && same(u.password, ""), "an empty password is one");
	ok(parses("etcd://h?password-file=/a@b") && same(u.shown, "etcd://h"),
	   "a @ among the parameters is nobody's end");
}

static void
sockets(void)
{
	ok(parses("postgres://u@%2Frun%2Fpostgresql:5433/team") && u.hosts == 1 &&
	       same(u.at[0].host, "/run/postgresql") && u.at[0].port == 5433 &&
	       same(u.path, "/team") && same(u.shown, "postgres://u@%2Frun%2Fpostgresql:5433/team"),
	   "the directory of a socket in the place of a host");
	ok(parses("postgres:///team?host=/run/postgresql") && u.hosts == 1 &&
	       same(u.at[0].host, "/run/postgresql") && u.at[0].port == 0 &&
	       same(u.path, "/team") && same(u.shown, "postgres:///team"),
	   "as a parameter");
	ok(parses("postgres://u@/?port=5433&host=%2Fx") && same(u.user, "u") && same(u.path, "") &&
	       same(u.at[0].host, "/x") && u.at[0].port == 5433,
	   "with a user and a port");
}

static void
refused(void)
{
	static const char *const texts[] = {
		"",
		"etcd",
		"etcd:/h",
		"://h",
		"Etcd://h",
		"etcd+://h",
		"etcd+HTTPS://h",
		"etcd://",
		"etcd:///path",
		"etcd://h,",
		"etcd://,h",
		"etcd://h:",
		"etcd://h:0",
		"etcd://h:65536",
		"etcd://h:1x",
		"etcd://h:-1",
		"etcd://[::1",
		"etcd://[]",
		"etcd://[::1]x",
		"etcd://[h]",
		"etcd://a b",
		"etcd://a\nb",
		"etcd://h/a//b",
		"etcd://h/a/%2Fb",
		"etcd://h/a%2F/b",
		"etcd://h/a%2f%2f",
		"etcd://h/%2F",
		"etcd://h/a%",
		"etcd://h/a%0",
		"etcd://h/a%00b",
		"etcd://h/a%0ab",
		"etcd://h/a\tb",
		"etcd://h#x",
		"etcd://h?",
		"etcd://h?a",
		"etcd://h?a=b&",
		"etcd://h?=b",
		"etcd://h?a=b&a=c",
		"etcd://h?a=%zz",
		"etcd://@h",
		"etcd://:p@h",
		"etcd://u:%zz@h",
		"postgres:///team",
		"postgres:///team?host=",
		"postgres:///team?host=db1",
		"postgres:///team?port=5433",
		"postgres:///team?host=/x&port=0",
		"postgres://h/team?host=/x",
		"postgres://h/team?port=1",
		"postgres://%2/team",
		"postgres://a%2Fb/team",
		"etcd://1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17",
	};
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		ok(url_parse(&u, texts[i]) != NULL, "refused: %s",
		   strpbrk(texts[i], "\n#") != NULL ? "(it can't stand in a line here)" : texts[i]);
}

/* A password with a character in it that ought to be encoded may be taken for anything. */
static void
secret(void)
{
	static const char *const texts[] = {
		"etcd://u:SECRET/x@h",      "etcd://u:1/SECRET@h",     "etcd://u:SECRET?x@h",
		"etcd://u:1?SECRET@h",      "etcd://u:SECRET#x@h",     "etcd://u:SECRET%@h",
		"etcd://u:SECRET@h:x/a//b", "etcd://u:SECRET@h?a=b&c", "etcd+X://u:SECRET@h",
	};
	char longest[URL_TEXT + 100];
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		const char *why = url_parse(&u, texts[i]);

		ok(why != NULL && strstr(why, "SECRET") == NULL,
		   "a wrong URL with a password is refused, and the password not told");
	}
	memset(longest, 'a', sizeof(longest));
	memcpy(longest, "etcd://", 7);
	for (i = URL_TEXT - 4; i < URL_TEXT + 4; i++) {
		longest[i] = '\0';
		url_parse(&u, longest);
		longest[i] = 'a';
	}
	longest[URL_TEXT] = '\0';
	ok(url_parse(&u, longest) != NULL, "one that is too long is refused");
	memset(longest + 7, '/', URL_TEXT - 10);
	longest[URL_TEXT - 3] = '\0';
	ok(url_parse(&u, longest) != NULL, "slashes only are no path");
}

int
main(void)
{
	whole();
	parts();
	sockets();
	refused();
	secret();
	return tap_done();
}
