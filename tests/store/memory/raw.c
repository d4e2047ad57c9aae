/* SPDX-License-Identifier: ISC */
/*
 * raw.c - a test looks at the records of the store in memory, and changes them by hand.
 *
 *	raw URL DEED...		all in one transaction:
 *		put KEY VALUE LEASE	LEASE: a number, or 0 for none
 *		delete KEY
 *		keys PREFIX		print the keys that begin so, a line each
 *	raw URL lease ID	grant a lease of an hour
 *	raw URL end ID		end a lease, and its records
 *
 * Exit status: 0, or 1 if the store did not do it: stderr says why.
 */
#include <err.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "records/records.h"

#define ANSWER_MS 60000
#define LEASE_S   3600

static void
answered(void *context, const struct records_answer *answer)
{
	size_t i, j;

	(void)context;
	if (answer->result != RECORDS_OK)
		errx(1, "%s", answer->text == NULL ? "there is no such lease" : answer->text);
	for (i = 0; i < answer->n; i++)
		for (j = 0; j < answer->found[i].n; j++)
			puts(answer->found[i].kv[j].key);
	exit(0);
}

static void
get(struct txn *x, const char *prefix)
{
	char *end = strdup(prefix);

	if (end == NULL || *end == '\0')
		errx(1, "no prefix");
	end[strlen(end) - 1]++;
	txn_get(x, prefix, end)->keys_only = true;
	free(end);
}

/* The next word; it must be there. */
static const char *
word(char ***at)
{
	if (**at == NULL)
		errx(1, "a word is missing");
	return *(*at)++;
}

static int64_t
number(const char *text)
{
	return (int64_t)strtoll(text, NULL, 10);
}

static struct txn *
txn_of(char **at)
{
	struct txn *x = txn_new();

	while (*at != NULL) {
		const char *deed = word(&at), *key = word(&at), *value;

		if (strcmp(deed, "put") == 0) {
			value = word(&at);
			txn_put(x, key, value, strlen(value), number(word(&at)));
		} else if (strcmp(deed, "delete") == 0) {
			txn_delete(x, key, NULL);
		} else if (strcmp(deed, "keys") == 0) {
			get(x, key);
		} else {
			errx(1, "no such deed: %s", deed);
		}
	}
	return x;
}

int
main(int argc, char **argv)
{
	static struct url url;
	char why[RECORDS_TEXT];
	const char *wrong;
	struct records *r;
	struct pollfd fd;

	if (argc < 4)
		errx(1, "usage: raw URL DEED...");
	if ((wrong = url_parse(&url, argv[1])) != NULL)
		errx(1, "%s: %s", argv[1], wrong);
	if (records_open(&r, &url, 0, why) != 0)
		errx(1, "%s", why);
	if (strcmp(argv[2], "lease") == 0)
		records_lease(r, number(argv[3]), LEASE_S, ANSWER_MS, answered, NULL);
	else if (strcmp(argv[2], "end") == 0)
		records_end(r, number(argv[3]), ANSWER_MS, answered, NULL);
	else
		records_txn(r, txn_of(argv + 2), ANSWER_MS, answered, NULL);
	for (;;) {
		records_step(r);
		fd = (struct pollfd){ .fd = records_fd(r), .events = POLLIN };
		poll(&fd, 1, records_due(r) == UINT64_MAX ? -1 : 100);
	}
}
