/* SPDX-License-Identifier: ISC */
#include "http.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "clock.h"
#include "trouble.h"

#define IDLE_CONNECTIONS 16L
#define KEEPALIVE_S      10L

TAILQ_HEAD(post_queue, post);

struct http {
	const struct latecurl *curl;
	CURLM *multi;
	int epoll;
	uint64_t due;            /* when libcurl wants a call in any case */
	struct post_queue ready; /* whose starters we must call */
	struct http_tls tls;
};

/* ---- what libcurl calls -------------------------------------------------------------------- */

static int
watch_socket(CURL *easy, curl_socket_t fd, int what, void *context, void *known)
{
	struct http *h = context;
	struct epoll_event ev = { .data.fd = fd };

	(void)easy;
	(void)known;
	if (what == CURL_POLL_REMOVE) {
		epoll_ctl(h->epoll, EPOLL_CTL_DEL, fd, NULL);
		return 0;
	}
	if (what == CURL_POLL_IN || what == CURL_POLL_INOUT)
		ev.events |= EPOLLIN;
	if (what == CURL_POLL_OUT || what == CURL_POLL_INOUT)
		ev.events |= EPOLLOUT;
	if (epoll_ctl(h->epoll, EPOLL_CTL_MOD, fd, &ev) == -1 && errno == ENOENT &&
	    epoll_ctl(h->epoll, EPOLL_CTL_ADD, fd, &ev) == -1)
		return -1;
	return 0;
}

static int
set_timer(CURLM *multi, long ms, void *context)
{
	struct http *h = context;

	(void)multi;
	h->due = ms < 0 ? UINT64_MAX : flki_boottime_ns() + (uint64_t)ms * MS;
	return 0;
}

/* Sockets that libcurl opens itself would be inherited by programs that we execute. */
static curl_socket_t
open_socket(void *context, curlsocktype purpose, struct curl_sockaddr *a)
{
	(void)context;
	(void)purpose;
	return socket(a->family, a->socktype | SOCK_CLOEXEC, a->protocol);
}

/*
 * Gives the body, once.  libcurl gets it from a function that can't rewind: so it can't send the
 * body again over another connection.  If libcurl asks again without rewinding first, no byte of
 * the first time was sent, and what it would send now is not the body: abort.
 */
static size_t
give(char *to, size_t one, size_t room, void *context)
{
	struct post *p = context;
	size_t n = p->size - p->sent;

	if (n == 0)
		return CURL_READFUNC_ABORT;
	if (n > one * room)
		n = one * room;
	memcpy(to, p->body + p->sent, n);
	p->sent += n;
	return n;
}

static void
make_ready(struct post *p)
{
	if (!p->ready)
		TAILQ_INSERT_TAIL(&p->http->ready, p, link);
	p->ready = true;
}

static size_t
take(char *bytes, size_t one, size_t n, void *context)
{
	struct post *p = context;

	n *= one;
	if (n > p->most - p->length)
		return 0;
	if (p->length + n + 1 > p->room) {
		size_t room = (p->length + n + 1) * 2;
		char *answer = realloc(p->answer, room);

		if (answer == NULL)
			return 0;
		p->answer = answer;
		p->room = room;
	}
	memcpy(p->answer + p->length, bytes, n);
	p->length += n;
	p->answer[p->length] = '\0';
	p->http->curl->easy_getinfo(p->easy, CURLINFO_RESPONSE_CODE, &p->status);
	if (p->comes != NULL) {
		p->fresh = true;
		make_ready(p);
	}
	return n;
}

/* ---- the one descriptor -------------------------------------------------------------------- */

