/* SPDX-License-Identifier: ISC */
/*
 * conditions.c - the words of a gate: what each says, and what is wrong with those that say nothing.
 */
#include "../helpers/common.h"

#include <errno.h>
#include <string.h>

#include "condition.h"

#define K UINT64_C(1024)
#define T (K * K * K * K)

static const struct {
	const char *text;
	enum condition_kind kind;
	uint64_t bound;
} right[] = {
	{ "mem>0", MEM, 0 },
	{ "mem>4", MEM, 4 },
	{ "mem>4K", MEM, 4 * K },
	{ "mem>9k", MEM, 9 * K },
	{ "mem>4KB", MEM, 4 * K },
	{ "mem>4KiB", MEM, 4 * K },
	{ "mem>3MiB", MEM, 3 * K *K },
	{ "mem>10G", MEM, 10 * K *K *K },
	{ "mem>2T", MEM, 2 * T },
	{ "mem>1.5K", MEM, 1536 },
	{ "mem>0.25M", MEM, K *K / 4 },
	{ "mem>1.09G", MEM, 1170378588 },
	{ "mem>1.9999999K", MEM, 2 * K - 1 },
	{ "mem>1.0000009M", MEM, K *K },
	{ "mem>16777215T", MEM, 16777215 * T },
	{ "mem>1000000000000000", MEM, UINT64_C(1000000000000000) },
	{ "disk:/var>10G", DISK, 10 * K *K *K },
	{ "disk:/>1", DISK, 1 },
	{ "disk:/a:b>1", DISK, 1 },
	{ "running<1", RUNNING, 1 },
	{ "running<16", RUNNING, 16 },
	{ "psi.cpu<50", PSI_CPU, 5000 },
	{ "psi.mem<0.01", PSI_MEM, 1 },
	{ "psi.io<12.5%", PSI_IO, 1250 },
	{ "psi.io<100", PSI_IO, 10000 },
	{ "psi.io<100%", PSI_IO, 10000 },
};

#define A_SIZE    "not a size"
#define A_PERCENT "not a per cent"
#define OF_TASKS  "not a number of tasks"
#define ONLY_DISK "only disk has a path"
#define UNKNOWN   "unknown: use mem"
#define NO_BOUND  "not a condition"

static const struct {
	const char *text, *why;
} wrong[] = {
	{ "mem", NO_BOUND },
	{ "4G", NO_BOUND },
	{ "me>1", UNKNOWN },
	{ "memo>1", UNKNOWN },
	{ ">1", UNKNOWN },
	{ "psi<1", UNKNOWN },
	{ "MEM>1", UNKNOWN },
	{ "mem<1", "use > here" },
	{ "disk:/<1", "use > here" },
	{ "psi.cpu>1", "use < here" },
	{ "running>1", "use < here" },
	{ "disk>1G", ONLY_DISK },
	{ "disk:>1G", ONLY_DISK },
	{ "disk:var>1G", ONLY_DISK },
	{ "mem:/var>1G", ONLY_DISK },
	{ "mem>", A_SIZE },
	{ "mem>K", A_SIZE },
	{ "mem>-1", A_SIZE },
	{ "mem>.5K", A_SIZE },
	{ "mem>1.5", A_SIZE },
	{ "mem>1.5.5K", A_SIZE },
	{ "mem>4X", A_SIZE },
	{ "mem>4Ki", A_SIZE },
	{ "mem>4KiBs", A_SIZE },
	{ "mem>4KKB", A_SIZE },
	{ "mem>4K4", A_SIZE },
	{ "mem>4>5", A_SIZE },
	{ "mem>4%", A_SIZE },
	{ "mem>1000000000000001", A_SIZE },
	{ "mem>99999999999999999999999999", A_SIZE },
	{ "mem>16777216T", A_SIZE },
	{ "mem>16777215.9999999T", NULL },
	{ "running<0", OF_TASKS },
	{ "running<", OF_TASKS },
	{ "running<x", OF_TASKS },
	{ "running<1.5", OF_TASKS },
	{ "running<1%", OF_TASKS },
	{ "running<1K", OF_TASKS },
	{ "psi.io<", A_PERCENT },
	{ "psi.io<0", A_PERCENT },
	{ "psi.io<0.001", A_PERCENT },
	{ "psi.io<100.01", A_PERCENT },
	{ "psi.io<5K", A_PERCENT },
	{ "psi.io<5%%", A_PERCENT },
	{ "psi.io<5%x", A_PERCENT },
	{ "psi.io<%", A_PERCENT },
};

