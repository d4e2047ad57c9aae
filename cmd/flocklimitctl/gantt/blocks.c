/* SPDX-License-Identifier: ISC */
/*
 * blocks.c - lanes in the terminal: a column is a span of time, a line is a seat.
 *
 * A bar that is shorter than a column still shows, unless a longer bar is in the same column.
 */
#include "picture.h"

#include <inttypes.h>
#include <string.h>

#include "axis.h"
#include "captions.h"
#include "text.h"

#define LABEL 9u /* columns before the lanes */
#define LEAST 20u

struct page {
	FILE *out;
	const struct lanes *l;
	unsigned width, columns; /* of the whole line, and of the part that is time */
	unsigned at;             /* where the next item goes */
	bool colour, utf8;
};

/* What stands for a bar: its colour alone would say nothing on paper. */
static const struct {
	const char *block, *letter, *sgr;
} look[OUTCOMES] = {
	[WELL] = { "\xe2\x96\x88", "#", "34" },     [BADLY] = { "\xe2\x96\x93", "x", "33" },
	[SIGNALED] = { "\xe2\x96\x9a", "s", "31" }, [LATE] = { "\xe2\x96\x92", "t", "35" },
	[REAPED] = { "\xc3\x97", "k", "1" },        [UNTOLD] = { "\xe2\x96\x9e", "?", "32" },
	[RUNNING] = { "\xe2\x96\x91", ">", "36" },
};

static void
put_label(const struct page *p, const char *text)
{
	fprintf(p->out, "%-*.*s", (int)LABEL, (int)LABEL, text);
}

static uint64_t
column_ns(const struct page *p, unsigned column)
{
	uint64_t took = p->l->to_ns - p->l->from_ns;

	/* In a forged file it may be as large as 64 bits allow: multiply without overflow. */
	return p->l->from_ns + took / p->columns * column + took % p->columns * column / p->columns;
}

static unsigned
column_of(const struct page *p, uint64_t when_ns)
{
	uint64_t took = p->l->to_ns - p->l->from_ns;
	double share;

	if (when_ns <= p->l->from_ns || took == 0)
		return 0;
	share = (double)(when_ns - p->l->from_ns) / (double)took;
	return share < 1 ? (unsigned)(share * p->columns) : p->columns - 1;
}

/* ---- lines of numbers ---- */

/* n / of, in eighths; at least one eighth if n is not 0 */
static unsigned
eighths(uint64_t n, uint64_t of)
{
	if (n == 0 || of == 0)
		return 0;
	return n >= of ? 8 : 1 + (unsigned)(n * 7 / of);
}

static void
put_amount(const struct page *p, uint64_t n, uint64_t most)
{
	static const char *const blocks[] = { " ",
					      "\xe2\x96\x81",
					      "\xe2\x96\x82",
					      "\xe2\x96\x83",
					      "\xe2\x96\x84",
					      "\xe2\x96\x85",
					      "\xe2\x96\x86",
					      "\xe2\x96\x87",
					      "\xe2\x96\x88" };

	if (p->utf8)
		fputs(blocks[eighths(n, most)], p->out);
	else
		fputc(n == 0 ? ' ' : n < 10 ? (char)('0' + n) : '+', p->out);
}

/* Each column shows the largest value in its span of time. */
static void
draw_amounts(const struct page *p, const char *label, uint64_t (*value)(const struct step *),
	     uint64_t most)
{
	const struct lanes *l = p->l;
	uint64_t n = value(&l->step[0]), largest;
	size_t next = 1;
	unsigned k;

	put_label(p, label);
	for (k = 0; k < p->columns; k++) {
		largest = n;
		while (next < l->steps && (l->step[next].when_ns < column_ns(p, k + 1))) {
			n = value(&l->step[next++]);
			largest = n > largest ? n : largest;
		}
		put_amount(p, largest, most);
	}
	fputc('\n', p->out);
}

static uint64_t
used_of(const struct step *s)
{
	return s->used;
}

static uint64_t
waiting_of(const struct step *s)
{
	return s->waiting;
}