struct http *
http_new(const struct http_tls *tls, char *why, size_t size)
{
	const struct latecurl *curl = latecurl(tls->on, why, size);
	struct http *h;

	if (curl == NULL)
		return NULL;
	h = calloc(1, sizeof(*h));
	if (h == NULL)
		goto memory;
	h->curl = curl;
	h->tls = *tls;
	h->due = UINT64_MAX;
	TAILQ_INIT(&h->ready);
	h->epoll = epoll_create1(EPOLL_CLOEXEC);
	h->multi = curl->multi_init();
	if (h->epoll == -1 || h->multi == NULL)
		goto memory;
	curl->multi_setopt(h->multi, CURLMOPT_SOCKETFUNCTION, watch_socket);
	curl->multi_setopt(h->multi, CURLMOPT_SOCKETDATA, h);
	curl->multi_setopt(h->multi, CURLMOPT_TIMERFUNCTION, set_timer);
	curl->multi_setopt(h->multi, CURLMOPT_TIMERDATA, h);
	curl->multi_setopt(h->multi, CURLMOPT_MAXCONNECTS, IDLE_CONNECTIONS);
	return h;
memory:
	snprintf(why, size, "no memory or descriptor is left");
	http_free(h);
	return NULL;
}

void
http_free(struct http *h)
{
	if (h == NULL)
		return;
	if (h->multi != NULL)
		h->curl->multi_cleanup(h->multi);
	if (h->epoll != -1)
		close(h->epoll);
	free(h);
}

int
http_fd(const struct http *h)
{
	return h->epoll;
}

/*
 * http_step() passes this descriptor to libcurl, too, which finds that it is none of its sockets.
 */
void
http_also(struct http *h, int fd)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.fd = fd };

	epoll_ctl(h->epoll, EPOLL_CTL_ADD, fd, &ev);
}

void
http_no_more(struct http *h, int fd)
{
	epoll_ctl(h->epoll, EPOLL_CTL_DEL, fd, NULL);
}

uint64_t
http_due(const struct http *h)
{
	return TAILQ_EMPTY(&h->ready) ? h->due : 0;
}

static void
call_starters(struct http *h)
{
	struct post *p;

	while ((p = TAILQ_FIRST(&h->ready)) != NULL) {
		TAILQ_REMOVE(&h->ready, p, link);
		p->ready = false;
		if (p->fresh) {
			p->fresh = false;
			if (p->over)
				make_ready(p);
			p->comes(p);
		} else {
			char why[HTTP_WHY] = "";
			long os = 0;
			enum http_trouble t = HTTP_FINE;

			h->curl->easy_getinfo(p->easy, CURLINFO_OS_ERRNO, &os);
			h->curl->easy_getinfo(p->easy, CURLINFO_RESPONSE_CODE, &p->status);
			if (p->code != CURLE_OK)
				t = http_trouble_of(
				    p->code,
				    *p->error != '\0' ? p->error : h->curl->easy_strerror(p->code),
				    os, why);
			p->ended(p, t, why);
		}
	}
}

void
http_step(struct http *h)
{
	struct epoll_event ev[16];
	int n = epoll_wait(h->epoll, ev, 16, 0), running, i;
	CURLMsg *m;

	for (i = 0; i < n; i++) {
		int what = ((ev[i].events & EPOLLIN) != 0 ? CURL_CSELECT_IN : 0) |
			   ((ev[i].events & EPOLLOUT) != 0 ? CURL_CSELECT_OUT : 0) |
			   ((ev[i].events & (EPOLLERR | EPOLLHUP)) != 0 ? CURL_CSELECT_ERR : 0);

		h->curl->multi_socket_action(h->multi, ev[i].data.fd, what, &running);
	}
	if (h->due <= flki_boottime_ns()) {
		h->due = UINT64_MAX; /* libcurl sets it again if it needs to */
		h->curl->multi_socket_action(h->multi, CURL_SOCKET_TIMEOUT, 0, &running);
	}
	while ((m = h->curl->multi_info_read(h->multi, &running)) != NULL) {
		struct post *p = NULL;

		if (m->msg != CURLMSG_DONE)
			continue;
		h->curl->easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, (char **)&p);
		p->over = true;
		p->code = m->data.result;
		make_ready(p);
	}
	call_starters(h);
}

/* ---- a post -------------------------------------------------------------------------------- */

/*
 * No redirects, no proxies, no ~/.netrc.  No HTTP/2: its streams would share a connection, and to
 * end a watch is to close a connection.
 */
