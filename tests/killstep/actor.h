/* SPDX-License-Identifier: ISC */
/*
 * actor.h - what actor.c does for step.c and stops.c.
 */
#ifndef ACTOR_H
#define ACTOR_H

#include "killstep.h"

/* Stops a child, resumes it by this request, and returns its next status; -1: none can be traced. */
int actor_probe(int request);

/* The desk of this process; NULL in the controller. */
extern struct desk *actor_desk;

/* Is the deed done? */
bool actor_at_desk(const struct actor *a);

/* Resumes the actor by this request of ptrace(2), until it stops or sleeps. */
void actor_go(struct actor *a, int request);
/* The same, and does not wait for that. */
void actor_resume_by(struct actor *a, int request);
/* Waits for a stop; with WNOHANG, false if there is none yet. */
bool actor_try_wait(struct actor *a, int flags);

/* In a call in which it may sleep: asleep, and no process has woken it? */
bool actor_sleeps(const struct actor *a);

#endif