/* A line, with the limit written on it wherever the limit changes. */
static void
draw_limit(const struct page *p)
{
	const struct lanes *l = p->l;
	unsigned done = 0, from;
	char room[16];
	size_t i;

	put_label(p, "limit");
	for (i = 0; i < l->steps; i++) {
		if (i > 0 && l->step[i].limit == l->step[i - 1].limit)
			continue;
		from = column_of(p, l->step[i].when_ns);
		snprintf(room, sizeof(room), "%u", l->step[i].limit);
		if (from < done || from + strlen(room) > p->columns)
			continue;
		for (; done < from; done++)
			fputs(p->utf8 ? "\xe2\x94\x80" : "-", p->out);
		fputs(room, p->out);
		done += (unsigned)strlen(room);
	}
	for (; done < p->columns; done++)
		fputs(p->utf8 ? "\xe2\x94\x80" : "-", p->out);
	fputc('\n', p->out);
}

/* ---- seats ---- */

struct cell {
	uint64_t ns;   /* how much of the column */
	uint32_t turn; /* 1 + its index; 0: none */
	char letter;   /* written there; 0: none */
};

static void
fill_cells(const struct page *p, const struct turn *t, uint64_t until_ns, uint32_t number,
	   struct cell *cell)
{
	unsigned from = column_of(p, t->granted_ns), to = column_of(p, until_ns), k;

	for (k = from; k <= to; k++) {
		uint64_t begin = column_ns(p, k), end = column_ns(p, k + 1), ns;
		begin = begin > t->granted_ns ? begin : t->granted_ns;
		end = end < until_ns ? end : until_ns;
		ns = end > begin ? end - begin : 0;
		if (cell[k].turn == 0 || ns > cell[k].ns)
			cell[k] = (struct cell){ .turn = number, .ns = ns };
	}
}

/* "12 cc", or "12", or nothing, with some of the bar on either side. */
static void
name_bar(const struct turn *t, struct cell *cell, unsigned columns)
{
	char name[24 + FLK_COMMAND];
	size_t n, number, k;

	n = number = (size_t)snprintf(name, 24, "%" PRIu64, t->ticket);
	name[n++] = ' ';
	for (k = 0; t->command[k] > ' ' && t->command[k] < 0x7f; k++)
		name[n++] = t->command[k];
	if (n + 2 > columns || k == 0)
		n = number;
	for (k = 0; k < n && n + 2 <= columns; k++)
		cell[1 + k].letter = name[k];
}

static void
name_bars(const struct page *p, struct cell *cell)
{
	unsigned from, to;

	for (from = 0; from < p->columns; from = to) {
		for (to = from + 1; to < p->columns && cell[to].turn == cell[from].turn; to++)
			;
		if (cell[from].turn != 0)
			name_bar(&p->l->turn[cell[from].turn - 1], cell + from, to - from);
	}
}

/* Half a block where a bar begins right after another bar. */
static const char *
glyph(const struct page *p, const struct cell *cell, unsigned k)
{
	enum outcome o = p->l->turn[cell[k].turn - 1].outcome;
	bool begins = k > 0 && cell[k - 1].turn != 0 && cell[k - 1].turn != cell[k].turn &&
		      k + 1 < p->columns && cell[k + 1].turn == cell[k].turn;

	if (p->utf8)
		return begins ? "\xe2\x96\x90" : look[o].block;
	return begins ? "[" : look[o].letter;
}

static void
draw_cells(const struct page *p, const struct cell *cell)
{
	char sgr[16], now[16] = "";
	unsigned k;

	for (k = 0; k < p->columns; k++) {
		snprintf(sgr, sizeof(sgr), "%s%s",
			 cell[k].turn != 0 ? look[p->l->turn[cell[k].turn - 1].outcome].sgr : "",
			 cell[k].letter != 0 ? ";7" : "");
		if (p->colour && strcmp(sgr, now) != 0)
			fprintf(p->out, "\033[0;%sm", sgr);
		memcpy(now, sgr, sizeof(now));
		if (cell[k].letter != 0)
			fputc(cell[k].letter, p->out);
		else
			fputs(cell[k].turn != 0 ? glyph(p, cell, k) : " ", p->out);
	}
	fputs(p->colour && *now != '\0' ? "\033[m\n" : "\n", p->out);
}

