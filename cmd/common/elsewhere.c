#include "elsewhere.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "option.h"
#include "say.h"
#include "want.h"

/* What stands before the first + or : of a URL; false if it is none. */
static bool
scheme_of(const char *url, char scheme[32])
{
	size_t n = strspn(url, "abcdefghijklmnopqrstuvwxyz0123456789");

	if (n == 0 || n >= 32 || strchr("+:", url[n]) == NULL || strstr(url, "://") == NULL)
		return false;
	memcpy(scheme, url, n);
	scheme[n] = '\0';
	return true;
}

/* The words of a command line are everybody's to read. */
static bool
has_password(const char *url)
{
	const char *user = strstr(url, "://") + 3, *at = strchr(user, '@');
	const char *colon = strchr(user, ':');

	return at != NULL && at < user + strcspn(user, "/?") && colon != NULL && colon < at;
}

static int
only_for_stores(const struct elsewhere *s)
{
	const char *option = s->local != NULL     ? "--local"
			     : s->ttl != NULL     ? "--ttl"
			     : s->grace != NULL   ? "--grace"
			     : s->on_lost != NULL ? "--on-lost"
			     : s->reclaim != NULL ? "--reclaim"
						  : NULL;

	if (option == NULL)
		return -1;
	say(NULL, "%s is for limiters of a store: use it with --store", option);
	return OPTION_BAD;
}

/* The store's URL: --store or, where no file is named, $FLOCKLIMIT_STORE; NULL: this machine. */
static const char *
url_of(const struct want *w)
{
	const char *url = w->store.url;

	/* --store "$UNSET" must not become a limit of this machine only. */
	if (url != NULL)
		return url;
	url = w->file == NULL ? getenv("FLOCKLIMIT_STORE") : NULL;
	return url != NULL && *url != '\0' ? url : NULL;
}

int
elsewhere(const struct want *w, char **argv)
{
	const char *url = url_of(w), *dir = secure_getenv("FLOCKLIMIT_LIBEXEC");
	char scheme[32], path[PATH_MAX];

	if (url == NULL)
		return only_for_stores(&w->store);
	if (w->store.url != NULL && w->file != NULL) {
		say(NULL, "--store and --file cannot be combined: use one of them");
		return OPTION_BAD;
	}
	if (!scheme_of(url, scheme)) {
		say(NULL, "%s is no URL: use SCHEME://HOST[:PORT]/PATH, as etcd://db1:2379/team",
		    w->store.url != NULL ? "--store" : "FLOCKLIMIT_STORE");
		return OPTION_BAD;
	}
	if (w->store.url != NULL && has_password(url)) {
		say(NULL, "--store: everybody can see a password there: put it into "
			  "$FLOCKLIMIT_STORE_PASSWORD or a file");
		return OPTION_BAD;
	}
	if (dir == NULL || *dir == '\0')
		dir = PKGLIBEXECDIR;
	if ((size_t)snprintf(path, sizeof(path), "%s/store-%s", dir, scheme) >= sizeof(path)) {
		say(NULL, "FLOCKLIMIT_LIBEXEC is too long for a path");
		return OPTION_BAD;
	}
	execv(path, argv);
	if (errno == ENOENT && strncmp(scheme, "http", 4) == 0)
		say(NULL, "%s:// is not a store: for etcd use etcd://, or with TLS etcd+https://",
		    scheme);
	else if (errno == ENOENT)
		say(NULL, "no store %s:// is installed: there is no %s", scheme, path);
	else
		say(NULL, "cannot run '%s': %s", path, strerror(errno));
	return OPTION_BAD;
}
