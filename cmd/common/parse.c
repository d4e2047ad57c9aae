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

static uint64_t
unit_ns(const char *unit)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = { { "", 1000000000 },   { "ms", 1000000 },      { "s", 1000000000 },
		      { "m", 60000000000 }, { "h", 3600000000000 }, { "d", 86400000000000 } };
	size_t i;

	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (strcmp(unit, units[i].name) == 0)
			return units[i].ns;
	return 0;
}

/* Digit by digit in integers: 0.1 is then exactly 100 ms, in any locale. */
bool
parse_duration(const char *word, uint64_t *ns)
{
	const char *end = word + strspn(word, "0123456789.");
	const char *dot = memchr(word, '.', (size_t)(end - word));
	uint64_t unit = unit_ns(end), whole = 0, part = 0, scale;
	const char *p;
	bool lost = false;

	if (unit == 0 || end - word < (dot != NULL ? 2 : 1))
		return false;
	for (p = word; p < (dot != NULL ? dot : end); p++) {
		whole = whole * 10 + (uint64_t)(*p - '0');
		if (whole > LONGEST_NS / unit)
			return false;
	}
	if (dot != NULL) {
		for (p = dot + 1, scale = unit / 10; p < end; p++, scale /= 10) {
			if (*p == '.')
				return false;
			part += (uint64_t)(*p - '0') * scale;
			/* the unit is 6 times a power of ten, or 36, or 864: 0.001 m is exact */
			lost |= scale == 0 && *p != '0';
		}
	}
	*ns = whole * unit + part + (lost ? 1 : 0);
	return true;
}

bool
parse_signal(const char *word, int *number)
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
	uint64_t v;
	size_t i;

	if (parse_number(word, 1, LAST_RT, &v)) {
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
