/* SPDX-License-Identifier: ISC */
/*
 * local.h - the functions of a limiter file: what ops.h names, implemented for this machine.
 */
#ifndef FLKI_LOCAL_H
#define FLKI_LOCAL_H

#include "ops.h"

/* local.c */
extern const struct flk_ops flki_local;

/* limiter.c */
void flki_local_close(struct flk *f);
const char *flki_local_path(const struct flk *f);
uint64_t flki_local_identity(const struct flk *f);
int flki_local_verify(const struct flk *f);
pid_t flki_local_stuck_pid(const struct flk *f);
uint32_t flki_local_declared(const struct flk *f);

/* taker.c */
int flki_local_taker_new(struct flk_taker **taker, struct flk *f);
void flki_local_taker_free(struct flk_taker *t);
int flki_local_enqueue(struct flk_taker *t, const struct flk_request *want);
int flki_local_queue(struct flk_taker *t, const struct flk_request *want, uint64_t until_ns);
int flki_local_try(struct flk_taker *t, const struct flk_request *want);
int flki_local_wait_idle(struct flk_taker *t, const struct timespec *deadline);
int flki_local_leave(struct flk_taker *t);
int flki_local_release(struct flk_taker *t);
int flki_local_release_units(struct flk_taker *t, uint32_t units);
int flki_local_forget(struct flk_taker *t);
void flki_local_cancel(struct flk_taker *t);
void flki_local_interrupt(struct flk_taker *t);
void flki_local_answer(struct flk_taker *t, bool yes);
void flki_local_evictor(const struct flk_taker *t, pid_t *pid, uid_t *uid);

/* permit.c */
int flki_local_working(struct flk_taker *t, pid_t pid);
void flki_local_working_child(struct flk_taker *t);
int flki_local_waits_for(struct flk_taker *t, const char *limiter);
int flki_local_ended(struct flk_taker *t, int status);
int flki_local_took(struct flk_taker *t, uint64_t memory, uint64_t cpu_ns);
int flki_local_permit(const struct flk_taker *t, struct flk_permit *permit);
uint32_t flki_local_slot(const struct flk_taker *t);
bool flki_local_holds(struct flk *f, uint32_t slot, uint64_t ticket, struct flk_permit *permit);

/* wait.c */
int flki_local_wait(struct flk_taker *t, const struct timespec *deadline, const sigset_t *mask);

/* guard.c */
int flki_local_guard_open(struct flk *f);
int flki_local_guard(struct flk_taker *t, int *fd);
int flki_local_guard_by(struct flk_taker *t, int fd);
int flki_local_entrust(struct flk_taker *t);
int flki_local_entrust_to(struct flk_taker *t, int fd, pid_t pid);
int flki_local_entrusted(struct flk *f, int fd, struct flk_permit *permit);
int flki_local_take_back(struct flk *f, int fd);

/* snapshot.c */
int flki_local_place(struct flk_taker *t, struct flk_place *place);
int flki_local_snapshot(struct flk *f, struct flk_snapshot **snapshot);
int flki_local_check(struct flk *f, char *why, size_t size);

/* steer.c */
int flki_local_set(struct flk *f, unsigned which, const struct flk_settings *to);
int flki_local_get(struct flk *f, struct flk_settings *settings);
int flki_local_evict(struct flk *f, uint64_t ticket);
int flki_local_shrink(struct flk *f, uint64_t ticket, uint32_t units);
int flki_local_remove(struct flk *f, bool steered_too);
int flki_local_repair(struct flk *f);

/* heirs.c */
size_t flki_local_heirs(struct flk *f, uint32_t slot, pid_t *pid, size_t room);
int flki_local_is_taker(struct flk *f, uint32_t slot, pid_t pid);

/* history.c */
size_t flki_local_history(struct flk *f, uint64_t number, struct flk_event *event, size_t room);
int flki_local_follow(struct flk *f, uint64_t number, const struct timespec *deadline);

#endif
