/* SPDX-License-Identifier: ISC */
/*
 * view.c - the rule by which a permit is granted, against the words of the manual; and that what
 * others wrote into the store is read as what it is, or as nothing.
 */
#include "protocol/starts.h"
#include "protocol/view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../helpers/tap.h"
#include "protocol/look.h"
#include "protocol/round.h"

#define MOST 8

static struct view *v; /* as people see it */
static struct look *l; /* as takers do */

static void
begin(int64_t override)
{
	size_t n = v->holders + v->waiters;

	memset(v, 0, sizeof(*v) + n * sizeof(v->entry[0]));
	look_free(l);
	l->config.override = v->set.override = override;
}

static void
holds(uint32_t weight, uint32_t limit, uint32_t seat)
{
	struct look_taker *h = look_add_holder(l);

	if (h == NULL)
		tap_bail("no memory");
	h->record = (struct record){ .weight = weight, .limit = limit, .seat = seat };
	v->entry[v->holders++] =
	    (struct view_entry){ .weight = weight, .limit = limit, .seat = seat, .holds = true };
}

/* What the head of the line is granted; weight 0: nothing. */
static struct record
granted(uint32_t weight, uint32_t limit)
{
	struct look_taker head = { .self = "0123456789abcdef", .created = 9 };
	struct look look = *l;
	struct round r;

	head.record = (struct record){ .weight = weight, .limit = limit, .life = "1" };
	look.config = v->set;
	look.waiter = &head;
	look.waiters = look.in_line = 1;
	round_plan(&r, &look, NULL, false, 128);
	return r.n == 1 ? r.grant[0].record : (struct record){ .weight = 0 };
}

static bool
fits(uint32_t weight, uint32_t limit, uint32_t under)
{
	struct record r = granted(weight, limit);

	return r.weight == weight && r.under == under;
}

static bool
fits_not(uint32_t weight, uint32_t limit)
{
	return granted(weight, limit).weight == 0;
}

static void
the_rule(void)
{
	begin(FLK_AUTO);
	ok(fits(3, 3, 3), "an empty limiter takes all of its limit");
	ok(fits(1, 0, 1), "whose limit is one if nobody ever said another");
	v->set.declared = 5;
	ok(fits(5, 0, 5), "or the last that was declared");
	holds(2, 4, 0);
	ok(fits(2, 9, 9), "the sum may reach the limit of one who holds");
	ok(fits_not(3, 9), "and not pass it");
	ok(fits_not(1, 2), "nor that of the one who comes");
	v->set.paused = true;
	ok(fits_not(1, 9), "nothing starts while it is paused");
	v->set.paused = false;
	v->set.closed = true;
	ok(fits_not(1, 9), "or closed");
}

static void
overridden(void)
{
	begin(6);
	holds(2, 2, 0);
	ok(fits(4, 1, 6), "an operator's limit is over every other");
	ok(fits_not(5, 9), "and holds");
	v->set.override = 0;
	ok(fits_not(1, 9), "none starts at 0");
	begin(2);
	ok(fits(7, 9, 2), "a weight above it runs alone");
	holds(7, 9, 0);
	ok(fits_not(1, 9), "alone");
	v->set.override = FLK_MAX_UNITS + INT64_C(5);
	is(view_limit(v), FLK_MAX_UNITS, "no limit is above the largest");
}

static void
in_force(void)
{
	begin(FLK_AUTO);
	is(view_limit(v), 0, "no limit is in force where none was ever declared");
	v->set.declared = 7;
	is(view_limit(v), 7, "the one declared last is, where nobody is");
	holds(1, 5, 0);
	holds(1, 6, 2);
	is(view_limit(v), 5, "or the smallest of those who hold");
	v->entry[v->holders].limit = 3;
	v->waiters = 1;
	is(view_limit(v), 3, "and of the first in the line");
	v->set.override = 9;
	is(view_limit(v), 9, "or an operator's");
	is(view_used(v), 2, "what is used is the sum of the weights");
	v->set.override = FLK_AUTO;
	is(granted(1, 9).seat, 1, "the smallest seat is taken that is free");
}

/* The same numbers each time. */
static uint32_t
next(void)
{
	static uint64_t state = 7;

	state = state * 6364136223846793005 + 1442695040888963407;
	return (uint32_t)(state >> 33);
}