static void
set_transport(const struct http *h, const struct post *p)
{
	const struct latecurl *curl = h->curl;
	CURL *easy = p->easy;

	curl->easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	curl->easy_setopt(easy, CURLOPT_TCP_NODELAY, 1L);
	curl->easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
	curl->easy_setopt(easy, CURLOPT_TCP_KEEPIDLE, KEEPALIVE_S);
	curl->easy_setopt(easy, CURLOPT_TCP_KEEPINTVL, KEEPALIVE_S);
	curl->easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
	curl->easy_setopt(easy, CURLOPT_NOPROXY, "*");
	curl->easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	curl->easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)p->connect_ms);
	curl->easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)p->timeout_ms);
	if (h->tls.cacert != NULL) {
		curl->easy_setopt(easy, CURLOPT_CAINFO, h->tls.cacert);
#if LIBCURL_VERSION_NUM >= 0x075700
		/* Without this, a new file would have no effect for a day. */
		curl->easy_setopt(easy, CURLOPT_CA_CACHE_TIMEOUT, 0L);
#endif
	}
	if (h->tls.cert != NULL)
		curl->easy_setopt(easy, CURLOPT_SSLCERT, h->tls.cert);
	if (h->tls.key != NULL)
		curl->easy_setopt(easy, CURLOPT_SSLKEY, h->tls.key);
}

static bool
add_line(struct http *h, struct curl_slist **list, const char *line)
{
	struct curl_slist *l = h->curl->slist_append(*list, line);

	if (l != NULL)
		*list = l;
	return l != NULL;
}

/*
 * Without "hasleader" a server that has lost the others lets calls and watches hang.  With "Expect"
 * libcurl would ask before a long body, and lose a round trip.
 */
static bool
set_headers(struct http *h, struct post *p)
{
	bool made = add_line(h, &p->headers, "Content-Type: application/json") &&
		    add_line(h, &p->headers, "Grpc-Metadata-hasleader: true") &&
		    add_line(h, &p->headers, "Expect:");
	char *line;

	if (!made || p->token == NULL)
		return made;
	if (asprintf(&line, "Authorization: %s", p->token) == -1)
		return false;
	made = add_line(h, &p->headers, line);
	explicit_bzero(line, strlen(line));
	free(line);
	return made;
}

static bool
set_address(struct http *h, struct post *p)
{
	if (p->address == NULL)
		return true;
	if (!add_line(h, &p->resolve, p->dropped) || !add_line(h, &p->resolve, p->address) ||
	    !add_line(h, &p->connect, p->through))
		return false;
	h->curl->easy_setopt(p->easy, CURLOPT_RESOLVE, p->resolve);
	h->curl->easy_setopt(p->easy, CURLOPT_CONNECT_TO, p->connect);
	return true;
}

bool
http_post(struct http *h, struct post *p)
{
	const struct latecurl *curl = h->curl;

	p->http = h;
	p->easy = curl->easy_init();
	if (p->easy == NULL || !set_headers(h, p) || !set_address(h, p))
		return false;
	set_transport(h, p);
	curl->easy_setopt(p->easy, CURLOPT_URL, p->url);
	curl->easy_setopt(p->easy, CURLOPT_POST, 1L);
	curl->easy_setopt(p->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)p->size);
	curl->easy_setopt(p->easy, CURLOPT_READFUNCTION, give);
	curl->easy_setopt(p->easy, CURLOPT_READDATA, p);
	curl->easy_setopt(p->easy, CURLOPT_WRITEFUNCTION, take);
	curl->easy_setopt(p->easy, CURLOPT_WRITEDATA, p);
	curl->easy_setopt(p->easy, CURLOPT_HTTPHEADER, p->headers);
	curl->easy_setopt(p->easy, CURLOPT_ERRORBUFFER, p->error);
	curl->easy_setopt(p->easy, CURLOPT_PRIVATE, p);
	return curl->multi_add_handle(h->multi, p->easy) == CURLM_OK;
}

void
http_drop(struct post *p)
{
	struct http *h = p->http;

	if (h != NULL) {
		if (p->ready)
			TAILQ_REMOVE(&h->ready, p, link);
		if (p->easy != NULL) {
			h->curl->multi_remove_handle(h->multi, p->easy);
			h->curl->easy_cleanup(p->easy);
		}
		h->curl->slist_free_all(p->headers);
		h->curl->slist_free_all(p->resolve);
		h->curl->slist_free_all(p->connect);
	}
	free(p->answer);
	free(p->body);
	memset(p, 0, sizeof(*p));
}
