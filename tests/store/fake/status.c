/* SPDX-License-Identifier: ISC */
#include "http.h"

#include <stddef.h>

int
status_of(int code)
{
	switch (code) {
	case BAD_ARGUMENT:
	case OUT_OF_RANGE:
		return 400;
	case UNAUTHENTICATED:
		return 401;
	case DENIED:
		return 403;
	case NOT_FOUND:
		return 404;
	case PRECONDITION:
		return 412;
	case UNIMPLEMENTED:
		return 501;
	}
	return 500;
}

const char *
status_name(int status)
{
	static const struct {
		int status;
		const char *name;
	} names[] = {
		{ 200, "OK" },
		{ 301, "Moved Permanently" },
		{ 400, "Bad Request" },
		{ 401, "Unauthorized" },
		{ 403, "Forbidden" },
		{ 404, "Not Found" },
		{ 405, "Method Not Allowed" },
		{ 412, "Precondition Failed" },
		{ 429, "Too Many Requests" },
		{ 500, "Internal Server Error" },
		{ 501, "Not Implemented" },
		{ 502, "Bad Gateway" },
		{ 503, "Service Unavailable" },
		{ 504, "Gateway Timeout" },
	};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (names[i].status == status)
			return names[i].name;
	}
	return "Whatever";
}