/* Whatever is granted by the rule keeps the promise to each who holds. */
static void
at_random(void)
{
	unsigned round, broken = 0, idle = 0, seats = 0;

	for (round = 0; round < 20000; round++) {
		uint32_t weight = next() % 5 + 1, limit = next() % 9 + weight;
		uint32_t least = limit;
		struct record r;
		uint64_t sum = weight;
		bool fit;
		size_t i;

		if (round % 64 == 0)
			begin(FLK_AUTO);
		if (v->holders == MOST || (v->holders > 0 && next() % 2 == 0)) {
			i = next() % v->holders;
			v->entry[i] = v->entry[--v->holders];
			l->holder[i] = l->holder[--l->holders];
		}
		for (i = 0; i < v->holders; i++) {
			sum += v->entry[i].weight;
			least = v->entry[i].limit < least ? v->entry[i].limit : least;
		}
		r = granted(weight, limit);
		fit = r.weight != 0;
		broken += fit && sum > least;
		idle += !fit && sum <= least;
		for (i = 0; fit && i < v->holders; i++)
			seats += v->entry[i].seat == r.seat;
		if (fit)
			holds(weight, limit, r.seat);
	}
	is(broken, 0, "no promise is broken");
	is(idle, 0, "and nothing is idle that need not be");
	is(seats, 0, "and no seat is given twice");
}

/* ---- what stands in the keys ---- */

static bool
reads(const char *text, struct record *r)
{
	return record_decode(r, text, strlen(text));
}

static void
records(void)
{
	struct record r = { .weight = 3,
			    .limit = 8,
			    .under = 5,
			    .seat = 2,
			    .ticket = 77,
			    .ttl_s = 10,
			    .grace_s = 7,
			    .manual = true,
			    .since_ms = 1700000000123,
			    .life = "0123456789abcdef" },
		      back = { 0 };
	char text[RECORD_TEXT];
	size_t n = record_encode(text, &r);

	ok(n == strlen(text) && reads(text, &back), "a record is read again");
	ok(back.weight == 3 && back.limit == 8 && back.under == 5 && back.seat == 2 &&
	       back.ticket == 77 && back.ttl_s == 10 && back.grace_s == 7 && back.manual &&
	       back.since_ms == r.since_ms && strcmp(back.life, r.life) == 0,
	   "as it was written");
	r.weight = r.limit = r.under = r.seat = FLK_MAX_UNITS;
	r.ttl_s = UINT32_MAX;
	r.grace_s = UINT32_MAX - 1;
	r.ticket = INT64_MAX;
	r.since_ms = INT64_MAX / 1000000;
	ok(record_encode(text, &r) < sizeof(text) && reads(text, &back), "the longest one, too");
	ok(!reads("", &back) && !reads("3", &back) &&
	       !reads("2 1 1 1 0 0 10 7 0 0 0123456789abcdef", &back) &&
	       !reads("3 0 1 1 0 0 10 7 0 0 0123456789abcdef", &back) &&
	       !reads("3 1 -1 1 0 0 10 7 0 0 0123456789abcdef", &back) &&
	       !reads("3 1 1 1 0 0 0 7 0 0 0123456789abcdef", &back) &&
	       !reads("3 1 1 1 0 0 10 7 2 0 0123456789abcdef", &back) &&
	       !reads("3 1 1x 1 0 0 10 7 0 0 0123456789abcdef", &back) &&
	       !reads("3 1 1 1 0 0 10 7 0 0 0123456789ABCDEF", &back) &&
	       !reads("3 1 1 1 0 0 10 7 0 0 0123456789abcde", &back) &&
	       !reads("3 1 1 1 0 0 10 7 0 0", &back),
	   "what makes no sense is not read");
	ok(back.weight == FLK_MAX_UNITS && back.limit == 1 && back.manual,
	   "and counts as one who holds everything");
}

static void
people(void)
{
	struct person p = { .pid = 12,
			    .uid = 34,
			    .role = FLK_KEEPER,
			    .host = "here",
			    .command = "make \"-j4\" \xff" },
		      back = { 0 };
	char *text = person_encode(&p);

	ok(text != NULL && person_decode(&back, text, strlen(text)) && back.pid == 12 &&
	       back.uid == 34 && back.role == FLK_KEEPER && strcmp(back.host, "here") == 0,
	   "who a taker is is read again");
	ok(strcmp(back.command, "make \"-j4\" ?") == 0, "but for bytes that JSON can't hold");
	free(text);
	ok(!person_decode(&back, "[]", 2) && !person_decode(&back, "{\"v\":2}", 7) &&
	       !person_decode(&back, "{\"v\":1,\"role\":9}", 16) && back.pid == 0,
	   "what makes no sense is nobody");
}

