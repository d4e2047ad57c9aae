/* SPDX-License-Identifier: ISC */
#include "reply.h"

#include <stdio.h>
#include <string.h>

static nghttp2_nv
header(const char *name, const char *value)
{
	return (nghttp2_nv){ (uint8_t *)(uintptr_t)name, (uint8_t *)(uintptr_t)value, strlen(name),
			     strlen(value), NGHTTP2_NV_FLAG_NONE };
}

static void
add_trailer(const struct reply *r, nghttp2_session *session, int32_t id)
{
	char status[12];
	nghttp2_nv trailer[] = { header("grpc-status", ""), header("grpc-message", r->message) };

	snprintf(status, sizeof(status), "%d", r->status);
	trailer[0] = header("grpc-status", status);
	nghttp2_submit_trailer(session, id, trailer, 2);
}

static ssize_t
give(nghttp2_session *session, int32_t id, uint8_t *to, size_t room, uint32_t *flags,
     nghttp2_data_source *source, void *context)
{
	struct reply *r = source->ptr;
	size_t n = r->out.n - r->sent;

	(void)context;
	if (n == 0 && !r->ended)
		return NGHTTP2_ERR_DEFERRED;
	if (n > room)
		n = room;
	if (n > 0)
		memcpy(to, r->out.at + r->sent, n);
	r->sent += n;
	if (r->sent < r->out.n)
		return (ssize_t)n;
	r->sent = r->out.n = 0;
	if (r->ended)
		*flags |= NGHTTP2_DATA_FLAG_EOF;
	if (r->ended && r->status != -1) {
		*flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
		add_trailer(r, session, id);
	}
	return (ssize_t)n;
}

void
reply_speak(struct reply *r, nghttp2_session *session, int32_t id, const char *http)
{
	nghttp2_data_provider provider = { .source.ptr = r, .read_callback = give };
	nghttp2_nv head[] = { header(":status", http), header("content-type", "application/grpc") };

	if (!r->begun)
		nghttp2_submit_response(session, id, head, 2, &provider);
	else
		nghttp2_session_resume_data(session, id);
	r->begun = true;
}

void
reply_end(struct reply *r, int status, const char *message)
{
	r->ended = true;
	r->status = status;
	snprintf(r->message, sizeof(r->message), "%s", message);
}
