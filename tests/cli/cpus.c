/* SPDX-License-Identifier: ISC */
/*
 * cpus.c - where the tasks of a pinned command are to run, of more CPUs than this machine may have.
 */
#include "cpus.h"

#include <string.h>

#include "../helpers/tap.h"

/* Digits: the CPUs 0 to 9. */
static struct cpus
set_of(const char *digits)
{
	struct cpus c;

	CPU_ZERO_S(CPUS_SIZE, c.of);
	for (; *digits != '\0'; digits++)
		CPU_SET_S((size_t)(*digits - '0'), CPUS_SIZE, c.of);
	return c;
}

static const char *
text_of(const struct cpus *c, char text[11])
{
	char *p = text;
	size_t cpu;

	for (cpu = 0; cpu < 10; cpu++)
		if (CPU_ISSET_S(cpu, CPUS_SIZE, c->of))
			*p++ = (char)('0' + cpu);
	*p = '\0';
	return text;
}

static void
test_seats(void)
{
	static const struct {
		const char *usable;
		uint64_t seats;
		const char *cpus;
	} each[] = {
		{ "0123", 0xf, "0123" }, { "0123", 0x5, "02" },    { "2579", 0x1, "2" },
		{ "2579", 0xc, "79" },   { "2579", 0x18, "9" },    { "2579", 0x10, "" },
		{ "0123", 0, "" },       { "5", UINT64_MAX, "5" },
	};
	struct cpus usable, c;
	char text[11];
	size_t i;

	for (i = 0; i < sizeof(each) / sizeof(*each); i++) {
		usable = set_of(each[i].usable);
		cpus_of_seats(&usable, each[i].seats, &c);
		ok(strcmp(text_of(&c, text), each[i].cpus) == 0, "of %s the seats %#llx are %s: %s",
		   each[i].usable, (unsigned long long)each[i].seats, each[i].cpus, text);
	}
}

static void
test_tasks(void)
{
	static const struct {
		const char *what, *now, *was, *set, *allowed, *to;
	} each[] = {
		{ "narrows, and all go", "0123", "0123", "01", "0123", "01" },
		{ "narrows, one has chosen what stays", "1", "0123", "01", "0123", "1" },
		{ "narrows, one has chosen what goes", "23", "0123", "01", "0123", "01" },
		{ "narrows, one has chosen both", "13", "0123", "01", "0123", "1" },
		{ "one was moved already", "01", "0123", "01", "0123", "01" },
		{ "forked by one that was not yet moved", "0123", "0123", "01", "0123", "01" },
		{ "widens, and all get it", "01", "01", "0123", "0123", "0123" },
		{ "widens, one has chosen", "1", "01", "0123", "0123", "1" },
		{ "widens, and had but one", "0", "0", "03", "0123", "03" },
		{ "moves to others", "01", "01", "23", "0123", "23" },
		{ "the one around us has fewer now", "0123", "0123", "0123", "02", "02" },
		{ "the one around us has none of ours", "01", "01", "01", "23", "01" },
	};
	struct cpus now, was, set, allowed, to;
	char text[11];
	size_t i;

	for (i = 0; i < sizeof(each) / sizeof(*each); i++) {
		now = set_of(each[i].now);
		was = set_of(each[i].was);
		set = set_of(each[i].set);
		allowed = set_of(each[i].allowed);
		cpus_of_task(&now, &was, &set, &allowed, &to);
		ok(strcmp(text_of(&to, text), each[i].to) == 0, "%s: from %s to %s: %s",
		   each[i].what, each[i].now, each[i].to, text);
	}
}

/* Whatever a task has chosen, and whatever was given before. */
static void
test_all(void)
{
	unsigned now, was, set, cpu, wrong = 0, seen = 0;
	struct cpus four = set_of("0123"), n, w, s, to;

	for (now = 1; now < 16; now++)
		for (was = 1; was < 16; was++)
			for (set = 1; set < 16; set++) {
				cpus_of_seats(&four, now, &n);
				cpus_of_seats(&four, was, &w);
				cpus_of_seats(&four, set, &s);
				cpus_of_task(&n, &w, &s, &four, &to);
				seen++;
				wrong += cpus_count(&to) == 0;
				for (cpu = 0; cpu < 4; cpu++)
					wrong += CPU_ISSET_S(cpu, CPUS_SIZE, to.of) &&
						 !CPU_ISSET_S(cpu, CPUS_SIZE, s.of);
				/* The rule has had its say: a second time, nothing moves. */
				cpus_of_task(&to, &w, &s, &four, &n);
				wrong += !cpus_are_same(&n, &to) && !cpus_are_same(&to, &w);
			}
	is(wrong, 0, "of %u moves, each is to CPUs of the command, and to some", seen);
}

int
main(void)
{
	test_seats();
	test_tasks();
	test_all();
	return tap_done();
}