static void
configs(void)
{
	struct flk_settings c = { .declared = 4, .override = 0, .paused = true, .closed = true },
			    back;
	char *text = config_encode(&c, NULL);

	ok(text != NULL && config_decode(&back, text, strlen(text)) && back.declared == 4 &&
	       back.override == 0 && back.paused && back.closed,
	   "a limiter can be closed and paused at once");
	free(text);
	ok(config_decode(&back, "{\"v\":3}", 7) && back.override == FLK_AUTO && !back.paused &&
	       !back.closed,
	   "and be neither");
	ok(!config_decode(&back, "{\"v\":3,\"closed\":\"ajar\"}", 23), "but nothing else");
	ok(!config_decode(&back, "{\"v\":2}", 7) && !config_decode(&back, "{\"v\":5}", 7),
	   "nor is one of another version gone by");
	ok(strstr(config_trouble("{\"v\":5}", 7), "newer") != NULL &&
	       config_trouble("{\"v\":3}", 7) == NULL && config_trouble("{\"v\":0}", 7) == NULL &&
	       config_trouble("x", 1) == NULL && config_trouble(NULL, 0) == NULL,
	   "a version to come is told apart from nonsense");
}

static void
paces(void)
{
	struct flk_settings c = { .override = FLK_AUTO,
				  .pace = { .interval_ns = 2000000000,
					    .burst = 3,
					    .stagger_ns = 5,
					    .ramp_from = 1,
					    .ramp_step = 2,
					    .ramp_period_ns = 3000000,
					    .ramp_idle_ns = 7 } },
			    back;
	char *text = config_encode(&c, NULL);

	ok(text != NULL && strstr(text, "\"v\":4") != NULL,
	   "one with a pace has a version of its own");
	ok(config_decode(&back, text, strlen(text)) && starts_same_pace(&c.pace, &back.pace),
	   "a pace is read again");
	free(text);
	ok(!config_decode(&back, "{\"v\":4,\"pace\":{\"burst\":65536}}", 30),
	   "but no burst of 65536");
}

/* What the starts have used of a pace. */
static void
counts(void)
{
	static const char *const bad[] = {
		"",          "1",        "1 2",      "1 2 3",    "2 1 2 3",
		"1 2 3 4 5", "1 2 3 4x", "1 -2 3 4", "1 2  3 4", "1 99999999999999999999 3 4"
	};
	struct record_kv kv = { .changed = 9 };
	struct starts s;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		kv.value = strdup(bad[i]);
		kv.value_size = strlen(bad[i]);
		s = (struct starts){ .free_ns = 77 };
		ok(!starts_read(&s, 'a', &kv) && s.free_ns == 0 && s.changed == 9,
		   "what makes no sense counts nothing: '%s'", bad[i]);
		free(kv.value);
	}
	kv.value = strdup("1 2 3 4");
	kv.value_size = 7;
	ok(starts_read(&s, 'a', &kv) && s.free_ns == 2 && s.last_ns == 3 && s.ramp_since_ns == 4,
	   "and the rest is read");
	free(kv.value);
}

static void
keys(void)
{
	static struct url url = { .path = "/team" };
	struct key base = key_base(&url), limiter = key_limiter(&base, "lim"), from, end, k;
	char self[STORE_SELF];

	k = key_of(&limiter, 'h', "0123456789abcdef");
	ok(strcmp(k.s, "/team/lim/cfg//h/0123456789abcdef") == 0, "a permit's key");
	ok(key_parse(&limiter, k.s, self) == 'h' && strcmp(self, "0123456789abcdef") == 0,
	   "is told from others");
	key_watched(&limiter, &from, &end);
	ok(strcmp(from.s, k.s) < 0 && strcmp(k.s, end.s) < 0, "and lies in what the first watches");
	ok(strcmp(from.s, limiter.s) <= 0, "where the limiter's state does, too");
	k = key_of(&limiter, 'w', "0123456789abcdef");
	ok(strcmp(k.s, end.s) > 0, "and the line does not");
	key_whole(&limiter, &from, &end);
	ok(strcmp(from.s, k.s) < 0 && strcmp(k.s, end.s) < 0, "but that is the limiter's");
	k = key_of(&limiter, 'm', "0123456789abcdef");
	ok(strcmp(from.s, k.s) < 0 && strcmp(k.s, end.s) < 0 &&
	       key_parse(&limiter, k.s, self) == 'm',
	   "and so is what is remembered");
	ok(key_parse(&limiter, "/team/lim/cfg//h/0123456789ABCDEF", self) == '?' &&
	       key_parse(&limiter, "/team/lim/cfg//h/0123", self) == '?' &&
	       key_parse(&limiter, "/team/lim/cfg//y/0123456789abcdef", self) == '?' &&
	       key_parse(&limiter, "/team/lim/cfg//", self) == '?',
	   "what is none of ours is not taken for it");
	ok(key_parse(&limiter, "/team/other/cfg//h/0123456789abcdef", self) == 0 &&
	       key_parse(&limiter, "/team/lim/cfg/h/0123456789abcdef", self) == 0 &&
	       key_parse(&limiter, "/team/lim/cfg-x/cfg", self) == 0 &&
	       key_parse(&limiter, "/team/lim/h/0123456789abcdef", self) == 0,
	   "nor what is another limiter's");
	ok(key_parse(&limiter, "/team/lim/cfg", self) == 'c', "and how it is steered is known");
	ok(key_parse(&limiter, "/team/lim/cfg//tail", self) == 'z', "and who came last");
	ok(key_parse(&limiter, "/team/lim/cfg//bell", self) == 'b', "and who left");
	ok(key_parse(&limiter, "/team/lim/cfg//batch", self) == 'f', "and who is next");
}

