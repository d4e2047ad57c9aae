/* SPDX-License-Identifier: ISC */
#include "latecurl.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#define FUNCTION(name)                                         \
	{                                                      \
		"curl_" #name, offsetof(struct latecurl, name) \
	}

static const struct {
	const char *name;
	size_t at;
} functions[] = {
	FUNCTION(global_init),         FUNCTION(easy_init),        FUNCTION(easy_setopt),
	FUNCTION(easy_getinfo),        FUNCTION(easy_cleanup),     FUNCTION(easy_strerror),
	FUNCTION(slist_append),        FUNCTION(slist_free_all),   FUNCTION(multi_init),
	FUNCTION(multi_setopt),        FUNCTION(multi_add_handle), FUNCTION(multi_remove_handle),
	FUNCTION(multi_socket_action), FUNCTION(multi_info_read),  FUNCTION(multi_cleanup),
};

static struct latecurl curl;

/* The two libraries (libcurl's builds) differ in the TLS library that they use. */
static void *
load(void)
{
	static const char *const names[] = { "libcurl.so.4", "libcurl-gnutls.so.4" };
	void *library = NULL;
	size_t i;

	for (i = 0; library == NULL && i < sizeof(names) / sizeof(names[0]); i++)
		library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
	return library;
}

const struct latecurl *
latecurl(bool tls, char *why, size_t size)
{
	static void *library;
	size_t i;

	if (library == NULL) {
		library = load();
		if (library == NULL) {
			snprintf(why, size, "libcurl.so.4 can't be loaded: install libcurl (%s)",
				 dlerror());
			return NULL;
		}
	}
	for (i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		void *f = dlsym(library, functions[i].name);

		if (f == NULL) {
			snprintf(why, size, "libcurl.so.4 is too old: it has no %s",
				 functions[i].name);
			return NULL;
		}
		memcpy((char *)&curl + functions[i].at, &f, sizeof(f));
	}
	/* A second call is allowed. */
	if (curl.global_init(tls ? CURL_GLOBAL_DEFAULT : CURL_GLOBAL_NOTHING) != CURLE_OK) {
		snprintf(why, size, "libcurl can't be initialised");
		return NULL;
	}
	return &curl;
}
