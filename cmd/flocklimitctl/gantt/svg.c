/* SPDX-License-Identifier: ISC */
/*
 * svg.c - lanes as a picture that needs no script, no font and no other file.
 *
 * From the top: what the colours mean, the units in use under the limit, a lane for each seat, and
 * the waits.  The colours are those of Okabe and Ito, which colour-blind readers can tell apart.
 */
#include "picture.h"

#include <inttypes.h>
#include <string.h>

#include "canvas.h"
#include "captions.h"
#include "strip.h"
#include "xml.h"

#define WIDTH   960
#define GAP     28.0 /* between two panels: the next one's heading */
#define CAPITAL 9.4  /* width of a letter of the limiter's name, about */

/*
 * The stroke of .head and .note in the page's colour keeps lines behind the text off its letters.
 */
static const char style[] =
    "text{font:11px system-ui,-apple-system,\"Segoe UI\",Helvetica,Arial,sans-serif;fill:#57606a}"
    ".name{font-size:15px;font-weight:600;fill:#1f2328}.e{text-anchor:end}.m{text-anchor:middle}"
    ".head,.note{paint-order:stroke;stroke:#fff;stroke-width:3px}.note{font-size:10px;fill:#1f2328}"
    ".in,.ink,.on,.off{font-size:10px;pointer-events:none}.in,.off{fill:#fff}.ink,.on{fill:#1f2328}"
    ".red{fill:#cf222e}.page{fill:#fff;stroke:#d0d7de}"
    ".hold:hover,.wait:hover{stroke:#1f2328;stroke-width:1.5}"
    ".well{fill:#0072b2}.badly{fill:#e69f00}.signaled{fill:#d55e00}.late{fill:#cc79a7}"
    ".reaped{fill:#1f2328}.untold{fill:#009e73}.running{fill:#56b4e9}"
    ".wait{fill:#c8ced5}.out{fill:#8c959f}.used{fill:#d5e3ee;stroke:#7a9cb8}"
    ".limit{fill:none;stroke:#cf222e;stroke-width:1.5}.room{fill:none;stroke:#cf222e;"
    "stroke-dasharray:2 2}"
    ".band{fill:#f3f5f7}.grid{fill:none;stroke:#e1e5ea}.mark{stroke:#57606a;stroke-dasharray:3 2}"
    "@media(prefers-color-scheme:dark){.page{fill:#0d1117;stroke:#30363d}text{fill:#9198a1}"
    ".head,.note{stroke:#0d1117}.off{fill:#0d1117}.name,.note,.on,.reaped{fill:#f0f6fc}"
    ".wait{fill:#3d444d}.out{fill:#6e7681}.used{fill:#1b3347;stroke:#4f7ca0}.red{fill:#ff7b72}"
    ".limit,.room{stroke:#ff7b72}.band{fill:#161b22}.grid{stroke:#262c36}.mark{stroke:#9198a1}"
    ".hold:hover,.wait:hover{stroke:#f0f6fc}}";

static const struct {
	const char *class, *ink; /* of the bar, and of what is written on it */
} look[OUTCOMES] = {
	[WELL] = { "well", "in" },         [BADLY] = { "badly", "ink" },
	[SIGNALED] = { "signaled", "in" }, [LATE] = { "late", "ink" },
	[REAPED] = { "reaped", "off" },    [UNTOLD] = { "untold", "ink" },
	[RUNNING] = { "running", "ink" },
};

static void
lay_out(struct canvas *v)
{
	const struct lanes *l = v->l;
	size_t i;

	v->axis = axis_of(l, 9);
	v->lane = l->seats <= 8 ? 24 : l->seats <= 20 ? 16 : l->seats <= 64 ? 9 : 576.0 / l->seats;
	v->row = l->rows <= 8 ? 14 : l->rows <= 200 ? 100.0 / l->rows + 1 : 300.0 / l->rows;
	v->strip = 102;
	v->seats = v->strip + STRIP + GAP;
	v->line = v->seats + v->lane * l->seats + (l->seats > 0 ? GAP : 0);
	v->bottom = l->rows > 0 ? v->line + v->row * l->rows : v->line - GAP;
	/*
	 * If the limit is far above all use, the panel ends below it, or the use would have no
	 * height.
	 */
	v->units = l->most_limit > l->most_used ? l->most_limit : l->most_used;
	if (v->units / 4 > l->most_used)
		v->units = l->most_used * 5 / 4;
	v->units = v->units > 0 ? v->units : 1;
	for (i = 0; i < l->turns; i++)
		if (l->turn[i].held && l->turn[i].weight > v->heaviest)
			v->heaviest = l->turn[i].weight;
}