static void
draw_seats(const struct page *p)
{
	const struct lanes *l = p->l;
	struct cell cell[MOST_COLUMNS];
	char label[24];
	uint32_t seat;
	size_t i;

	for (seat = 0; seat < l->seats; seat++) {
		memset(cell, 0, sizeof(cell));
		for (i = 0; i < l->turns; i++)
			if (l->turn[i].held && lanes_seat_from(&l->turn[i], seat) == seat)
				fill_cells(p, &l->turn[i], lanes_seat_end(l, &l->turn[i], seat),
					   (uint32_t)i + 1, cell);
		snprintf(label, sizeof(label), "seat %u", seat);
		put_label(p, label);
		name_bars(p, cell);
		draw_cells(p, cell);
	}
}

/* ---- around ---- */

static void
draw_axis(const struct page *p)
{
	struct axis a = axis_of(p->l, p->columns / 15 + 1);
	unsigned done = 0, at;
	char room[40];
	double t;

	put_label(p, "");
	for (t = a.first; t <= a.to; t += a.step) {
		at = (unsigned)((t - a.from) / (a.to - a.from) * p->columns);
		axis_label(&a, t, room);
		if (at < done || at + strlen(room) + 1 > p->columns)
			continue;
		fprintf(p->out, "%*s%s%s", (int)(at - done), "", p->utf8 ? "\xe2\x94\x94" : "'",
			room);
		done = at + (unsigned)strlen(room) + 1;
	}
	fputc('\n', p->out);
}

/* Appends an item to the line, or begins a new line if there is no room. */
static void
put_item(struct page *p, size_t width, const char *text)
{
	if (p->at > 0 && p->at + 2 + width > p->width) {
		fputc('\n', p->out);
		p->at = 0;
	}
	fprintf(p->out, "%s%s", p->at > 0 ? "  " : "", text);
	p->at += (unsigned)width + (p->at > 0 ? 2 : 0);
}

static void
end_items(struct page *p)
{
	fputc('\n', p->out);
	p->at = 0;
}

static void
draw_head(struct page *p, const char *name)
{
	const struct lanes *l = p->l;
	char shown[1200], text[1280], room[120];

	snprintf(text, sizeof(text), "%s: %zu ticket%s", visible(name, shown, sizeof(shown)),
		 l->turns, l->turns == 1 ? "" : "s");
	put_item(p, strlen(text), text);
	snprintf(text, sizeof(text), "%s", from_to(l, room));
	put_item(p, strlen(text), text);
	snprintf(text, sizeof(text), "at most %" PRIu64 " in use, %u waiting", l->most_used,
		 l->most_waiting);
	put_item(p, strlen(text), text);
	end_items(p);
}

static void
draw_keys(struct page *p)
{
	size_t count[OUTCOMES] = { 0 }, i;
	char text[64], shown[96];

	for (i = 0; i < p->l->turns; i++)
		count[p->l->turn[i].outcome] += p->l->turn[i].held;
	for (i = 0; i < OUTCOMES; i++) {
		if (count[i] == 0)
			continue;
		snprintf(text, sizeof(text), " %s: %zu", outcome_name((enum outcome)i), count[i]);
		snprintf(shown, sizeof(shown), "%s%s%s%s%s%s", p->colour ? "\033[" : "",
			 p->colour ? look[i].sgr : "", p->colour ? "m" : "",
			 p->utf8 ? look[i].block : look[i].letter, p->colour ? "\033[m" : "", text);
		put_item(p, strlen(text) + 1, shown);
	}
	end_items(p);
}

void
draw_text(FILE *out, const struct lanes *l, const char *name, unsigned width, bool colour,
	  bool utf8)
{
	struct page p = { .out = out, .l = l, .colour = colour, .utf8 = utf8 };

	p.width = width > LABEL + LEAST ? width : LABEL + LEAST;
	p.columns = p.width - LABEL;
	draw_head(&p, name);
	fputc('\n', out);
	draw_limit(&p);
	draw_amounts(&p, "in use", used_of,
		     l->most_limit > l->most_used ? l->most_limit : l->most_used);
	draw_seats(&p);
	if (l->rows > 0)
		draw_amounts(&p, "waiting", waiting_of, l->most_waiting);
	draw_axis(&p);
	fputc('\n', out);
	draw_keys(&p);
}
