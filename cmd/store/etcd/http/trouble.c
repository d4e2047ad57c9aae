/* SPDX-License-Identifier: ISC */
#include "trouble.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/*
 * Pieces of libcurl's and OpenSSL's messages that identify a cause, and our words for it.  Under
 * TLS 1.3 a client learns only when it reads that the server refused its certificate, so we look
 * for these pieces in every error.
 */
static const struct {
	const char *piece, *words;
} causes[] = {
	{ "certificate has expired", "its certificate has expired: have it renewed" },
	{ "not yet valid", "its certificate is not valid yet: look at the clocks" },
	{ "subject name", "its certificate is for another host name: use the name that is in it, "
			  "or have it renewed" },
	{ "does not match target host", "its certificate is for another host name: use the name "
					"that is in it, or have it renewed" },
	{ "wrong version number", NO_TLS },
	{ "alert certificate required", "it wants a client's certificate: give cert= and key=" },
	{ "alert certificate expired",
	  "it says that our certificate has expired: renew that of cert=" },
	{ "alert bad certificate",
	  "it wants a client's certificate that it trusts: give cert= and key=" },
	{ "alert unknown ca", "it does not know the signer of our certificate: look at cert=" },
	{ "key values mismatch", "cert= and key= do not belong together" },
};

static const char *
cause_of(CURLcode code, const char *error)
{
	size_t i;

	for (i = 0; i < sizeof(causes) / sizeof(causes[0]); i++)
		if (strcasestr(error, causes[i].piece) != NULL)
			return causes[i].words;
	switch (code) {
	case CURLE_PEER_FAILED_VERIFICATION:
		return "its certificate is not signed by a trusted authority: give the authority's "
		       "with "
		       "cacert=";
	case CURLE_SSL_CACERT_BADFILE:
		return "the file of cacert= can't be used: it must contain certificates in PEM";
	case CURLE_SSL_CERTPROBLEM:
		return "the files of cert= and key= can't be used: they must be in PEM, "
		       "without a "
		       "passphrase, and belong together";
	case CURLE_UNSUPPORTED_PROTOCOL:
	case CURLE_WEIRD_SERVER_REPLY:
		return "it speaks no HTTP: it is not etcd, or wants TLS (etcd+https://)";
	default:
		return NULL;
	}
}

static enum http_trouble
nature_of(CURLcode code, long os, const char **words)
{
	switch (code) {
	case CURLE_COULDNT_CONNECT:
		if (os != 0)
			*words = strerror((int)os);
		return HTTP_AWAY;
	case CURLE_OPERATION_TIMEDOUT:
		*words = "no answer in time";
		return HTTP_AWAY;
	case CURLE_SSL_CONNECT_ERROR:
		*words = "TLS could not be begun";
		return HTTP_BROKEN;
	case CURLE_GOT_NOTHING:
	case CURLE_PARTIAL_FILE:
	case CURLE_SEND_ERROR:
	case CURLE_RECV_ERROR:
	case CURLE_SEND_FAIL_REWIND:
	case CURLE_ABORTED_BY_CALLBACK:
		*words = "the connection broke before the answer was there";
		return HTTP_BROKEN;
	case CURLE_WRITE_ERROR:
		*words = "the answer is too long";
		return HTTP_AWAY;
	default:
		return HTTP_AWAY;
	}
}

enum http_trouble
http_trouble_of(CURLcode code, const char *error, long os, char why[HTTP_WHY])
{
	const char *words = cause_of(code, error);
	enum http_trouble kind = HTTP_WRONG;

	if (words == NULL) {
		words = error;
		kind = nature_of(code, os, &words);
	}
	snprintf(why, HTTP_WHY, "%s", words);
	return kind;
}
