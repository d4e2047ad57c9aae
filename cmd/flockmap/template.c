/* SPDX-License-Identifier: ISC */
#include "template.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A text that grows; if there was no memory, `failed' is set, and the text is incomplete. */
struct text {
	char *data;
	size_t n, room;
	bool failed;
};

static void
put(struct text *t, const char *from, size_t n)
{
	char *grown;

	if (n == 0)
		return;
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

/* ---- what {} and its like mean ---- */

enum part { WHOLE, STEM, LAST, LAST_STEM, DIRECTORY };

/* As dirname(1) does. */
static void
put_directory(struct text *t, const char *item, const char *end)
{
	while (end > item && end[-1] == '/')
		end--;
	if (end == item && *item == '/') {
		put(t, "/", 1);
		return;
	}
	while (end > item && end[-1] != '/')
		end--;
	if (end == item) {
		put(t, ".", 1);
		return;
	}
	while (end > item + 1 && end[-1] == '/')
		end--;
	put(t, item, (size_t)(end - item));
}

static void
put_part(struct text *t, const char *item, enum part part)
{
	const char *slash = strrchr(item, '/');
	const char *last = slash != NULL ? slash + 1 : item, *dot = strrchr(last, '.');
	const char *from = part == LAST || part == LAST_STEM ? last : item;
	const char *end = item + strlen(item);

	if (part == DIRECTORY) {
		put_directory(t, item, end);
		return;
	}
	if ((part == STEM || part == LAST_STEM) && dot != NULL)
		end = dot;
	put(t, from, (size_t)(end - from));
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

/*
 * The length of the placeholder at p, or 0: there is none.  Appends its value to t, unless t is
 * NULL.
 */
static size_t
placeholder(const char *replace, const struct filling *f, const char *p, char between,
	    struct text *t, bool *is_item)
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

	*is_item = true;
	if (strncmp(p, replace, n) == 0) {
		if (t != NULL)
			put_items(t, f, WHOLE, between);
		return n;
	}
	if (*p != '{')
		return 0;
	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		n = strlen(parts[i].text);
		if (strncmp(p, parts[i].text, n) != 0)
			continue;
		if (t != NULL)
			put_items(t, f, parts[i].part, between);
		return n;
	}
	if (p[1] >= '1' && p[1] <= '9' && (k = strtoul(p + 1, &end, 10), *end == '}')) {
		if (t != NULL && k <= f->n)
			put_part(t, f->items[k - 1], WHOLE);
		return (size_t)(end - p) + 1;
	}
	*is_item = false;
	if (strncmp(p, "{#}", 3) != 0 && strncmp(p, "{%}", 3) != 0)
		return 0;
	if (t != NULL) {
		n = (size_t)snprintf(room, sizeof(room), "%llu",
				     p[1] == '#' ? (unsigned long long)f->number : f->seat);
		put(t, room, n);
	}
	return 3;
}

bool
template_has_item(const char *replace, const char *word)
{
	const struct filling none = { NULL, 0, 0, 0 };
	bool is_item;

	for (; *word != '\0'; word++)
		if (placeholder(replace, &none, word, ' ', NULL, &is_item) > 0 && is_item)
			return true;
	return false;
}

bool
template_is_fixed(const char *replace, const char *word)
{
	const struct filling none = { NULL, 0, 0, 0 };
	bool is_item;

	for (; *word != '\0'; word++)
		if (placeholder(replace, &none, word, ' ', NULL, &is_item) > 0)
			return false;
	return true;
}

/* One word of the template.  A word that is just a placeholder becomes one word for each item. */
static void
put_word(struct text *t, const char *replace, const struct filling *f, const char *word)
{
	bool is_item, alone = placeholder(replace, f, word, ' ', NULL, &is_item) == strlen(word);
	size_t n;

	while (*word != '\0') {
		n = placeholder(replace, f, word, alone ? '\0' : ' ', t, &is_item);
		if (n == 0)
			put(t, word, n = 1);
		word += n;
	}
	put(t, "", 1);
}

char **
template_fill(char *const *command, const char *replace, const struct filling *f)
{
	struct text t = { NULL, 0, 0, false };
	bool found = false;
	size_t i, words = 0;
	char **argv, *p;

	for (i = 0; command[i] != NULL; i++) {
		found = found || template_has_item(replace, command[i]);
		put_word(&t, replace, f, command[i]);
	}
	if (!found) {
		put_items(&t, f, WHOLE, '\0');
		put(&t, "", 1);
	}
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
	struct text t = { NULL, 0, 0, false };

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
