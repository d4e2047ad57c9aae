/* SPDX-License-Identifier: ISC */
/*
 * takers.c - takers of a store, driven by lines on stdin; each event is a line on stdout.
 *
 *	takers [-l LIFE | -L LIFE] URL LIMITER [TTL [GRACE [manual]]]
 *
 * All of them share a life: LIFE, 16 hexadecimal digits, else a new one.  With -L, others had it before.
 *
 *	new NAME [SELF]         a taker; SELF: 16 hexadecimal digits, else made of the name
 *	limiter LIMITER         takers that are made from now on are of that one
 *	close LIMITER           closes it, and frees its takers
 *	enter NAME [w=W] [n=N] [fallback=N] [queue=M] [nowait]
 *	adopt NAME [held] [w=W] [n=N]
 *	leave NAME | release NAME | free NAME
 *	sleep MS                events go on meanwhile, lines wait
 *	wait NAME KIND          lines wait until NAME is told of KIND, from now on
 *	expect NAME KIND        the same, if it was not told of it already
 *	quit                    at once, whoever waits or holds
 *
 * At the end of the input it stays until no taker is left that waits or holds.
 */
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "protocol/fleet.h"

#define TAKERS    4096
#define LIMITERS  8
#define LINGER_MS 100

struct limiter {
	char name[32];
	struct fleet *fleet; /* NULL: it is closed */
};

struct driven {
	char name[32];
	struct limiter *limiter;
	struct fleet_taker *taker;
	unsigned told; /* of which kinds, as bits */
	bool busy;
};

static struct fleet_store *store;
static struct limiter limiters[LIMITERS], *chosen;
static struct driven all[TAKERS];
static size_t n_all;
static uint64_t started_ns, sleep_until;
static bool over;
static struct driven *awaited;
static unsigned awaited_kind;

static const char *const kinds[] = {
	[FLEET_QUEUED] = "QUEUED",     [FLEET_GRANTED] = "GRANTED", [FLEET_REFUSED] = "REFUSED",
	[FLEET_RENEWED] = "RENEWED",   [FLEET_LOST] = "LOST",       [FLEET_LEFT] = "LEFT",
	[FLEET_RELEASED] = "RELEASED", [FLEET_AWAY] = "AWAY",       [FLEET_BACK] = "BACK",
	[FLEET_NOTE] = "NOTE",
};

static uint64_t
now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void
told(void *context, const struct fleet_event *e)
{
	struct driven *d = context;
	uint64_t now = now_ns();

	printf("%.1f %s %s", (double)(now - started_ns) / 1e6, d->name, kinds[e->kind]);
	if (e->ticket != 0)
		printf(" ticket=%" PRIu64, e->ticket);
	if (e->kind == FLEET_GRANTED || e->kind == FLEET_RENEWED)
		printf(" weight=%" PRIu32 " limit=%" PRIu32 " seat=%" PRIu32 " age=%.0f", e->weight,
		       e->limit, e->seat, (double)(now - e->alive_ns) / 1e6);
	if (e->kind == FLEET_REFUSED)
		printf(" code=%d", e->code);
	if (e->pid != 0)
		printf(" by=%" PRIu32, e->pid);
	if (e->host != NULL && e->host[0] != '\0')
		printf(" host=%s", e->host);
	if (e->kind == FLEET_GRANTED)
		printf(" key=%s", e->key);
	if (e->text != NULL)
		printf(" %s", e->text);
	printf("\n");
	fflush(stdout);
	d->told |= 1u << e->kind;
	if (d == awaited && e->kind == (enum fleet_kind)awaited_kind)
		awaited = NULL;
	if (e->kind == FLEET_QUEUED || e->kind == FLEET_GRANTED)
		d->busy = true;
	if (e->kind == FLEET_REFUSED || e->kind == FLEET_LOST || e->kind == FLEET_LEFT ||
	    e->kind == FLEET_RELEASED)
		d->busy = false;
}

static void
fail(const char *what, const char *which)
{
	fprintf(stderr, "takers: %s: %s\n", what, which);
	exit(2);
}

/* Of the line, or the next one of it. */
static char *
next_word(char *line)
{
	static char *rest;

	return strtok_r(line, " \n", &rest);
}

