/* SPDX-License-Identifier: ISC */
/*
 * control.c - what an operator may tell the fake: see fake.c for the list.
 */
#include "grpc.h"

#include <string.h>

static void
end_watches(const struct server *s)
{
	size_t i;

	for (i = 0; i < s->count; i++) {
		struct conn *c = s->conns[i];

		if (c->state == STREAMING || (c->grpc != NULL && grpc_watches(c->grpc))) {
			c->state = ENDING;
			c->out.len = 0;
		}
	}
}

bool
control_line(struct server *s, const char *line)
{
	const char *user = line + strlen("user");

	if (strncmp(line, "user", strlen("user")) == 0) {
		user += strspn(user, " ");
		return auth_set_user(&s->fake.auth, must_copy(user, strlen(user))); /* kept */
	}
	if (strcmp(line, "logout") == 0)
		s->fake.auth.token[0] = '\0';
	else if (strcmp(line, "kill watches") == 0)
		end_watches(s);
	else
		return false;
	return true;
}
