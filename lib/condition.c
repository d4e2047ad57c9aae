/* SPDX-License-Identifier: ISC */
#include "condition.h"

#include <stdio.h>
#include <string.h>

#define SEPARATORS " \t\n,"
#define MANY       UINT64_C(1000000000000000) /* of a size without its unit; times T it fits */

static const struct {
	const char *name;
	char sign;
} kinds[] = {
	[MEM] = { "mem", '>' },         [PSI_CPU] = { "psi.cpu", '<' },
	[PSI_MEM] = { "psi.mem", '<' }, [PSI_IO] = { "psi.io", '<' },
	[RUNNING] = { "running", '<' }, [DISK] = { "disk", '>' },
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static int
refuse(const struct condition *c, char wrong[CONDITION_TEXT], const char *why)
{
	snprintf(wrong, CONDITION_TEXT, "'%.*s': %s", c->length < 40 ? (int)c->length : 40, c->word,
		 why);
	return -1;
}

/* A number, times the scale, from *p on, which it moves; decimal if there is a scale. */
static bool
read_number(const char **p, const char *end, uint64_t scale, uint64_t *value)
{
	uint64_t whole = 0, part = 0, of = 1;
	const char *begin = *p;

	for (; *p < end && **p >= '0' && **p <= '9'; ++*p)
		if ((whole = whole * 10 + (uint64_t)(**p - '0')) > MANY)
			return false;
	if (*p == begin)
		return false;
	if (scale > 1 && *p < end && **p == '.') {
		for (++*p; *p < end && **p >= '0' && **p <= '9'; ++*p)
			if (of < 1000000) {
				part = part * 10 + (uint64_t)(**p - '0');
				of *= 10;
			}
	}
	return !__builtin_mul_overflow(whole, scale, value) &&
	       !__builtin_add_overflow(*value, scale * part / of, value);
}

/* Bytes with the binary units K, M, G and T, also written as KiB. */
static bool
read_size(const char *p, const char *end, uint64_t *bytes)
{
	static const char units[] = "KMGT";
	const char *letter, *number = p, *behind;
	unsigned shift = 0;

	while (p < end && ((*p >= '0' && *p <= '9') || *p == '.'))
		p++;
	behind = p;
	if (p < end && (letter = strchr(units, *p & ~0x20)) != NULL) {
		shift = 10 * (unsigned)(letter - units + 1);
		p++;
		if (end - p == 2 && p[0] == 'i')
			p++;
		if (end - p == 1 && p[0] == 'B')
			p++;
	}
	if (p != end)
		return false;
	return read_number(&number, end, UINT64_C(1) << shift, bytes) && number == behind;
}

static int
read_bound(struct condition *c, const char *p, const char *end, char wrong[CONDITION_TEXT])
{
	switch (c->kind) {
	case MEM:
	case DISK:
		if (!read_size(p, end, &c->bound))
			return refuse(c, wrong, "not a size: use a number with K, M, G or T");
		return 1;
	case RUNNING:
		if (!read_number(&p, end, 1, &c->bound) || p != end || c->bound == 0)
			return refuse(c, wrong, "not a number of tasks: use 1 or more");
		return 1;
	default:
		if (!read_number(&p, end, 100, &c->bound) || (p < end && *p++ != '%') || p != end ||
		    c->bound == 0 || c->bound > 10000)
			return refuse(c, wrong, "not a per cent: use 0.01 to 100");
		return 1;
	}
}

static bool
is_kind(const struct condition *c, size_t k, size_t n)
{
	return strlen(kinds[k].name) == n && memcmp(c->word, kinds[k].name, n) == 0;
}

int
flki_condition_next(const char **text, struct condition *c, char wrong[CONDITION_TEXT])
{
	const char *sign, *end, *colon;
	size_t n, k;

	*text += strspn(*text, SEPARATORS);
	*c = (struct condition){ .word = *text, .length = strcspn(*text, SEPARATORS) };
	if (c->length == 0)
		return 0;
	end = *text += c->length;
	n = strcspn(c->word, "<>");
	sign = c->word + n;
	if (sign >= end)
		return refuse(c, wrong,
			      "not a condition: use mem>SIZE, disk:/PATH>SIZE, psi.cpu<PERCENT, "
			      "psi.mem, psi.io or running<N");
	colon = memchr(c->word, ':', n);
	if (colon != NULL) {
		c->path = colon + 1;
		c->path_length = (size_t)(sign - c->path);
		n = (size_t)(colon - c->word);
	}
	for (k = 0; k < KINDS && !is_kind(c, k, n); k++)
		;
	if (k == KINDS)
		return refuse(c, wrong,
			      "unknown: use mem, psi.cpu, psi.mem, psi.io, running or disk:/PATH");
	c->kind = (enum condition_kind)k;
	if ((k == DISK) != (colon != NULL) || (k == DISK && *c->path != '/'))
		return refuse(c, wrong, "only disk has a path: use disk:/PATH>SIZE");
	if (*sign != kinds[k].sign)
		return refuse(c, wrong, *sign == '<' ? "use > here" : "use < here");
	return read_bound(c, sign + 1, end, wrong);
}

bool
flki_condition_holds(const struct condition *c, uint64_t value)
{
	return value != UINT64_MAX &&
	       (kinds[c->kind].sign == '>' ? value > c->bound : value < c->bound);
}