static void
test_right(void)
{
	char why[CONDITION_TEXT];
	struct condition c;
	const char *text;
	unsigned i;

	for (i = 0; i < sizeof(right) / sizeof(right[0]); i++) {
		text = right[i].text;
		ok(flki_condition_next(&text, &c, why) == 1 && c.kind == right[i].kind &&
		       c.bound == right[i].bound && *text == '\0',
		   "%s: %llu", right[i].text, (unsigned long long)c.bound);
	}
	text = "disk:/a:b>1";
	flki_condition_next(&text, &c, why);
	ok(c.path_length == 4 && memcmp(c.path, "/a:b", 4) == 0, "a path is all behind the colon");
}

static void
test_wrong(void)
{
	char why[CONDITION_TEXT];
	struct condition c;
	const char *text;
	unsigned i;

	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		text = wrong[i].text;
		why[0] = '\0';
		if (wrong[i].why == NULL)
			is(flki_condition_next(&text, &c, why), 1, "%s", wrong[i].text);
		else
			ok(flki_condition_next(&text, &c, why) == -1 &&
			       strstr(why, wrong[i].why) != NULL && why[0] == '\'' &&
			       strncmp(why + 1, wrong[i].text, strlen(wrong[i].text)) == 0,
			   "%s", why);
	}
	text = "0123456789012345678901234567890123456789-and-more>1";
	flki_condition_next(&text, &c, why);
	ok(strncmp(why, "'0123456789012345678901234567890123456789': ", 44) == 0,
	   "of a long word the beginning is shown");
}

/* Conditions of one text, between spaces and commas. */
static void
test_several(void)
{
	const char *text = ", mem>1\t\n,running<2 x,";
	char why[CONDITION_TEXT];
	struct condition c;

	is(flki_condition_next(&text, &c, why), 1, "the first of several");
	ok(c.kind == MEM && c.bound == 1 && c.length == 5, "between spaces and commas");
	is(flki_condition_next(&text, &c, why), 1, "the next");
	ok(c.kind == RUNNING && c.bound == 2 && c.length == 9, "as it is");
	is(flki_condition_next(&text, &c, why), -1, "one that is none");
	is(flki_condition_next(&text, &c, why), 0, "and no more");
	is(flki_condition_next(&text, &c, why), 0, "however often");
}

static void
test_holds(void)
{
	const struct condition more = { .kind = DISK, .bound = 10 };
	const struct condition less = { .kind = PSI_IO, .bound = 10 };

	ok(flki_condition_holds(&more, 11) && !flki_condition_holds(&more, 10) &&
	       !flki_condition_holds(&more, 9),
	   "more than the bound");
	ok(flki_condition_holds(&less, 9) && !flki_condition_holds(&less, 10) &&
	       !flki_condition_holds(&less, 11),
	   "or less");
	ok(!flki_condition_holds(&more, UINT64_MAX) && !flki_condition_holds(&less, UINT64_MAX),
	   "what is not known does not hold");
}

/* What an operator is told before the gate is set. */
static void
test_check(void)
{
	char text[FLK_GATE_TEXT + 1], why[200] = "as it was";

	is(flk_gate_check("", why, sizeof(why)), 0, "no condition is right");
	is(flk_gate_check("disk:/>1 disk:/>2", why, sizeof(why)), 0, "and some are");
	ok(strcmp(why, "as it was") == 0, "of which there is nothing to say");
	is(flk_gate_check("disk:/>1 disk:/>", why, sizeof(why)), -EINVAL, "a wrong one");
	ok(strncmp(why, "'disk:/>': ", 11) == 0, "is named: %s", why);
	is(flk_gate_check("disk:/no/such/path>1", why, sizeof(why)), -ENOTSUP,
	   "a path that is not");
	ok(strstr(why, "'disk:/no/such/path>1': no such path") == why, "is, too: %s", why);
	memset(text, ' ', sizeof(text));
	text[FLK_GATE_TEXT - 1] = '\0';
	is(flk_gate_check(text, why, sizeof(why)), 0, "as long as a gate can be");
	text[FLK_GATE_TEXT - 1] = ' ';
	text[FLK_GATE_TEXT] = '\0';
	is(flk_gate_check(text, why, sizeof(why)), -EINVAL, "and no longer");
	ok(strcmp(why, "longer than 183 bytes") == 0, "%s", why);
}

int
main(void)
{
	begin();
	test_right();
	test_wrong();
	test_several();
	test_holds();
	test_check();
	return tap_done();
}