static void
ends(void)
{
	char longest[KEY_MAX + 8];
	struct key k = key_after("/a/");

	ok(strcmp(k.s, "/a0") == 0, "the end of what begins with /a/");
	k = key_after("a\xff\xff");
	ok(strcmp(k.s, "b") == 0, "the end of what begins with the last there is");
	memset(longest, 'a', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	k = key_after(longest);
	ok(strlen(k.s) < KEY_MAX - 1 && strcmp(k.s, longest) > 0,
	   "of what is too long to be a key");
}

/* Kinds, digits, and what sorts before and behind a slash. */
static const char *const words[] = { "cfg", "h",     "w",     "tail", "0123456789abcdef",
				     "%",   "cfg-x", "cfg%2F" };

#define WORDS (sizeof(words) / sizeof(words[0]))

static void
path_of(char path[100], unsigned n)
{
	strcpy(path, "/team");
	for (; n > 0; n /= WORDS + 1)
		if (n % (WORDS + 1) > 0)
			strcat(strcat(path, "/"), words[n % (WORDS + 1) - 1]);
}

static bool
begins_with(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

static bool
is_in(const struct key *k, const struct key *prefix)
{
	struct key end = key_end(prefix);

	return strcmp(k->s, prefix->s) >= 0 && strcmp(k->s, end.s) < 0;
}

/* No key of y is x's, nor among what x deletes, compares and counts. */
static bool
are_apart(const struct key *x, const struct key *y)
{
	static const char kinds[] = "ehlpstwx";
	struct key k, prefix, tail = key_tail(x);
	char self[STORE_SELF];
	const char *kind, *of;

	for (kind = kinds; *kind != '\0'; kind++) {
		k = key_of(y, *kind, "0123456789abcdef");
		if (key_parse(x, k.s, self) != 0 || strcmp(k.s, tail.s) == 0)
			return false;
		for (of = kinds; *of != '\0'; of++) {
			prefix = key_of(x, *of, NULL);
			if (is_in(&k, &prefix) || is_in(y, &prefix))
				return false;
		}
	}
	tail = key_tail(y);
	return key_parse(x, y->s, self) == 0 && key_parse(x, tail.s, self) == 0;
}

/* All names below both paths; how many pairs of limiters are not apart. */
static unsigned
nested_in(const char *outer, const char *inner)
{
	struct url url[2] = { { .path = outer }, { .path = inner } };
	struct key base[2] = { key_base(&url[0]), key_base(&url[1]) };
	unsigned n, bad = 0;

	for (n = 0; n < WORDS * WORDS; n++) {
		struct key x = key_limiter(&base[0], words[n % WORDS]);
		struct key y = key_limiter(&base[1], words[n / WORDS]);

		if (strcmp(x.s, y.s) == 0 || (are_apart(&x, &y) && are_apart(&y, &x)))
			continue;
		if (bad++ == 0)
			tap_note("%s and %s", x.s, y.s);
	}
	return bad;
}

static void
nested(void)
{
	const unsigned paths = (WORDS + 1) * (WORDS + 1);
	unsigned i, j, bad = 0, pairs = 0;
	char outer[100], inner[100];

	for (i = 0; i < paths; i++)
		for (j = 0; j < paths; j++) {
			path_of(outer, i);
			path_of(inner, j);
			if (!begins_with(inner, outer))
				continue;
			pairs++;
			bad += nested_in(outer, inner);
		}
	is(bad, 0, "limiters of %u pairs of paths that nest have no key in common", pairs);
}

int
main(void)
{
	v = calloc(1, sizeof(*v) + (MOST + 1) * sizeof(v->entry[0]));
	l = calloc(1, sizeof(*l));
	if (v == NULL || l == NULL)
		tap_bail("no memory");
	the_rule();
	overridden();
	in_force();
	at_random();
	records();
	people();
	configs();
	paces();
	counts();
	keys();
	ends();
	nested();
	look_free(l);
	free(l);
	free(v);
	return tap_done();
}
