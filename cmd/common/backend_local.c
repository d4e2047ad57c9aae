/* SPDX-License-Identifier: ISC */
/*
 * backend_local.c - limiters are files of this machine.
 */
#include "backend.h"

bool
backend_is_store(void)
{
	return false;
}

int
backend_attach(struct flk **limiter, const char *name, const struct flk_options *options)
{
	return flk_attach(limiter, name, options);
}

int
backend_locate(const char *name, char *path, size_t size)
{
	return flk_locate(name, path, size);
}

const char *
backend_strerror(int code)
{
	return flk_strerror(code);
}
