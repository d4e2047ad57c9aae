/* SPDX-License-Identifier: ISC */
#include "fake.h"

#include <stdio.h>
#include <string.h>

bool
auth_set_user(struct auth *auth, char *user)
{
	char *colon = strchr(user, ':');

	if (*user != '\0' && colon == NULL)
		return false;
	auth->user = auth->password = NULL;
	auth->token[0] = '\0';
	if (colon != NULL) {
		*colon = '\0';
		auth->user = user;
		auth->password = colon + 1;
	}
	return true;
}

bool
call_authenticate(struct call *call, struct buf *out)
{
	const char *name = read_text(&call->reading, call->body, "name");
	const char *password = read_text(&call->reading, call->body, "password");
	struct auth *auth = &call->fake->auth;

	if (call->wrong.code != 0)
		return false;
	if (auth->user == NULL)
		return wrong_is(&call->wrong, PRECONDITION,
				"etcdserver: authentication is not enabled");
	if (strcmp(name, auth->user) != 0 || strcmp(password, auth->password) != 0)
		return wrong_is(&call->wrong, BAD_ARGUMENT,
				"etcdserver: authentication failed, invalid user ID or password");
	if (auth->token[0] == '\0')
		snprintf(auth->token, sizeof(auth->token), "dbDgyEJFrlaNVtqZ.%u", ++auth->tokens);
	write_header(out, call->fake);
	buf_printf(out, ",\"token\":\"%s\"}", auth->token);
	return true;
}

bool
auth_is_user(struct call *call)
{
	const struct auth *auth = &call->fake->auth;

	/* A token where no authentication is: etcd looks at it all the same. */
	if (call->token[0] == '\0')
		return auth->user == NULL ||
		       wrong_is(&call->wrong, BAD_ARGUMENT, "etcdserver: user name is empty");
	if (auth->token[0] == '\0' || strcmp(call->token, auth->token) != 0)
		return wrong_is(&call->wrong, UNAUTHENTICATED, "etcdserver: invalid auth token");
	return true;
}

/* Whether some key of the range begins with what is denied. */
static bool
is_denied(const struct auth *auth, const struct range *range)
{
	struct bytes denied = { auth->denied, auth->denied != NULL ? strlen(auth->denied) : 0 };
	size_t n = range->from.len < denied.len ? range->from.len : denied.len;

	if (auth->denied == NULL)
		return false;
	if (range->from.len >= denied.len && memcmp(range->from.at, denied.at, n) == 0)
		return true;
	return range_has(range, denied);
}

bool
auth_may(struct call *call, const struct range *range)
{
	if (!auth_is_user(call))
		return false;
	if (is_denied(&call->fake->auth, range))
		return wrong_is(&call->wrong, DENIED, "etcdserver: permission denied");
	return true;
}
