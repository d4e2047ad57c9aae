/* SPDX-License-Identifier: ISC */
/*
 * steering.c - see steering.h.
 */
#include "steering.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "run.h"
#include "setting.h"

static bool
is_so(const struct flk_pace *is, unsigned part, const struct flk_pace *to)
{
	struct starts none = { 0 };
	struct flk_pace changed = *is;

	starts_pace(&changed, &none, part, to);
	return starts_same_pace(&changed, is);
}

unsigned
steering_differs(const struct flk_settings *is, unsigned which, const struct flk_settings *to)
{
	static const unsigned parts[] = { FLK_SET_RATE, FLK_SET_STAGGER, FLK_SET_RAMP };
	unsigned differ = is->fair != to->fair ? which & FLK_SET_FAIR : 0;
	size_t i;

	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if ((which & parts[i]) != 0 && !is_so(&is->pace, parts[i], &to->pace))
			differ |= parts[i];
	return differ;
}

struct txn *
steering_txn(const struct look *l, unsigned which, const struct flk_settings *to,
	     const struct person *by, int *code)
{
	const struct flk_settings *old = &l->config;
	struct flk_settings new = *old;
	struct starts starts = l->starts;
	bool paces = (which & FLK_SET_PACE) != 0;
	struct txn *x;
	char *value;

	flki_settings_set(&new, which, to);
	if (paces)
		starts_pace(&new.pace, &starts, which, &to->pace);
	if ((which & FLK_SET_FAIR) != 0)
		new.fair = to->fair;
	*code = 0;
	if (l->config_mod != 0 && !paces && new.fair == old->fair && flki_settings_same(&new, old))
		return NULL;
	value = config_encode(&new, by);
	if (value == NULL) {
		*code = -ENOMEM;
		return NULL;
	}
	x = txn_new();
	txn_if_changed(x, l->limiter->s, l->config_mod);
	txn_put(x, l->limiter->s, value, strlen(value), 0);
	if (paces)
		starts_put_all(&new.pace, &starts, x, l->limiter);
	if (new.fair != old->fair)
		turns_delete(x, l->limiter); /* all keys begin anew */
	run_add_order(x, l->limiter, l->config_mod, old, &new, by);
	free(value);
	return x;
}
