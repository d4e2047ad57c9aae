/* SPDX-License-Identifier: ISC */
#include "base64.h"

#include <stdint.h>
#include <string.h>

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void
base64_encode(char *text, const char *bytes, size_t size)
{
	const unsigned char *b = (const unsigned char *)bytes;
	size_t i;

	for (i = 0; i < size; i += 3) {
		size_t have = size - i;
		uint32_t v = (uint32_t)b[i] << 16 | (have > 1 ? (uint32_t)b[i + 1] << 8 : 0) |
			     (have > 2 ? b[i + 2] : 0);

		*text++ = digits[v >> 18];
		*text++ = digits[v >> 12 & 63];
		*text++ = digits[v >> 6 & 63];
		*text++ = digits[v & 63];
		if (have < 3)
			memset(text - 3 + have, '=', 3 - have);
	}
	*text = '\0';
}

static int
digit(char c)
{
	const char *d = c == '\0' ? NULL : strchr(digits, c);

	return d == NULL ? -1 : (int)(d - digits);
}

bool
base64_decode(char *bytes, size_t *size, const char *text)
{
	size_t length = strlen(text), i, n = 0;

	if (length % 4 != 0)
		return false;
	for (i = 0; i < length; i += 4) {
		bool last = i + 4 == length;
		int a = digit(text[i]), b = digit(text[i + 1]), c = digit(text[i + 2]),
		    d = digit(text[i + 3]);

		if (a < 0 || b < 0)
			return false;
		bytes[n++] = (char)(a << 2 | b >> 4);
		if (last && text[i + 2] == '=' && text[i + 3] == '=')
			break;
		if (c < 0)
			return false;
		bytes[n++] = (char)((b & 15) << 4 | c >> 2);
		if (last && text[i + 3] == '=')
			break;
		if (d < 0)
			return false;
		bytes[n++] = (char)((c & 3) << 6 | d);
	}
	bytes[n] = '\0';
	*size = n;
	return true;
}