static struct driven *
find(const char *name)
{
	size_t i;

	for (i = n_all; i > 0; i--)
		if (strcmp(all[i - 1].name, name) == 0)
			return &all[i - 1];
	fail("no such taker", name);
	return NULL;
}

/* The limiter of that name, which is open from then on. */
static struct limiter *
limiter_of(const char *name)
{
	struct limiter *l = limiters;

	while (l < limiters + LIMITERS && l->name[0] != '\0' && strcmp(l->name, name) != 0)
		l++;
	if (l == limiters + LIMITERS)
		fail("too many", name);
	strlcpy(l->name, name, sizeof(l->name));
	if (l->fleet == NULL && (l->fleet = fleet_open(store, name)) == NULL)
		fail("can't open", name);
	return l;
}

static void
close_limiter(struct limiter *l)
{
	size_t i;

	for (i = 0; i < n_all; i++)
		if (all[i].limiter == l) {
			all[i].taker = NULL;
			all[i].busy = false;
		}
	fleet_close(l->fleet);
	l->fleet = NULL;
}

static void
make(const char *name, const char *self)
{
	struct driven *d = &all[n_all];
	char digits[STORE_SELF];

	if (n_all == TAKERS)
		fail("too many", name);
	if (self == NULL) {
		snprintf(digits, sizeof(digits), "%08x%08x", (unsigned)getpid(),
			 (unsigned)(now_ns() & 0xfffff) << 12 | (unsigned)n_all);
		self = digits;
	}
	strlcpy(d->name, name, sizeof(d->name));
	d->limiter = chosen;
	if (fleet_taker_new(&d->taker, chosen->fleet, self, told, d) != 0)
		fail("can't make", name);
	n_all++;
}

static void
want(struct fleet_want *w, bool *held)
{
	const char *word;

	*held = false;
	*w = (struct fleet_want){ .weight = 1,
				  .role = FLK_WRAPPER,
				  .pid = getpid(),
				  .uid = getuid(),
				  .command = "drive" };
	while ((word = next_word(NULL)) != NULL) {
		const char *value = strchr(word, '=');
		uint32_t n = value == NULL ? 0 : (uint32_t)strtoul(value + 1, NULL, 10);
		if (strcmp(word, "nowait") == 0)
			w->no_wait = true;
		else if (strcmp(word, "held") == 0)
			*held = true;
		else if (strncmp(word, "w=", 2) == 0)
			w->weight = n;
		else if (strncmp(word, "n=", 2) == 0)
			w->limit = n;
		else if (strncmp(word, "fallback=", 9) == 0)
			w->fallback = n;
		else if (strncmp(word, "queue=", 6) == 0)
			w->limit_queue = true, w->max_queue = n;
		else
			fail("what is", word);
	}
}

