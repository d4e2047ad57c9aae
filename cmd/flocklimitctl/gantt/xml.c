/* SPDX-License-Identifier: ISC */
#include "xml.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Bytes of the UTF-8 character that begins here; 0: none does. */
static unsigned
utf8_length(const unsigned char *p, uint32_t *c)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	unsigned n = *p >= 0xf0 ? 4 : *p >= 0xe0 ? 3 : 2, i;

	*c = *p;
	if (*p < 0x80)
		return 1;
	if (*p < 0xc2 || *p > 0xf4)
		return 0;
	*c = *p & (0x7fu >> n);
	for (i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		*c = *c << 6 | (p[i] & 0x3fu);
	}
	return *c >= least[n] ? n : 0;
}

/* XML does not allow the character, or it is invisible, or it reverses the line. */
static bool
is_unfit(uint32_t c)
{
	return (c < 0x20 && c != '\n') || (c >= 0x7f && c <= 0x9f) ||
	       (c >= 0xd800 && c <= 0xdfff) || (c & 0xfffe) == 0xfffe || c > 0x10ffff ||
	       (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
	       (c >= 0x2060 && c <= 0x206f) || c == 0xfeff;
}

void
xml_text(FILE *out, const char *text)
{
	const unsigned char *p = (const unsigned char *)text;
	uint32_t c;
	unsigned n;

	while (*p != '\0') {
		n = utf8_length(p, &c);
		if (n == 0 || is_unfit(c)) {
			fprintf(out, "\\x%02x", *p++);
			continue;
		}
		if (c == '<' || c == '>' || c == '&' || c == '"')
			fprintf(out, "&#%u;", c);
		else
			fwrite(p, 1, n, out);
		p += n;
	}
}

size_t
xml_letters(const char *text)
{
	const unsigned char *p = (const unsigned char *)text;
	size_t letters = 0;
	uint32_t c;
	unsigned n;

	while (*p != '\0') {
		n = utf8_length(p, &c);
		if (n == 0 || is_unfit(c)) {
			letters += 4;
			p++;
			continue;
		}
		letters += c < 0x1100 ? 1 : 2; /* from there on, some are wide */
		p += n;
	}
	return letters;
}

void
xml_number(FILE *out, const char *before, double n)
{
	char room[32];
	size_t last;

	snprintf(room, sizeof(room), "%.1f", n);
	last = strlen(room) - 1;
	if (room[last] == '0')
		room[last - 1] = '\0';
	fprintf(out, "%s%s", before, room);
}
