/* SPDX-License-Identifier: ISC */
/*
 * record.c - see record.h.
 */
#include "record.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "keys.h"
#include "machine.h"
#include "record_json.h"
#include "setting.h"
#include "starts.h"

void
person_me(struct person *me)
{
	*me = (struct person){ .pid = (uint32_t)getpid(), .uid = (uint32_t)getuid() };
	machine_name(me->host);
}

int64_t
record_now_ms(void)
{
	return (int64_t)(flki_clock_ns(CLOCK_REALTIME) / MS);
}

#define MOST_GRACE (UINT32_MAX - 1) /* as MOST_MS */

/* ---- writing ---- */

void
json_put_number(json_t *o, const char *name, int64_t n)
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

char *
json_finished(json_t *o)
{
	char *made = json_dumps(o, JSON_COMPACT);

	json_decref(o);
	return made;
}

/* "3 WEIGHT LIMIT UNDER SEAT TICKET TTL GRACE MANUAL SINCE LIFE", and of a fair limiter " KEY SHARE" */
size_t
record_encode(char text[RECORD_TEXT], const struct record *r)
{
	int n = snprintf(text, RECORD_TEXT,
			 "%d %" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu64 " %" PRIu32
			 " %" PRIu32 " %d %" PRId64 " %s",
			 RECORD_VERSION, r->weight, r->limit, r->under, r->seat, r->ticket,
			 r->ttl_s, r->grace_s, r->manual, r->since_ms, r->life);

	if (r->key != 0)
		n += snprintf(text + n, RECORD_TEXT - (size_t)n, " %016" PRIx64 " %" PRIu32, r->key,
			      r->share);
	return (size_t)n;
}

json_t *
json_of_person(const struct person *p)
{
	json_t *o = json_object();

	json_put_number(o, "v", PERSON_VERSION);
	put_text(o, "host", p->host);
	json_put_number(o, "pid", p->pid);
	json_put_number(o, "uid", p->uid);
	json_put_number(o, "came", p->came_ms);
	json_put_number(o, "role", (int64_t)p->role);
	if (p->command[0] != '\0')
		put_text(o, "cmd", p->command);
	if (p->key[0] != '\0')
		put_text(o, "key", p->key);
	json_put_number(o, "share", p->share);
	return o;
}

char *
person_encode(const struct person *p)
{
	return json_finished(json_of_person(p));
}

json_t *
json_of_config(const struct flk_settings *c)
{
	const struct flki_number *n;
	json_t *o = json_object();

	json_put_number(o, "v",
			starts_are_paced(&c->pace) || c->fair != FLK_FAIR_OFF ? CONFIG_STEERED
									      : CONFIG_VERSION);
	json_put_number(o, "fair", c->fair);
	if (starts_are_paced(&c->pace))
		json_object_set_new(o, "pace", json_of_pace(&c->pace));
	for (n = flki_numbers; n < flki_numbers + FLKI_NUMBERS; n++) {
		int64_t value = flki_number_get(n, c);
		if (value != n->none)
			json_object_set_new(
			    o, n->name, n->kind == FLKI_SWITCH ? json_true() : json_integer(value));
	}
	return o;
}

char *
config_encode(const struct flk_settings *c, const struct person *by)
{
	json_t *o = json_of_config(c);

	if (by != NULL)
		json_object_set_new(o, "by", json_of_person(by));
	return json_finished(o);
}

/* ---- reading ---- */

int64_t
json_number(const json_t *o, const char *name, int64_t min, int64_t max, bool *good)
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
	return (uint32_t)json_number(o, name, min, max, good);
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

json_t *
json_opened(const char *value, size_t size, int64_t version)
{
	json_t *o = value == NULL ? NULL : json_loadb(value, size, 0, NULL);

	if (o != NULL &&
	    (!json_is_object(o) || json_integer_value(json_object_get(o, "v")) != version)) {
		json_decref(o);
		return NULL;
	}
	return o;
}

/* The next number of a line; *good stays true only if it is there, and from min to max. */
static int64_t
next_number(const char **at, int64_t min, int64_t max, bool *good)
{
	char *end;
	int64_t n = strtoll(*at, &end, 10);

	if (end == *at || n < min || n > max || (*end != ' ' && *end != '\0')) {
		*good = false;
		return min;
	}
	*at = end;
	return n;
}

static uint32_t
next_small(const char **at, uint32_t min, uint32_t max, bool *good)
{
	return (uint32_t)next_number(at, min, max, good);
}

