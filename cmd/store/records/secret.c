/* SPDX-License-Identifier: ISC */
#include "secret.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>

#define MOST 8192

void
secret_forget(char **text)
{
	if (*text != NULL)
		explicit_bzero(*text, strlen(*text));
	free(*text);
	*text = NULL;
}

/* The secret may become part of an HTTP header. */
static bool
usable(const char *text)
{
	const unsigned char *t = (const unsigned char *)text;

	if (*t == '\0')
		return false;
	while (*t >= ' ' && *t != 0x7f)
		t++;
	return *t == '\0';
}

/* Opens a file if it is as secret as it should be: a descriptor, or a negative errno and why. */
static int
open_secret(const char *path, const char *name, char *why, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK), error;
	struct stat st;

	if (fd == -1 || fstat(fd, &st) == -1) {
		error = -errno;
		snprintf(why, size, "%s=%s: %s", name, path, strerror(-error));
	} else if (!S_ISREG(st.st_mode)) {
		error = -EINVAL;
		snprintf(why, size, "%s=%s: it is no regular file", name, path);
	} else if ((st.st_mode & (S_IRWXO | S_IWGRP)) != 0) {
		error = -EACCES;
		snprintf(why, size, "%s=%s: others may read or write it: chmod 600 %s", name, path,
			 path);
	} else {
		return fd;
	}
	if (fd != -1)
		close(fd);
	return error;
}

/* Reads the file, without the newline at its end. */
static int
read_secret(char **secret, const char *path, const char *name, char *why, size_t size)
{
	char text[MOST];
	int fd = open_secret(path, name, why, size), error = 0;
	ssize_t n;

	if (fd < 0)
		return fd;
	n = read(fd, text, sizeof(text));
	close(fd);
	if (n < 0)
		n = 0;
	while (n > 0 && n < MOST && (text[n - 1] == '\n' || text[n - 1] == '\r'))
		n--;
	text[n < MOST ? n : 0] = '\0';
	if (!usable(text) || strlen(text) != (size_t)n) {
		error = -EINVAL;
		snprintf(why, size, "%s=%s: it must contain one line", name, path);
	} else {
		*secret = strdup(text);
		error = *secret == NULL ? -ENOMEM : 0;
	}
	explicit_bzero(text, sizeof(text));
	return error;
}

/* A copy of what is not NULL. */
static int
copy(char **to, const char *text)
{
	if (text != NULL)
		*to = strdup(text);
	return text != NULL && *to == NULL ? -ENOMEM : 0;
}

/* A copy of the environment variable; NULL if it is not set, or empty. */
static int
from_environment(char **secret, const char *name, char *why, size_t size)
{
	const char *text = getenv(name);

	if (text == NULL || *text == '\0')
		return 0;
	if (!usable(text)) {
		snprintf(why, size, "$%s has a control character in it", name);
		return -EINVAL;
	}
	return copy(secret, text);
}

/*
 * A file that the URL names.  The path must be absolute: the client may have changed its directory
 * since the URL was written.  OpenSSL reads those of certificates: for us they need only be readable.
 */
static int
take_path(char **path, const struct url *u, const char *name, bool tls, char *why, size_t size)
{
	const char *text = url_param(u, name);

	if (text != NULL && *text != '/') {
		snprintf(why, size, "%s=%s: use an absolute path: %s=/...", name, text, name);
		return -EINVAL;
	}
	if (text != NULL && tls && access(text, R_OK) == -1) {
		int error = -errno;

		snprintf(why, size, "%s=%s: %s", name, text, strerror(-error));
		return error;
	}
	return copy(path, text);
}

static int
take_paths(struct secret *s, const struct url *u, char *why, size_t size)
{
	struct {
		const char *name;
		char **path;
		bool tls;
	} const all[] = {
		{ "cacert", &s->cacert, true },
		{ "cert", &s->cert, true },
		{ "key", &s->key, true },
		{ "password-file", &s->password_file, false },
		{ "token-file", &s->token_file, false },
	};
	int error = 0, fd;
	size_t i;

	for (i = 0; error == 0 && i < sizeof(all) / sizeof(all[0]); i++)
		error = take_path(all[i].path, u, all[i].name, all[i].tls, why, size);
	if (error != 0)
		return error;
	if ((s->cert == NULL) != (s->key == NULL)) {
		snprintf(why, size, "cert= and key= must be given together");
		return -EINVAL;
	}
	if (s->key == NULL)
		return 0;
	fd = open_secret(s->key, "key", why, size);
	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

/* The password that the URL has, or its file, or the environment. */
static int
load_password(struct secret *s, const struct url *u, char *why, size_t size)
{
	if (u->password != NULL) {
		secret_forget(&s->password_file); /* the password is not from this file */
		return copy(&s->password, u->password);
	}
	if (s->password_file != NULL)
		return read_secret(&s->password, s->password_file, "password-file", why, size);
	return from_environment(&s->password, "FLOCKLIMIT_STORE_PASSWORD", why, size);
}

int
secret_load(struct secret *s, const struct url *u, char *why, size_t size)
{
	const char *user = u->user != NULL ? u->user : url_param(u, "user");
	int error;

	memset(s, 0, sizeof(*s));
	snprintf(why, size, "no memory is left");
	error = take_paths(s, u, why, size);
	if (error == 0)
		error = user != NULL
			    ? copy(&s->user, user)
			    : from_environment(&s->user, "FLOCKLIMIT_STORE_USER", why, size);
	if (error == 0)
		error = load_password(s, u, why, size);
	if (error != 0)
		return error;
	if (s->token_file != NULL)
		error = read_secret(&s->token, s->token_file, "token-file", why, size);
	else
		error = from_environment(&s->token, "FLOCKLIMIT_STORE_TOKEN", why, size);
	return error;
}

int
secret_check_pair(const struct secret *s, char *why, size_t size)
{
	if (s->token != NULL || (s->user == NULL) == (s->password == NULL))
		return 0;
	snprintf(why, size,
		 s->user == NULL ? "there is a password, but no user: user= or "
				   "$FLOCKLIMIT_STORE_USER"
				 : "there is a user, but no password: password-file= or "
				   "$FLOCKLIMIT_STORE_PASSWORD");
	return -EINVAL;
}

/* Whether the file has another secret by now; then *secret becomes the new one. */
static bool
changed(char **secret, const char *path, const char *name, char *why, size_t size)
{
	char *now = NULL;
	bool other = path != NULL && read_secret(&now, path, name, why, size) == 0 &&
		     (*secret == NULL || strcmp(now, *secret) != 0);

	if (other) {
		secret_forget(secret);
		*secret = now;
	} else {
		secret_forget(&now);
	}
	return other;
}

bool
secret_token_changed(struct secret *s, char *why, size_t size)
{
	return changed(&s->token, s->token_file, "token-file", why, size);
}

bool
secret_password_changed(struct secret *s, char *why, size_t size)
{
	return changed(&s->password, s->password_file, "password-file", why, size);
}

bool
secret_may_change(const struct secret *s)
{
	return s->token_file != NULL || s->password_file != NULL;
}

void
secret_clear(struct secret *s)
{
	char **const all[] = { &s->user,       &s->password, &s->token, &s->password_file,
			       &s->token_file, &s->cacert,   &s->cert,  &s->key };
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		secret_forget(all[i]);
}
