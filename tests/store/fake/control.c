/* SPDX-License-Identifier: ISC */
/*
 * control.c - what an operator may tell the fake: see fake.c for the list.
 */
#include "grpc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool
control_fault(struct server *s, const char *rest, struct buf *out)
{
	(void)out;
	return faults_add(&s->faults, rest);
}

static bool
control_clear(struct server *s, const char *rest, struct buf *out)
{
	(void)out;
	faults_clear(&s->faults);
	return *rest == '\0';
}

static bool
control_count(struct server *s, const char *rest, struct buf *out)
{
	buf_printf(out, "%lu\n", faults_count(&s->faults, *rest != '\0' ? rest : "*"));
	return true;
}

static bool
number(const char *text, int64_t *n)
{
	char *end;

	errno = 0;
	*n = strtoll(text, &end, 10);
	return end != text && *end == '\0' && errno == 0;
}

/* A lease ends now, whatever its time: its time was over, or it was revoked without a reason. */
static bool
control_expire(struct server *s, const char *rest, struct buf *out)
{
	struct lease *lease;
	int64_t id;

	if (strcmp(rest, "all") == 0) {
		while (s->fake.leases.count > 0)
			lease_revoke(&s->fake.leases, s->fake.leases.list, &s->fake.kv);
		serve_watches(s);
		return true;
	}
	if (!number(rest, &id))
		return false;
	lease = lease_find(&s->fake.leases, id);
	if (lease == NULL) {
		buf_text(out, "no such lease\n");
		return false;
	}
	lease_revoke(&s->fake.leases, lease, &s->fake.kv);
	serve_watches(s);
	return true;
}

/* Without a revision: all that there is. */
static bool
control_compact(struct server *s, const char *rest, struct buf *out)
{
	int64_t revision = s->fake.kv.revision;

	(void)out;
	if (*rest != '\0' && !number(rest, &revision))
		return false;
	if (revision > s->fake.kv.revision || revision <= s->fake.kv.compacted)
		return false;
	s->fake.kv.compacted = revision;
	return true;
}

static bool
control_pause(struct server *s, const char *rest, struct buf *out)
{
	(void)out;
	s->paused = true;
	return *rest == '\0';
}

static bool
control_resume(struct server *s, const char *rest, struct buf *out)
{
	(void)out;
	s->paused = false;
	return *rest == '\0';
}

static bool
control_kill(struct server *s, const char *rest, struct buf *out)
{
	size_t i;

	(void)out;
	if (*rest != '\0' && strcmp(rest, "watches") != 0)
		return false;
	for (i = 0; i < s->count; i++) {
		struct conn *c = s->conns[i];

		if (!c->operator&&(*rest == '\0' || c->state == STREAMING ||
				   (c->grpc != NULL && grpc_watches(c->grpc)))) {
			c->state = ENDING;
			c->out.len = 0;
		}
	}
	return true;
}

/* What is held is done. */
static bool
control_release(struct server *s, const char *rest, struct buf *out)
{
	size_t i;

	(void)out;
	for (i = 0; i < s->count; i++) {
		struct conn *c = s->conns[i];

		if (c->grpc != NULL)
			grpc_release(c->grpc);
		if (c->state == ASKED && c->deed.action == HOLD)
			c->serve_at = s->fake.now;
	}
	return *rest == '\0';
}

/* As a server that lost its data: nothing is left, and revisions begin anew. */
static bool
control_wipe(struct server *s, const char *rest, struct buf *out)
{
	control_kill(s, "", out);
	kv_wipe(&s->fake.kv);
	free(s->fake.leases.list);
	s->fake.leases = (struct leases){ 0 };
	s->fake.auth.token[0] = '\0';
	s->fake.cluster_id++;
	return *rest == '\0';
}

/* The token that was given out is worth nothing any more. */
static bool
control_logout(struct server *s, const char *rest, struct buf *out)
{
	(void)out;
	s->fake.auth.token[0] = '\0';
	return *rest == '\0';
}

static bool
control_user(struct server *s, const char *rest, struct buf *out)
{
	(void)out;
	/* Kept, like what is denied. */
	return auth_set_user(&s->fake.auth, must_copy(rest, strlen(rest)));
}

static bool
control_deny(struct server *s, const char *rest, struct buf *out)
{
	(void)out;
	/* What was denied before is kept: it may be one of the command line. */
	s->fake.auth.denied = *rest != '\0' ? must_copy(rest, strlen(rest)) : NULL;
	return true;
}

static bool
control_quit(struct server *s, const char *rest, struct buf *out)
{
	(void)out;
	s->over = true;
	return *rest == '\0';
}

bool
control_line(struct server *s, const char *line, struct buf *out)
{
	static const struct {
		const char *name;
		bool (*act)(struct server *s, const char *rest, struct buf *out);
	} acts[] = {
		{ "on", control_fault },        { "clear", control_clear },
		{ "count", control_count },     { "expire", control_expire },
		{ "revoke", control_expire },   { "compact", control_compact },
		{ "pause", control_pause },     { "resume", control_resume },
		{ "kill", control_kill },       { "wipe", control_wipe },
		{ "logout", control_logout },   { "deny", control_deny },
		{ "user", control_user },       { "quit", control_quit },
		{ "release", control_release },
	};
	size_t i, n;

	line += strspn(line, " \t");
	if (*line == '\0' || *line == '#')
		return true;
	n = strcspn(line, " \t");
	for (i = 0; i < sizeof(acts) / sizeof(acts[0]); i++) {
		if (strlen(acts[i].name) == n && strncmp(acts[i].name, line, n) == 0)
			return acts[i].act(s, line + n + strspn(line + n, " \t"), out);
	}
	return false;
}

bool
control_text(struct server *s, const char *text, struct buf *out)
{
	while (*text != '\0') {
		size_t n = strcspn(text, "\r\n");
		char *line = must_copy(text, n);
		bool fine = control_line(s, line, out);

		if (!fine)
			buf_printf(out, "not understood: %s\n", line);
		free(line);
		if (!fine)
			return false;
		text += n;
		text += strspn(text, "\r\n");
	}
	return true;
}
