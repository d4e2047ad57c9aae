/* SPDX-License-Identifier: ISC */
/*
 * record.c - see record.h.
 */
#include "record.h"

#include <jansson.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "setting.h"

void
record_host(char host[STORE_HOST])
{
	if (gethostname(host, STORE_HOST) == -1)
		host[0] = '\0';
	host[STORE_HOST - 1] = '\0';
}

void
culprit_me(struct culprit *me)
{
	*me = (struct culprit){ .pid = (uint32_t)getpid(), .uid = (uint32_t)getuid() };
	record_host(me->host);
}

int64_t
record_now_ms(void)
{
	return (int64_t)(flki_clock_ns(CLOCK_REALTIME) / MS);
}

/* Bounds for numbers that others wrote: below these, our sums can't overflow. */
#define MOST_MS    (INT64_MAX / 1000000)
#define MOST_GRACE (UINT32_MAX - 1)

/* ---- writing ---- */

static void
put_number(json_t *o, const char *name, int64_t n)
{
	if (n != 0)
		json_object_set_new(o, name, json_integer(n));
}

/* JSON holds only UTF-8; in any other text, each byte that is not ASCII becomes a '?'. */
static void
put_text(json_t *o, const char *name, const char *text)
{
	char plain[STORE_HOST > FLK_COMMAND ? STORE_HOST : FLK_COMMAND];
	json_t *s = json_string(text);
	size_t i;

	if (s == NULL) {
		for (i = 0; i < sizeof(plain) - 1 && text[i] != '\0'; i++)
			plain[i] = (signed char)text[i] < 0 ? '?' : text[i];
		plain[i] = '\0';
		s = json_string(plain);
	}
	json_object_set_new(o, name, s);
}

static char *
finished(json_t *o)
{
	char *made = json_dumps(o, JSON_COMPACT);

	json_decref(o);
	return made;
}

char *
record_encode(const struct record *r, bool holds)
{
	json_t *o = json_object();

	put_number(o, "v", RECORD_VERSION);
	put_number(o, "w", r->weight);
	put_number(o, "n", r->limit);
	put_text(o, "host", r->host);
	put_number(o, "pid", r->pid);
	put_number(o, "uid", r->uid);
	put_number(o, "role", (int64_t)r->role);
	put_text(o, "cmd", r->command);
	put_number(o, "ttl", r->ttl_s);
	put_number(o, "grace", r->grace_s);
	put_number(o, "since", r->since_ms);
	if (r->manual)
		json_object_set_new(o, "manual", json_true());
	if (holds) {
		put_number(o, "ticket", (int64_t)r->ticket);
		json_object_set_new(o, "seat", json_integer(r->seat));
		put_number(o, "under", r->under);
	}
	return finished(o);
}

static json_t *
culprit_json(const struct culprit *c)
{
	json_t *o = json_object();

	put_number(o, "v", RECORD_VERSION);
	put_number(o, "pid", c->pid);
	put_number(o, "uid", c->uid);
	put_text(o, "host", c->host);
	return o;
}

char *
culprit_encode(const struct culprit *c)
{
	return finished(culprit_json(c));
}

char *
config_encode(const struct flk_settings *c, const struct culprit *by)
{
	const struct flki_number *n;
	json_t *o = json_object();

	put_number(o, "v", CONFIG_VERSION);
	for (n = flki_numbers; n < flki_numbers + FLKI_NUMBERS; n++) {
		int64_t value = flki_number_get(n, c);
		if (value != n->none)
			json_object_set_new(
			    o, n->name, n->kind == FLKI_SWITCH ? json_true() : json_integer(value));
	}
	if (by != NULL)
		json_object_set_new(o, "by", culprit_json(by));
	return finished(o);
}

char *
status_encode(int32_t status)
{
	json_t *o = json_object();

	put_number(o, "v", RECORD_VERSION);
	json_object_set_new(o, "status", json_integer(status));
	return finished(o);
}

/* ---- reading ---- */

/* Absent is 0; *good stays true only if it is a number from min to max. */
static int64_t
number(const json_t *o, const char *name, int64_t min, int64_t max, bool *good)
{
	const json_t *v = json_object_get(o, name);
	int64_t n = v == NULL ? 0 : json_integer_value(v);

	if ((v != NULL && !json_is_integer(v)) || n < min || n > max) {
		*good = false;
		return min;
	}
	return n;
}

static uint32_t
small(const json_t *o, const char *name, uint32_t min, uint32_t max, bool *good)
{
	return (uint32_t)number(o, name, min, max, good);
}

void
record_tame(char *said)
{
	unsigned char *p = (unsigned char *)said;

	for (; *p != '\0'; p++) {
		if (*p < ' ' || *p == 0x7f)
			*p = '?';
		else if (*p == 0xc2 && p[1] >= 0x80 && p[1] <= 0x9f)
			*p = p[1] = '?';
	}
}