/* ---- around ---- */

/* A long name loses its beginning: the end of a path says more. */
static void
put_name(const struct canvas *v, const char *name, double width)
{
	char text[FLK_NAME_MAX + 8];

	if (CAPITAL * (double)xml_letters(name) <= width) {
		canvas_label(v, LEFT, 29, "name", name);
		return;
	}
	while (CAPITAL * (double)(xml_letters(name) + 1) > width)
		do
			name++;
		while (((unsigned char)*name & 0xc0) == 0x80);
	snprintf(text, sizeof(text), "\xe2\x80\xa6%s", name);
	canvas_label(v, LEFT, 29, "name", text);
}

static void
draw_frame(const struct canvas *v, const char *name)
{
	int height = (int)v->bottom + 34;
	char times[120], text[160];

	fprintf(v->out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" width=\"%d\" "
		"height=\"%d\" viewBox=\"0 0 %d %d\">\n<title>",
		WIDTH, height, WIDTH, height);
	xml_text(v->out, name);
	fprintf(v->out, "</title>\n<style>%s</style>\n", style);
	fprintf(v->out, "<path class=\"page\" d=\"M.5 .5h%dv%dh-%dz\"/>\n", WIDTH - 1, height - 1,
		WIDTH - 1);
	snprintf(text, sizeof(text), "%zu ticket%s, %s", v->l->turns, v->l->turns == 1 ? "" : "s",
		 from_to(v->l, times));
	canvas_label(v, RIGHT, 29, "e", text);
	put_name(v, name, RIGHT - LEFT - LETTER * (double)strlen(text) - 20);
}

/* Draws an entry of the legend; returns where the next one may begin. */
static double
draw_key(const struct canvas *v, double x, double y, const char *class, const char *name,
	 size_t count)
{
	char text[80];

	if (count == 0)
		return x;
	snprintf(text, sizeof(text), "%s: %zu", name, count);
	fprintf(v->out, "<path class=\"%s\" d=\"", class);
	xml_number(v->out, "M", x);
	xml_number(v->out, " ", y - 9);
	fputs("h10v10h-10z\"/>", v->out);
	canvas_label(v, x + 15, y, "head", text);
	return x + 15 + LETTER * (double)strlen(text) + 16;
}

static void
draw_keys(const struct canvas *v)
{
	size_t count[OUTCOMES] = { 0 }, i;
	double x = LEFT;

	for (i = 0; i < v->l->turns; i++)
		count[v->l->turn[i].outcome] += v->l->turn[i].held;
	for (i = 0; i < OUTCOMES; i++)
		x = draw_key(v, x, 54, look[i].class, outcome_name((enum outcome)i), count[i]);
}

static void
draw_axis(const struct canvas *v)
{
	const struct axis *a = &v->axis;
	char room[40];
	double t;

	fputs("<path class=\"grid\" d=\"", v->out);
	for (t = a->first; t <= a->to; t += a->step) {
		xml_number(v->out, "M", canvas_x_of(v, t - a->from));
		xml_number(v->out, " ", v->strip);
		xml_number(v->out, "V", v->bottom + 4);
	}
	fputs("\"/>\n", v->out);
	for (t = a->first; t <= a->to; t += a->step)
		canvas_label(v, canvas_x_of(v, t - a->from), v->bottom + 18, "m",
			     axis_label(a, t, room));
}

/* ---- bars ---- */

/* Writes what fits into the bar: "12 make", or "12". */
static void
draw_name(const struct canvas *v, const struct turn *t, double x, double y, double width,
	  const char *class)
{
	char text[24 + FLK_COMMAND + 24], number[24], weight[24] = "";
	size_t command = strcspn(t->command, " ");

	snprintf(number, sizeof(number), "%" PRIu64, t->ticket);
	if (t->weight > 1)
		snprintf(weight, sizeof(weight), " \xc3\x97%u", t->weight);
	snprintf(text, sizeof(text), "%s %.*s%s", number, (int)command, t->command, weight);
	if (width < LETTER * (double)xml_letters(text) + 7)
		snprintf(text, sizeof(text), "%s%s", number, weight);
	if (width < LETTER * (double)xml_letters(text) + 7)
		snprintf(text, sizeof(text), "%s", number);
	if (width >= LETTER * (double)xml_letters(text) + 7)
		canvas_label(v, x + 4, y, class, text);
}

