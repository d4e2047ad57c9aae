/* SPDX-License-Identifier: ISC */
#include "shell_line.h"

#include <string.h>

bool
shell_takes_word(const struct shell_place *p)
{
	return p->in == BARE && !p->escaped && p->previous != '$'; /* $'...' are other quotes */
}

static void
pass_bare(struct shell_place *p, char c)
{
	bool dollar = p->previous == '$';

	if (c == '`' || (c == '<' && p->previous == '<') || (c == '(' && p->previous == '(') ||
	    (dollar && (c == '\'' || c == '[')))
		p->in = UNSURE;
	else if (c == '\'')
		p->in = SINGLE;
	else if (c == '"')
		p->in = DOUBLE;
	else if (c == '{' && dollar)
		p->in = NAME;
	else if (c == '#' && strchr(" \t\n;&|()<>", p->previous) != NULL)
		p->in = COMMENT;
}

static void
pass_double(struct shell_place *p, char c)
{
	bool dollar = p->previous == '$';

	if (c == '"')
		p->in = BARE;
	else if (c == '`' || (dollar && (c == '(' || c == '[')))
		p->in = UNSURE;
	else if (c == '{' && dollar)
		p->in = NAME_IN_DOUBLE;
}

void
shell_pass(struct shell_place *p, char c)
{
	if (p->escaped) {
		p->escaped = false;
		if (c != '\n')
			p->previous = 'x';
		return;
	}
	if (c == '\\' && (p->in == BARE || p->in == DOUBLE)) {
		p->escaped = true;
		return;
	}
	switch (p->in) {
	case BARE:
		pass_bare(p, c);
		break;
	case DOUBLE:
		pass_double(p, c);
		break;
	case SINGLE:
		if (c == '\'')
			p->in = BARE;
		break;
	case COMMENT:
		if (c == '\n')
			p->in = BARE;
		break;
	case NAME:
	case NAME_IN_DOUBLE:
		if (c == '}')
			p->in = p->in == NAME ? BARE : DOUBLE;
		else if (strchr("'\"`$\\{", c) != NULL)
			p->in = UNSURE;
		break;
	case UNSURE:
		break;
	}
	p->previous = c;
}
