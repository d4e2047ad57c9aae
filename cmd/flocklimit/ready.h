/* SPDX-License-Identifier: ISC */
/*
 * ready.h - --until-ready: hears what the command reports to its NOTIFY_SOCKET, as services report
 * to systemd by sd_notify(3), and passes it on to the manager that we were started by ourselves.
 */
#ifndef READY_H
#define READY_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

struct options;
struct ready;

/*
 * Call it before the command's environment is made: sets NOTIFY_SOCKET.  is_ready() is called at
 * most once, when the command has said READY=1.  NULL, after a line: it can't.
 */
struct ready *ready_open(const struct options *o, void (*is_ready)(void *context), void *context);

/*
 * The command has this pid: what it and its descendants report is believed, whatever their user.
 * Nothing is read before.
 */
void ready_from(struct ready *r, pid_t command);

/* Calls is_ready() if it is time; true if that signal is not for the command. */
bool ready_hears(struct ready *r, const siginfo_t *info);

/* is_ready() was not called yet; false without an R. */
bool ready_is_awaited(const struct ready *r);

/* The command has ended: passes on what it reported last.  A READY=1 among that changes nothing. */
void ready_close(struct ready *r);

#endif
