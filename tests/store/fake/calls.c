/* SPDX-License-Identifier: ISC */
#include "fake.h"

#include <inttypes.h>
#include <string.h>

static const struct kind_of_call calls[] = {
	{ "/v3/kv/range", CALL_UNARY, call_range },
	{ "/v3/kv/put", CALL_UNARY, call_put },
	{ "/v3/kv/deleterange", CALL_UNARY, call_delete },
	{ "/v3/kv/txn", CALL_UNARY, call_txn },
	{ "/v3/kv/compaction", CALL_UNARY, call_compaction },
	{ "/v3/lease/grant", CALL_UNARY, call_grant },
	{ "/v3/lease/revoke", CALL_UNARY, call_revoke },
	{ "/v3/kv/lease/revoke", CALL_UNARY, call_revoke },
	{ "/v3/lease/keepalive", CALL_STREAM, call_keepalive },
	{ "/v3/lease/timetolive", CALL_UNARY, call_timetolive },
	{ "/v3/kv/lease/timetolive", CALL_UNARY, call_timetolive },
	{ "/v3/lease/leases", CALL_UNARY, call_leases },
	{ "/v3/kv/lease/leases", CALL_UNARY, call_leases },
	{ "/v3/auth/authenticate", CALL_UNARY, call_authenticate },
	{ "/v3/maintenance/status", CALL_UNARY, call_status },
	{ "/v3/watch", CALL_WATCH, NULL },
};

const struct kind_of_call *
call_find(const char *path)
{
	size_t i;

	for (i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		if (strcmp(calls[i].path, path) == 0)
			return &calls[i];
	}
	return NULL;
}

bool
call_status(struct call *call, struct buf *out)
{
	write_header(out, call->fake);
	buf_printf(out,
		   ",\"version\":\"3.4.23\",\"dbSize\":\"20480\",\"leader\":\"%" PRIu64
		   "\",\"raftIndex\":\"%" PRId64
		   "\",\"raftTerm\":\"2\",\"raftAppliedIndex\":\"%" PRId64
		   "\",\"dbSizeInUse\":\"16384\"}",
		   call->fake->member_id, call->fake->kv.revision + 3, call->fake->kv.revision + 3);
	return true;
}

void
write_header(struct buf *b, const struct fake *fake)
{
	buf_printf(b,
		   "{\"header\":{\"cluster_id\":\"%" PRIu64 "\",\"member_id\":\"%" PRIu64
		   "\",\"revision\":\"%" PRId64 "\",\"raft_term\":\"2\"}",
		   fake->cluster_id, fake->member_id, fake->kv.revision);
}
