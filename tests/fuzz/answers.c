/* SPDX-License-Identifier: ISC */
/*
 * answers.c - what a server of etcd may answer, which is any bytes: texts end, records make sense,
 * and no byte beyond the message is read or written.
 */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/store/etcd/proto/messages.h"

static void
check_text(const struct record_kv *kv)
{
	require(kv->key[kv->key_size] == '\0' && kv->value[kv->value_size] == '\0');
	require(kv->key_size > 0 && kv->changed > 0);
}

static void
check_transaction(uint8_t *message, size_t size)
{
	struct answer a;
	size_t i, k;

	if (answer_read(&a, ANSWER_TXN, message, size))
		for (i = 0; i < a.n; i++)
			for (k = 0; k < a.found[i].n; k++) {
				check_text(&a.found[i].kv[k]);
				require(a.found[i].kv[k].created > 0 &&
					a.found[i].kv[k].created <= a.found[i].kv[k].changed);
			}
	answer_free(&a);
}

static void
check_others(uint8_t *message, size_t size, bool token)
{
	struct answer a;

	if (token && answer_read(&a, ANSWER_TOKEN, message, size) && a.token != NULL)
		require(strlen(a.token) <= size);
	else if (!token)
		answer_read(&a, ANSWER_LEASE, message, size);
	answer_free(&a);
}

static void
check_news(uint8_t *message, size_t size)
{
	struct answer n;
	size_t i;

	if (answer_read(&n, ANSWER_WATCH, message, size)) {
		require(n.reason == NULL || strlen(n.reason) <= size);
		for (i = 0; i < n.changes; i++)
			check_text(&n.change[i].kv);
	}
	answer_free(&n);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes b = { data, size };
	uint8_t kind = take8(&b), *message = malloc(b.left > 0 ? b.left : 1);

	if (message == NULL)
		abort();
	if (b.left > 0)
		memcpy(message, b.p, b.left);
	switch (kind % 4) {
	case 0:
		check_transaction(message, b.left);
		break;
	case 1:
		check_news(message, b.left);
		break;
	default:
		check_others(message, b.left, kind % 4 == 2);
		break;
	}
	free(message);
	return 0;
}
