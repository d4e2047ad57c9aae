/* SPDX-License-Identifier: ISC */
#include "template.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shell_line.h"

/* A text that grows; if there was no memory, `failed' is set, and the text is incomplete. */
struct text {
	char *data;
	size_t n, room;
	bool failed;
	bool counts; /* only n grows */
	bool quotes; /* items are quoted for sh */
};

static void
put(struct text *t, const char *from, size_t n)
{
	char *grown;

	if (n == 0)
		return;
	if (t->counts) {
		t->n += n;
		return;
	}
	if (t->n + n > t->room && !t->failed) {
		grown = realloc(t->data, (t->n + n) * 2);
		t->failed = grown == NULL;
		if (grown != NULL) {
			t->data = grown;
			t->room = (t->n + n) * 2;
		}
	}
	if (t->failed || t->data == NULL)
		return;
	memcpy(t->data + t->n, from, n);
	t->n += n;
}

/* A part of an item. */
static void
put_item(struct text *t, const char *from, size_t n)
{
	size_t i, plain;

	if (!t->quotes) {
		put(t, from, n);
		return;
	}
	for (i = 0; i < n; i += plain) {
		plain = strcspn(from + i, "'");
		plain = plain < n - i ? plain : n - i;
		put(t, from + i, plain);
		if (plain == 0) {
			put(t, "'\\''", 4);
			plain = 1;
		}
	}
}

/* ---- what {} and its like mean ---- */

enum part { WHOLE, STEM, LAST, LAST_STEM, DIRECTORY };

/* As dirname(1) does: its bytes, which are those of the item, except for "." and "/". */
static const char *
directory(const char *item, const char *end, size_t *n)
{
	while (end > item && end[-1] == '/')
		end--;
	*n = 1;
	if (end == item && *item == '/')
		return "/";
	while (end > item && end[-1] != '/')
		end--;
	if (end == item)
		return ".";
	while (end > item + 1 && end[-1] == '/')
		end--;
	*n = (size_t)(end - item);
	return item;
}

static void
put_part(struct text *t, const char *item, enum part part)
{
	const char *slash = strrchr(item, '/');
	const char *last = slash != NULL ? slash + 1 : item, *dot = strrchr(last, '.');
	const char *from = part == LAST || part == LAST_STEM ? last : item;
	const char *end = item + strlen(item);
	size_t n;

	if ((part == STEM || part == LAST_STEM) && dot != NULL)
		end = dot;
	n = (size_t)(end - from);
	if (part == DIRECTORY)
		from = directory(item, end, &n);
	put(t, "'", t->quotes);
	put_item(t, from, n);
	put(t, "'", t->quotes);
}

static void
put_items(struct text *t, const struct filling *f, enum part part, char between)
{
	size_t i;

	for (i = 0; i < f->n; i++) {
		if (i > 0)
			put(t, &between, 1);
		put_part(t, f->items[i], part);
	}
}

enum kind { TEXT, ITEM, NUMBERED, NUMBER, SEAT };

/*
 * The length of the placeholder at p, or 0: there is none.  Appends its value to t, unless t is
 * NULL.
 */
static size_t
placeholder(const char *replace, const struct filling *f, const char *p, char between,
	    struct text *t, enum kind *kind)
{
	static const struct {
		const char *text;
		enum part part;
	} parts[] = {
		{ "{.}", STEM }, { "{/}", LAST }, { "{//}", DIRECTORY }, { "{/.}", LAST_STEM }
	};
	size_t i, n = strlen(replace);
	char room[24], *end;
	unsigned long k;

	*kind = ITEM;
	if (strncmp(p, replace, n) == 0) {
		if (t != NULL)
			put_items(t, f, WHOLE, between);
		return n;
	}
	*kind = TEXT;
	if (*p != '{')
		return 0;
	*kind = ITEM;
	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		n = strlen(parts[i].text);
		if (strncmp(p, parts[i].text, n) != 0)
			continue;
		if (t != NULL)
			put_items(t, f, parts[i].part, between);
		return n;
	}
	*kind = NUMBERED;
	if (p[1] >= '1' && p[1] <= '9' && (k = strtoul(p + 1, &end, 10), *end == '}')) {
		if (t != NULL && k <= f->n)
			put_part(t, f->items[k - 1], WHOLE);
		return (size_t)(end - p) + 1;
	}
	*kind = TEXT;
	if (strncmp(p, "{#}", 3) != 0 && strncmp(p, "{%}", 3) != 0)
		return 0;
	*kind = p[1] == '#' ? NUMBER : SEAT;
	if (t != NULL) {
		n = (size_t)snprintf(room, sizeof(room), "%llu",
				     p[1] == '#' ? (unsigned long long)f->number : f->seat);
		put(t, room, n);
	}
	return 3;
}

/* A set of kinds, each a bit, that stand in word i.  Of those for a line, only the line has any. */
static unsigned
kinds_in(const struct template *t, size_t i)
{
	const struct filling none = { NULL, 0, 0, 0 };
	const char *word = t->words[i];
	unsigned kinds = 0;
	enum kind kind;
	size_t n;

	if (t->line && t->words[i + 1] != NULL)
		return 0;
	for (; *word != '\0'; word += n > 0 ? n : 1) {
		n = placeholder(t->replace, &none, word, ' ', NULL, &kind);
		kinds |= 1u << kind;
	}
	return kinds;
}

