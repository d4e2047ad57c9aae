/* SPDX-License-Identifier: ISC */
/*
 * sign.c - see sign.h.
 */
#include "sign.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void
sign_me(struct culprit *me)
{
	*me = (struct culprit){ .pid = (uint32_t)getpid(), .uid = (uint32_t)getuid() };
	record_host(me->host);
}

char *
sign_config(const struct flk_settings *c)
{
	char *plain = config_encode(c), *name = NULL, *text = NULL;
	struct culprit me;
	json_t *o = NULL;

	sign_me(&me);
	name = culprit_encode(&me);
	if (plain != NULL && name != NULL && (o = json_loads(plain, 0, NULL)) != NULL) {
		json_object_set_new(o, "by", json_loads(name, 0, NULL));
		text = json_dumps(o, JSON_COMPACT);
	}
	json_decref(o);
	free(plain);
	free(name);
	return text;
}

bool
sign_read(struct culprit *by, const char *value, size_t size)
{
	json_t *o = value != NULL ? json_loadb(value, size, 0, NULL) : NULL;
	const json_t *name = json_object_get(o, "by");
	char *text = name != NULL ? json_dumps(name, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
	bool good = text != NULL && culprit_decode(by, text, strlen(text));

	free(text);
	json_decref(o);
	return good;
}
