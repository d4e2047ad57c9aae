/* SPDX-License-Identifier: ISC */
/*
 * xml.h - text and numbers into XML.
 */
#ifndef XML_H
#define XML_H

#include <stddef.h>
#include <stdio.h>

/* Writes any bytes as text: invisible characters and bytes that are not UTF-8 become \x1b. */
void xml_text(FILE *out, const char *text);

/* How many letters wide xml_text() shows it, at most. */
size_t xml_letters(const char *text);

/* Writes BEFORE, and the number to a tenth. */
void xml_number(FILE *out, const char *before, double n);

#endif