static void
read_text(const json_t *o, const char *name, char *room, size_t size)
{
	const char *s = json_string_value(json_object_get(o, name));
	size_t n = s == NULL ? 0 : strlen(s);

	if (n >= size) {
		/* Never in the middle of a character. */
		for (n = size - 1; n > 0 && ((unsigned char)s[n] & 0xc0) == 0x80; n--)
			;
	}
	if (n > 0)
		memcpy(room, s, n);
	room[n] = '\0';
	record_tame(room);
}

static json_t *
opened(const char *value, size_t size, int64_t version)
{
	json_t *o = value == NULL ? NULL : json_loadb(value, size, 0, NULL);

	if (o != NULL &&
	    (!json_is_object(o) || json_integer_value(json_object_get(o, "v")) != version)) {
		json_decref(o);
		return NULL;
	}
	return o;
}

bool
record_decode(struct record *r, const char *value, size_t size)
{
	json_t *o = opened(value, size, RECORD_VERSION);
	bool good = o != NULL;

	memset(r, 0, sizeof(*r));
	if (o != NULL) {
		r->weight = small(o, "w", 1, FLK_MAX_UNITS, &good);
		r->limit = small(o, "n", 0, FLK_MAX_UNITS, &good);
		r->under = small(o, "under", 0, FLK_MAX_UNITS, &good);
		r->seat = small(o, "seat", 0, UINT32_MAX, &good);
		r->ticket = (uint64_t)number(o, "ticket", 0, INT64_MAX, &good);
		r->pid = small(o, "pid", 0, UINT32_MAX, &good);
		r->uid = small(o, "uid", 0, UINT32_MAX, &good);
		r->ttl_s = small(o, "ttl", 1, UINT32_MAX, &good);
		r->grace_s = small(o, "grace", 0, MOST_GRACE, &good);
		r->since_ms = number(o, "since", 0, MOST_MS, &good);
		r->role = (enum flk_role)small(o, "role", 0, FLK_CARRIED, &good);
		r->manual = json_is_true(json_object_get(o, "manual"));
		read_text(o, "host", r->host, sizeof(r->host));
		read_text(o, "cmd", r->command, sizeof(r->command));
	}
	if (!good) {
		r->weight = FLK_MAX_UNITS;
		r->limit = 1;
		r->manual = true;
	}
	json_decref(o);
	return good;
}

bool
config_decode(struct flk_settings *c, const char *value, size_t size)
{
	json_t *o = opened(value, size, CONFIG_VERSION);
	bool good = o != NULL;
	const struct flki_number *n;
	const json_t *v;

	*c = flki_no_settings;
	for (n = flki_numbers; n < flki_numbers + FLKI_NUMBERS; n++) {
		if ((v = json_object_get(o, n->name)) == NULL)
			continue;
		if (n->kind != FLKI_SWITCH)
			flki_number_put(n, c, number(o, n->name, n->least, n->most, &good));
		else if (json_is_boolean(v))
			flki_number_put(n, c, json_is_true(v));
		else
			good = false;
	}
	json_decref(o);
	return good;
}

const char *
config_trouble(const char *value, size_t size)
{
	json_t *o = value == NULL ? NULL : json_loadb(value, size, 0, NULL);
	int64_t version = json_integer_value(json_object_get(o, "v"));

	json_decref(o);
	return version > CONFIG_VERSION ? "is of a newer flocklimit than this one: use that" : NULL;
}

static bool
read_culprit(struct culprit *c, const json_t *o)
{
	bool good = json_integer_value(json_object_get(o, "v")) == RECORD_VERSION;

	memset(c, 0, sizeof(*c));
	if (good) {
		c->pid = small(o, "pid", 0, UINT32_MAX, &good);
		c->uid = small(o, "uid", 0, UINT32_MAX, &good);
		read_text(o, "host", c->host, sizeof(c->host));
	}
	return good;
}

bool
culprit_decode(struct culprit *c, const char *value, size_t size)
{
	json_t *o = value == NULL ? NULL : json_loadb(value, size, 0, NULL);
	bool good = read_culprit(c, o);

	json_decref(o);
	return good;
}

bool
config_signer(struct culprit *by, const char *value, size_t size)
{
	json_t *o = value == NULL ? NULL : json_loadb(value, size, 0, NULL);
	bool good = read_culprit(by, json_object_get(o, "by"));

	json_decref(o);
	return good;
}

int32_t
status_decode(const char *value, size_t size)
{
	json_t *o = opened(value, size, RECORD_VERSION);
	bool good = json_object_get(o, "status") != NULL;
	int32_t status = (int32_t)number(o, "status", INT32_MIN, INT32_MAX, &good);

	json_decref(o);
	return good ? status : FLK_UNKNOWN;
}
