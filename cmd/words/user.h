/* SPDX-License-Identifier: ISC */
/*
 * user.h - the name of a user, for people.
 */
#ifndef USER_H
#define USER_H

#include <sys/types.h>

#define USER_TEXT 40

/* "ann", or "1000" if no user with that number has a name. */
const char *user_text(uid_t uid, char room[USER_TEXT]);

#endif
