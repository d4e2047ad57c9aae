/* SPDX-License-Identifier: ISC */
/*
 * latecurl.h - libcurl, loaded when it is needed: linking it, with all that it needs itself, would
 * cost every start of a process several milliseconds.
 */
#ifndef LATECURL_H
#define LATECURL_H

#include <stdbool.h>
#include <stddef.h>

#include <curl/curl.h>

struct latecurl {
	CURLcode (*global_init)(long);
	CURL *(*easy_init)(void);
	CURLcode (*easy_setopt)(CURL *, CURLoption, ...);
	CURLcode (*easy_getinfo)(CURL *, CURLINFO, ...);
	void (*easy_cleanup)(CURL *);
	const char *(*easy_strerror)(CURLcode);
	struct curl_slist *(*slist_append)(struct curl_slist *, const char *);
	void (*slist_free_all)(struct curl_slist *);
	CURLM *(*multi_init)(void);
	CURLMcode (*multi_setopt)(CURLM *, CURLMoption, ...);
	CURLMcode (*multi_add_handle)(CURLM *, CURL *);
	CURLMcode (*multi_remove_handle)(CURLM *, CURL *);
	CURLMcode (*multi_socket_action)(CURLM *, curl_socket_t, int, int *);
	CURLMsg *(*multi_info_read)(CURLM *, int *);
	CURLMcode (*multi_cleanup)(CURLM *);
};

/* All of it, or NULL and why.  tls: the caller will use TLS, too.  It is never unloaded. */
const struct latecurl *latecurl(bool tls, char *why, size_t size);

#endif