static void
await(const char *name, const char *kind, bool before)
{
	struct driven *d = find(name);
	unsigned k;

	for (k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
		if (kind != NULL && strcmp(kinds[k], kind) == 0)
			break;
	if (k == sizeof(kinds) / sizeof(kinds[0]))
		fail("no such event", kind == NULL ? "" : kind);
	if (before && (d->told & 1u << k) != 0)
		return;
	awaited = d;
	awaited_kind = k;
}

/* False: no more lines. */
static bool
obey(char *line)
{
	const char *verb = next_word(line), *name = next_word(NULL);
	struct fleet_want w;
	bool held;

	if (verb == NULL)
		return true;
	if (strcmp(verb, "quit") == 0) {
		over = true;
		return false;
	}
	if (name == NULL)
		fail("of whom", verb);
	if (strcmp(verb, "new") == 0) {
		make(name, next_word(NULL));
	} else if (strcmp(verb, "limiter") == 0) {
		chosen = limiter_of(name);
	} else if (strcmp(verb, "close") == 0) {
		close_limiter(limiter_of(name));
	} else if (strcmp(verb, "enter") == 0) {
		want(&w, &held);
		find(name)->busy = true;
		fleet_enter(find(name)->taker, &w);
	} else if (strcmp(verb, "adopt") == 0) {
		want(&w, &held);
		find(name)->busy = true;
		fleet_adopt(find(name)->taker, &w, held);
	} else if (strcmp(verb, "leave") == 0) {
		fleet_leave(find(name)->taker);
	} else if (strcmp(verb, "release") == 0) {
		fleet_release(find(name)->taker);
	} else if (strcmp(verb, "free") == 0) {
		fleet_taker_free(find(name)->taker);
		find(name)->busy = false;
		find(name)->taker = NULL;
	} else if (strcmp(verb, "sleep") == 0) {
		sleep_until = now_ns() + strtoul(name, NULL, 10) * 1000000;
	} else if (strcmp(verb, "wait") == 0 || strcmp(verb, "expect") == 0) {
		await(name, next_word(NULL), verb[0] == 'e');
	} else {
		fail("what is", verb);
	}
	return true;
}

static bool
any_busy(void)
{
	size_t i;

	for (i = 0; i < n_all; i++)
		if (all[i].busy)
			return true;
	return false;
}

static int
patience(void)
{
	uint64_t due = fleet_store_due(store), now = now_ns();

	if (sleep_until != 0 && sleep_until < due)
		due = sleep_until;
	if (due <= now)
		return 0;
	return due - now > 3600 * UINT64_C(1000000000) ? -1 : (int)((due - now) / 1000000) + 1;
}

/* One read may bring several lines; those that must wait stay here. */
static char input[65536];
static size_t input_size;

static bool
take_line(void)
{
	char *end = memchr(input, '\n', input_size), line[512];
	size_t n;
	bool more;

	if (end == NULL || awaited != NULL || now_ns() < sleep_until)
		return false;
	sleep_until = 0;
	n = (size_t)(end - input) + 1;
	if (n >= sizeof(line))
		fail("too long", "a line");
	memcpy(line, input, n);
	line[n] = '\0';
	memmove(input, input + n, input_size - n);
	input_size -= n;
	more = obey(line);
	if (!more)
		input_size = 0;
	return more;
}

static void
drive(void)
{
	struct pollfd fds[] = { { .fd = fleet_store_fd(store), .events = POLLIN },
				{ .fd = STDIN_FILENO, .events = POLLIN } };

	while (!over && (fds[1].fd != -1 || input_size > 0 || any_busy())) {
		bool full = input_size == sizeof(input);
		struct pollfd kept = fds[1];
		if (full)
			fds[1].fd = -1;
		if (poll(fds, 2, patience()) == -1)
			fail("poll", "failed");
		if (!full && fds[1].fd != -1 && fds[1].revents != 0) {
			ssize_t n =
			    read(STDIN_FILENO, input + input_size, sizeof(input) - input_size);
			if (n <= 0)
				kept.fd = -1;
			else
				input_size += (size_t)n;
		}
		fds[1] = kept;
		fleet_store_step(store);
		while (take_line())
			;
	}
}

/* A fleet ends its lease in the background. */
static void
linger(void)
{
	struct pollfd fd = { .fd = fleet_store_fd(store), .events = POLLIN };
	uint64_t end = now_ns() + LINGER_MS * UINT64_C(1000000);

	while (now_ns() < end) {
		poll(&fd, 1, 10);
		fleet_store_step(store);
	}
}

int
main(int argc, char **argv)
{
	struct fleet_options o = { .ttl_s = 10, .grace_s = 7 };
	static struct url url;
	char why[FLEET_TEXT];
	const char *wrong;

	if (argc > 2 && (strcmp(argv[1], "-l") == 0 || strcmp(argv[1], "-L") == 0)) {
		o.life = argv[2];
		o.heir = argv[1][1] == 'L';
		argv += 2;
		argc -= 2;
	}
	if (argc < 3)
		fail("usage", "takers [-l LIFE | -L LIFE] URL LIMITER [TTL [GRACE [manual]]]");
	if ((wrong = url_parse(&url, argv[1])) != NULL)
		fail("bad URL", wrong);
	o.url = &url;
	if (argc > 3)
		o.ttl_s = (uint32_t)strtoul(argv[3], NULL, 10);
	if (argc > 4)
		o.grace_s = (uint32_t)strtoul(argv[4], NULL, 10);
	o.manual = argc > 5;
	started_ns = now_ns();
	if (fleet_store_open(&store, &o, why) != 0)
		fail("can't open", why);
	chosen = limiter_of(argv[2]);
	drive();
	if (!over)
		linger();
	fleet_store_close(store);
	return 0;
}
