/* SPDX-License-Identifier: ISC */
#include "canvas.h"

#include "xml.h"

void
canvas_label(const struct canvas *v, double x, double y, const char *class, const char *text)
{
	xml_number(v->out, "<text x=\"", x);
	xml_number(v->out, "\" y=\"", y);
	if (*class != '\0')
		fprintf(v->out, "\" class=\"%s", class);
	fputs("\">", v->out);
	xml_text(v->out, text);
	fputs("</text>\n", v->out);
}

double
canvas_x_of(const struct canvas *v, double since_s)
{
	return LEFT + (RIGHT - LEFT) * since_s / (v->axis.to - v->axis.from);
}

double
canvas_x(const struct canvas *v, uint64_t when_ns)
{
	uint64_t from = v->l->from_ns, to = v->l->to_ns;

	if (when_ns <= from)
		return LEFT;
	return canvas_x_of(v, (double)((when_ns < to ? when_ns : to) - from) / 1e9);
}
