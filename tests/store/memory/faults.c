/* SPDX-License-Identifier: ISC */
/*
 * faults.c - see faults.h.
 */
#include "faults.h"

#include <err.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../../lib/clock.h"
#include "clock.h"
#include "world.h"

struct rule {
	LIST_ENTRY(rule) link;
	enum fault fault;
	unsigned long nth, seen; /* nth: 0 for all */
	char text[256];
};

static LIST_HEAD(, rule) rules;
static FILE *log_file;

static const char *const faults[] = { [HOLD] = "hold", [CUT] = "cut", [DENY] = "deny" };

/* ---- the log ---- */

void
log_open(const char *path)
{
	if ((log_file = fopen(path, "we")) == NULL)
		err(1, "%s", path);
	setvbuf(log_file, NULL, _IOLBF, 0);
}

void
log_line(const char *words, ...)
{
	va_list args;

	if (log_file == NULL)
		return;
	fprintf(log_file, "%" PRIu64 " ", true_ns / MS);
	va_start(args, words);
	vfprintf(log_file, words, args);
	va_end(args);
	fputc('\n', log_file);
}

void
log_changes(void *context, size_t first)
{
	const struct memory_record *r;

	(void)context;
	for (; (r = memory_change(world_memory(), first)) != NULL; first++)
		log_line("%" PRId64 " %c %s", r->kv.changed, r->deleted ? '-' : '+', r->kv.key);
}

/* ---- what was asked ---- */

static void
describe_key(FILE *to, const char *what, const char *key, const char *end)
{
	fprintf(to, " %s:%s", what, key);
	if (end != NULL)
		fprintf(to, "..");
}

/* To be freed. */
static char *
describe(const struct request *q)
{
	static const char *const asks[ASKS] = {
		"txn", "lease", "renew", "end", "watch", "unwatch"
	};
	static const char *const deeds[] = { "if", "if", "if", "if", "get", "put", "delete" };
	const struct txn_item *item;
	char *text = NULL;
	size_t size, i;
	FILE *to = pack_got(open_memstream(&text, &size));

	fputs(asks[q->kind], to);
	for (i = 0; i < q->ranges; i++)
		describe_key(to, "of", q->range[i].key, q->range[i].end);
	for (i = 0; q->txn != NULL && i < q->txn->n; i++) {
		item = &q->txn->item[i];
		describe_key(to, deeds[item->kind], item->key, item->end);
	}
	if (q->lease != 0)
		fprintf(to, " %" PRId64, q->lease);
	fclose(to);
	return pack_got(text);
}

/* ---- faults ---- */

bool
fault_add(const char *line)
{
	struct rule *r = pack_got(calloc(1, sizeof(*r)));
	char name[8], which[8];
	int n = sscanf(line, "%7s %7s %255[^\n]", name, which, r->text);

	for (r->fault = HOLD; r->fault < DENY && strcmp(name, faults[r->fault]) != 0; r->fault++)
		;
	r->nth = strtoul(which, NULL, 10);
	LIST_INSERT_HEAD(&rules, r, link);
	return n == 3 && strcmp(name, faults[r->fault]) == 0;
}

void
faults_clear(void)
{
	struct rule *r;

	while ((r = LIST_FIRST(&rules)) != NULL) {
		LIST_REMOVE(r, link);
		free(r);
	}
}

enum fault
fault_of(const struct request *q)
{
	enum fault fault = NO_FAULT;
	char *text = describe(q);
	struct rule *r;

	LIST_FOREACH(r, &rules, link)
		if (strstr(text, r->text) != NULL && (++r->seen == r->nth || r->nth == 0))
			fault = r->fault;
	log_line("%s%s%s", text, fault == NO_FAULT ? "" : " !",
		 fault == NO_FAULT ? "" : faults[fault]);
	free(text);
	return fault;
}
