/* SPDX-License-Identifier: ISC */
#include "parse.h"

#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

#define FIRST_RT   34 /* as shells count; musl says 35 */
#define LAST_RT    64
#define LONGEST_NS UINT64_C(3155760000000000000) /* a hundred years */

bool
parse_number(const char *word, uint64_t least, uint64_t most, uint64_t *value)
{
	uint64_t v = 0;

	if (*word == '\0')
		return false;
	for (; *word >= '0' && *word <= '9'; word++) {
		v = v * 10 + (uint64_t)(*word - '0');
		if (v > most)
			return false;
	}
	*value = v;
	return *word == '\0' && v >= least;
}

bool
parse_octal(const char *word, uint32_t most, uint32_t *value)
{
	uint32_t v = 0;

	if (*word == '\0')
		return false;
	for (; *word >= '0' && *word <= '7'; word++) {
		v = v * 8 + (uint32_t)(*word - '0');
		if (v > most)
			return false;
	}
	*value = v;
	return *word == '\0';
}

bool
parse_size(const char *word, void *to)
{
	static const char letters[] = "KMGT";
	uint64_t v = 0, *bytes = to;
	const char *letter;
	unsigned shift = 0;

	if (*word < '0' || *word > '9')
		return false;
	for (; *word >= '0' && *word <= '9'; word++) {
		if (v > UINT32_MAX)
			return false;
		v = v * 10 + (uint64_t)(*word - '0');
	}
	if (*word != '\0' && (letter = strchr(letters, *word & ~0x20)) != NULL && *letter != '\0') {
		shift = 10 * (unsigned)(letter - letters + 1);
		word += strcasecmp(word + 1, "iB") == 0 ? 3 : 1;
	}
	*bytes = v << shift;
	return *word == '\0' && v > 0 && *bytes >> shift == v;
}

static const struct unit {
	const char *name;
	unsigned factor; /* times ten to the power, in ns */
	int power;
} units[] = { { "us", 1, 3 },   { "ms", 1, 6 },  { "s", 1, 9 },    { "sec", 1, 9 }, { "m", 6, 10 },
	      { "min", 6, 10 }, { "h", 36, 11 }, { "hr", 36, 11 }, { "d", 864, 11 } };

/* The unit that these letters name; no letters: a second; NULL: there is no such unit. */
static const struct unit *
find_unit(const char *name, size_t length)
{
	size_t i;

	if (length == 0) {
		name = "s";
		length = 1;
	}
	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (strlen(units[i].name) == length && memcmp(units[i].name, name, length) == 0)
			return &units[i];
	return NULL;
}

/* A decimal number: digits times ten to the power. */
struct decimal {
	uint64_t digits; /* below 10^16, so that a unit's factor still fits */
	int power;
	bool cut; /* there were more digits, and not all of them 0 */
};

/*
 * Reads the number at the beginning of WORD; returns what follows it, or NULL if there is no
 * number.
 */
static const char *
parse_decimal(const char *word, struct decimal *d)
{
	bool any = false, dot = false, sign;
	int exponent = 0;

	*d = (struct decimal){ 0 };
	for (;; word++) {
		if (*word == '.' && !dot) {
			dot = true;
			continue;
		}
		if (*word < '0' || *word > '9')
			break;
		any = true;
		if (d->digits < UINT64_C(1000000000000000)) {
			d->digits = d->digits * 10 + (uint64_t)(*word - '0');
			d->power -= dot;
		} else {
			d->cut |= *word != '0';
			d->power += !dot;
		}
	}
	sign = *word == 'e' && (word[1] == '-' || word[1] == '+');
	if (*word == 'e' && word[1 + sign] >= '0' && word[1 + sign] <= '9') {
		bool minus = word[1] == '-';
		for (word += 1 + sign; *word >= '0' && *word <= '9'; word++)
			if (exponent < 1000000)
				exponent = exponent * 10 + (*word - '0');
		d->power += minus ? -exponent : exponent;
	}
	return any ? word : NULL;
}

/*
 * In integers, so that 0.1 is exactly 100 ms, in any locale.  A part of a ns counts as a whole one.
 */
static uint64_t
decimal_ns(const struct decimal *d, const struct unit *unit)
{
	uint64_t ns = d->digits * unit->factor;
	int power = d->power + unit->power;
	bool part = d->cut;

	for (; power > 0 && ns > 0; power--) {
		if (ns > LONGEST_NS / 10)
			return LONGEST_NS;
		ns *= 10;
	}
	for (; power < 0 && ns > 0; power++) {
		part |= ns % 10 != 0;
		ns /= 10;
	}
	return ns < LONGEST_NS ? ns + part : LONGEST_NS;
}

bool
parse_duration(const char *word, uint64_t *ns)
{
	struct decimal number;
	const struct unit *unit;
	size_t letters;
	bool first = true;

	*ns = 0;
	do {
		if ((word = parse_decimal(word, &number)) == NULL)
			return false;
		letters = strspn(word, "abcdefghijklmnopqrstuvwxyz");
		unit = find_unit(word, letters);
		/*
		 * Only a number that is the whole word needs no unit: 1h30 could mean many things.
		 */
		if (unit == NULL || (letters == 0 && (*word != '\0' || !first)))
			return false;
		*ns += decimal_ns(&number, unit);
		if (*ns > LONGEST_NS)
			*ns = LONGEST_NS;
		word += letters;
		first = false;
	} while (*word != '\0');
	return true;
}

bool
parse_patience(const char *word, void *ns)
{
	*(uint64_t *)ns = UINT64_MAX;
	return strcmp(word, "never") == 0 || parse_duration(word, ns);
}

bool
parse_signal(const char *word, void *to)
{
	static const struct {
		const char *name;
		int number;
	} names[] = { { "HUP", SIGHUP },       { "INT", SIGINT },   { "QUIT", SIGQUIT },
		      { "ILL", SIGILL },       { "TRAP", SIGTRAP }, { "ABRT", SIGABRT },
		      { "BUS", SIGBUS },       { "FPE", SIGFPE },   { "KILL", SIGKILL },
		      { "USR1", SIGUSR1 },     { "SEGV", SIGSEGV }, { "USR2", SIGUSR2 },
		      { "PIPE", SIGPIPE },     { "ALRM", SIGALRM }, { "TERM", SIGTERM },
		      { "CHLD", SIGCHLD },     { "CONT", SIGCONT }, { "STOP", SIGSTOP },
		      { "TSTP", SIGTSTP },     { "TTIN", SIGTTIN }, { "TTOU", SIGTTOU },
		      { "URG", SIGURG },       { "XCPU", SIGXCPU }, { "XFSZ", SIGXFSZ },
		      { "VTALRM", SIGVTALRM }, { "PROF", SIGPROF }, { "WINCH", SIGWINCH },
		      { "IO", SIGIO },         { "PWR", SIGPWR },   { "SYS", SIGSYS },
		      { "RTMIN", FIRST_RT },   { "RTMAX", LAST_RT } };
	int *number = to;
	uint64_t v;
	size_t i;

	if (parse_number(word, 0, LAST_RT, &v)) {
		*number = (int)v;
		return true;
	}
	if (strncasecmp(word, "SIG", 3) == 0)
		word += 3;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcasecmp(word, names[i].name) == 0) {
			*number = names[i].number;
			return true;
		}
	}
	if (strncasecmp(word, "RTMIN+", 6) == 0 &&
	    parse_number(word + 6, 0, (uint64_t)(LAST_RT - FIRST_RT), &v)) {
		*number = FIRST_RT + (int)v;
		return true;
	}
	return false;
}