static void
draw_bar(const struct canvas *v, const struct turn *t, const char *class, const char *ink,
	 uint64_t from_ns, uint64_t to_ns, double y, double height)
{
	double x = canvas_x(v, from_ns), end = canvas_x(v, to_ns), width;
	char title[TITLE_TEXT];

	width = end - x - 0.5 > 0.8 ? end - x - 0.5 : 0.8;
	fprintf(v->out, "<rect class=\"%s", class);
	xml_number(v->out, "\" x=\"", x);
	xml_number(v->out, "\" y=\"", y);
	xml_number(v->out, "\" width=\"", width);
	xml_number(v->out, "\" height=\"", height > 0.3 ? height : 0.3);
	fputs("\"><title>", v->out);
	xml_text(v->out, title_of(t, title));
	fputs("</title></rect>\n", v->out);
	if (height >= 11)
		draw_name(v, t, x, y + height / 2 + 3.6, width, ink);
}

/* A bar on this seat.  Every bar is thick enough for its text; heavier ones are thicker. */
static void
draw_hold(const struct canvas *v, const struct turn *t, uint32_t seat)
{
	double inner = v->lane > 3 ? v->lane - (v->lane > 12 ? 4 : 1) : v->lane;
	double height = inner * (0.65 + 0.35 * t->weight / v->heaviest);
	char class[32];

	snprintf(class, sizeof(class), "hold %s", look[t->outcome].class);
	draw_bar(v, t, class, look[t->outcome].ink, t->granted_ns, lanes_seat_end(v->l, t, seat),
		 v->seats + v->lane * seat + (v->lane - inner) / 2 + inner - height, height);
}

static void
draw_holds(const struct canvas *v)
{
	uint32_t seat;
	size_t i;

	for (i = 0; i < v->l->turns; i++) {
		const struct turn *t = &v->l->turn[i];
		seat = t->held ? lanes_seat_from(t, 0) : LANES_SEATS;
		for (; seat < LANES_SEATS; seat = lanes_seat_from(t, seat + 1))
			draw_hold(v, t, seat);
	}
}

static void
draw_seats(const struct canvas *v)
{
	uint32_t seats = v->l->seats, every = 1, i;
	char room[16];

	if (seats == 0)
		return;
	while (every * v->lane < 13)
		every *= every == 1 || every % 10 == 0 ? 2 : every % 4 == 0 ? 5 : 2;
	canvas_label(v, LEFT, v->seats - 8, "head", seats > 1 ? "seats" : "the seat");
	fputs("<path class=\"band\" d=\"", v->out);
	for (i = 0; i < seats && v->lane >= 4; i += 2) {
		xml_number(v->out, "M", LEFT);
		xml_number(v->out, " ", v->seats + v->lane * i);
		xml_number(v->out, "H", RIGHT);
		xml_number(v->out, "v", v->lane);
		xml_number(v->out, "H", LEFT);
	}
	fputs("\"/>\n", v->out);
	for (i = 0; i < seats; i += every) {
		snprintf(room, sizeof(room), "%u", i);
		canvas_label(v, LEFT - 6, v->seats + v->lane * (i + 0.5) + 4, "e", room);
	}
}

static bool
no_permit(const struct turn *t)
{
	return t->waited && !t->held && t->over;
}

static void
draw_line(const struct canvas *v)
{
	double height = v->row > 4 ? v->row - 1 : v->row;
	size_t i, waits = 0, out = 0;
	char room[64];
	double x;

	if (v->l->rows == 0)
		return;
	for (i = 0; i < v->l->turns; i++) {
		const struct turn *t = &v->l->turn[i];
		waits += t->waited;
		out += no_permit(t);
		if (t->waited)
			draw_bar(v, t, no_permit(t) ? "wait out" : "wait", "on", t->queued_ns,
				 lanes_wait_end(t), v->line + v->row * t->row, height);
	}
	snprintf(room, sizeof(room), "waiting, at most %u at once", v->l->most_waiting);
	canvas_label(v, LEFT, v->line - 8, "head", room);
	x = draw_key(v, LEFT + LETTER * (double)strlen(room) + 16, v->line - 8, "wait", "waits",
		     waits - out);
	draw_key(v, x, v->line - 8, "out", "no permit", out);
}

void
draw_svg(FILE *out, const struct lanes *l, const char *name)
{
	struct canvas v = { .out = out, .l = l };

	lay_out(&v);
	draw_frame(&v, name);
	draw_keys(&v);
	draw_seats(&v);
	draw_axis(&v);
	strip_draw(&v);
	draw_holds(&v);
	draw_line(&v);
	fputs("</svg>\n", out);
}