#define ITEMS (1u << ITEM | 1u << NUMBERED)

static unsigned
kinds_in_all(const struct template *t)
{
	unsigned kinds = 0;
	size_t i;

	for (i = 0; t->words[i] != NULL; i++)
		kinds |= kinds_in(t, i);
	return kinds;
}

bool
template_has_items(const struct template *t)
{
	return (kinds_in_all(t) & ITEMS) != 0;
}

bool
template_is_item(const struct template *t)
{
	return (kinds_in(t, 0) & ITEMS) != 0;
}

bool
template_is_fixed(const struct template *t)
{
	return (kinds_in(t, 0) & ~(1u << TEXT)) == 0;
}

bool
template_has_seat(const struct template *t)
{
	return (kinds_in_all(t) & 1u << SEAT) != 0;
}

bool
template_has_numbers(const struct template *t)
{
	return (kinds_in_all(t) & 1u << NUMBERED) != 0;
}

bool
template_line_is_safe(const struct template *t)
{
	const struct filling none = { NULL, 0, 0, 0 };
	struct shell_place place = SHELL_BEGIN;
	const char *p;
	enum kind kind;
	size_t i = 0, n;

	while (t->words[i + 1] != NULL)
		i++;
	for (p = t->words[i]; *p != '\0'; p += n) {
		n = placeholder(t->replace, &none, p, ' ', NULL, &kind);
		if (n > 0 && (1u << kind & ITEMS) != 0 && !shell_takes_word(&place))
			return false;
		if (n == 0)
			n = 1;
		shell_pass(&place, kind == TEXT ? *p : 'x');
	}
	return true;
}

/* One word of the template.  A word that is just a placeholder becomes one word for each item. */
static bool
put_word(struct text *t, const char *replace, const struct filling *f, const char *word)
{
	enum kind kind;
	bool alone = !t->quotes && placeholder(replace, f, word, ' ', NULL, &kind) == strlen(word);
	size_t n;

	while (*word != '\0') {
		n = placeholder(replace, f, word, alone ? '\0' : ' ', t, &kind);
		if (n == 0)
			put(t, word, n = 1);
		word += n;
	}
	return alone;
}

/* All words, each with its NUL.  Returns the bytes of those in which items are joined. */
static size_t
put_words(struct text *t, const struct template *from, const struct filling *f)
{
	unsigned kinds, all = 0;
	size_t i, before, joined = 0;

	for (i = 0; from->words[i] != NULL; i++) {
		before = t->n;
		all |= kinds = kinds_in(from, i);
		t->quotes = from->line;
		if (kinds == 0)
			put(t, from->words[i], strlen(from->words[i]));
		else if (!put_word(t, from->replace, f, from->words[i]) && (kinds & ITEMS) != 0)
			joined += t->n - before;
		put(t, "", 1);
	}
	if ((all & ITEMS) == 0) {
		put_items(t, f, WHOLE, '\0');
		put(t, "", 1);
	}
	return joined;
}

char **
template_fill(const struct template *from, const struct filling *f)
{
	struct text t = { .data = NULL };
	size_t i, words = 0;
	char **argv, *p;

	put_words(&t, from, f);
	for (i = 0; i < t.n; i++)
		words += t.data[i] == '\0';
	argv = t.failed ? NULL : malloc((words + 1) * sizeof(*argv) + t.n);
	if (argv != NULL) {
		p = memcpy(argv + words + 1, t.data, t.n);
		for (i = 0; i < words; i++, p += strlen(p) + 1)
			argv[i] = p;
		argv[words] = NULL;
	}
	free(t.data);
	return argv;
}

/* Each item may be a word of its own at most as often as it stands in a word of the template. */
void
template_measure(const struct template *from, const struct filling *f, size_t *all, size_t *joined)
{
	struct text t = { .counts = true };
	size_t words = 1;

	while (from->words[words - 1] != NULL)
		words++;
	*joined = put_words(&t, from, f);
	*all = t.n + words * (1 + f->n) * sizeof(char *);
}

/* ---- for people, and for shells ---- */

static bool
is_plain(const char *word)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				    "0123456789_@%+=:,./-";

	return *word != '\0' && word[strspn(word, plain)] == '\0';
}

static void
quote(struct text *t, const char *word)
{
	const unsigned char *p = (const unsigned char *)word;
	bool control = false;
	char room[8];

	if (is_plain(word)) {
		put(t, word, strlen(word));
		return;
	}
	for (; *p != '\0'; p++)
		control = control || *p < ' ' || *p == 0x7f;
	put(t, "$'", control ? 2 : 0);
	put(t, "'", control ? 0 : 1);
	for (p = (const unsigned char *)word; *p != '\0'; p++) {
		if (control && (*p < ' ' || *p == '\\' || *p == '\'' || *p == 0x7f))
			put(t, room, (size_t)snprintf(room, sizeof(room), "\\%03o", *p));
		else if (*p == '\'')
			put(t, "'\\''", 4);
		else
			put(t, (const char *)p, 1);
	}
	put(t, "'", 1);
}

char *
template_quote(char *const *words)
{
	struct text t = { .data = NULL };

	for (; *words != NULL; words++) {
		quote(&t, *words);
		put(&t, words[1] != NULL ? " " : "", 1);
	}
	if (t.failed) {
		free(t.data);
		t.data = NULL;
	}
	return t.data;
}