/* What follows the rest. */
static bool
read_turn(struct record *r, const char *at)
{
	bool good = true;
	char *end;

	if (*at == '\0')
		return true;
	r->key = strtoull(at, &end, 16);
	at = end;
	r->share = next_small(&at, 1, FLK_MAX_SHARE, &good);
	return good && r->key != 0 && *at == '\0';
}

static bool
read_record(struct record *r, const char *at)
{
	bool good = true;

	next_number(&at, RECORD_VERSION, RECORD_VERSION, &good);
	r->weight = next_small(&at, 1, FLK_MAX_UNITS, &good);
	r->limit = next_small(&at, 0, FLK_MAX_UNITS, &good);
	r->under = next_small(&at, 0, FLK_MAX_UNITS, &good);
	r->seat = next_small(&at, 0, FLK_MAX_UNITS, &good);
	r->ticket = (uint64_t)next_number(&at, 0, INT64_MAX, &good);
	r->ttl_s = next_small(&at, 1, UINT32_MAX, &good);
	r->grace_s = next_small(&at, 0, MOST_GRACE, &good);
	r->manual = next_small(&at, 0, 1, &good) != 0;
	r->since_ms = next_number(&at, 0, MOST_MS, &good);
	if (!good || *at++ != ' ' || strlen(at) < STORE_SELF - 1)
		return false;
	memcpy(r->life, at, STORE_SELF - 1);
	return key_is_self(r->life) && read_turn(r, at + STORE_SELF - 1);
}

bool
record_decode(struct record *r, const char *value, size_t size)
{
	memset(r, 0, sizeof(*r));
	if (value != NULL && strlen(value) == size && read_record(r, value))
		return true;
	memset(r, 0, sizeof(*r));
	r->weight = FLK_MAX_UNITS;
	r->limit = 1;
	r->manual = true;
	return false;
}

bool
json_read_person(struct person *p, const json_t *o)
{
	bool good = json_integer_value(json_object_get(o, "v")) == PERSON_VERSION;

	memset(p, 0, sizeof(*p));
	if (good) {
		p->pid = small(o, "pid", 0, UINT32_MAX, &good);
		p->uid = small(o, "uid", 0, UINT32_MAX, &good);
		p->came_ms = json_number(o, "came", 0, MOST_MS, &good);
		p->role = (enum flk_role)small(o, "role", 0, FLK_CARRIED, &good);
		read_text(o, "host", p->host, sizeof(p->host));
		read_text(o, "cmd", p->command, sizeof(p->command));
		read_text(o, "key", p->key, sizeof(p->key));
		p->share = small(o, "share", 0, FLK_MAX_SHARE, &good);
	}
	return good;
}

bool
person_decode(struct person *p, const char *value, size_t size)
{
	json_t *o = value == NULL ? NULL : json_loadb(value, size, 0, NULL);
	bool good = json_read_person(p, o);

	json_decref(o);
	return good;
}

bool
json_read_config(struct flk_settings *c, const json_t *o)
{
	int64_t version = json_integer_value(json_object_get(o, "v"));
	bool good = version == CONFIG_VERSION || version == CONFIG_STEERED;
	const struct flki_number *n;
	const json_t *v;

	*c = flki_no_settings;
	c->fair = (uint32_t)json_number(o, "fair", 0, FLK_FAIR_KEY, &good);
	json_read_pace(&c->pace, json_object_get(o, "pace"), &good);
	for (n = flki_numbers; n < flki_numbers + FLKI_NUMBERS; n++) {
		if ((v = json_object_get(o, n->name)) == NULL)
			continue;
		if (n->kind != FLKI_SWITCH)
			flki_number_put(n, c, json_number(o, n->name, n->least, n->most, &good));
		else if (json_is_boolean(v))
			flki_number_put(n, c, json_is_true(v));
		else
			good = false;
	}
	return good;
}

bool
config_decode(struct flk_settings *c, const char *value, size_t size)
{
	json_t *o = value == NULL ? NULL : json_loadb(value, size, 0, NULL);
	bool good = json_read_config(c, o);

	json_decref(o);
	return good;
}

const char *
config_trouble(const char *value, size_t size)
{
	json_t *o = value == NULL ? NULL : json_loadb(value, size, 0, NULL);
	int64_t version = json_integer_value(json_object_get(o, "v"));

	json_decref(o);
	return version > CONFIG_STEERED ? "is of a newer flocklimit than this one: use that" : NULL;
}

bool
config_signer(struct person *by, const char *value, size_t size)
{
	json_t *o = value == NULL ? NULL : json_loadb(value, size, 0, NULL);
	bool good = json_read_person(by, json_object_get(o, "by"));

	json_decref(o);
	return good;
}
