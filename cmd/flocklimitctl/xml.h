/*
 * xml.h - text and numbers into XML.
 */
#ifndef XML_H
#define XML_H

#include <stddef.h>
#include <stdio.h>

/* Whatever bytes they are: what is no UTF-8, or not to be seen, is shown as \x1b. */
void xml_text(FILE *out, const char *text);

/* How many letters of it there will be to see; at most. */
size_t xml_letters(const char *text);

/* To a tenth, after BEFORE. */
void xml_number(FILE *out, const char *before, double n);

#endif
