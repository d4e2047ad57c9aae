/* SPDX-License-Identifier: ISC */
/*
 * store.h - the functions of a limiter that is kept in a store: those that lib/ops.h names, and one
 * that opens such a limiter.
 */
#ifndef STORE_H
#define STORE_H

#include "ops.h"

/* store.c */
extern const struct flk_ops store_ops;

/* limiter.c: as flk_attach(), flk_locate() and flk_strerror() */
int store_attach(struct flk **limiter, const char *name, const struct flk_options *options);
int store_locate(const char *name, char *path, size_t size);
const char *store_strerror(int code);

void store_close(struct flk *f);
const char *store_path(const struct flk *f);
uint64_t store_identity(const struct flk *f);
int store_verify(const struct flk *f);
pid_t store_stuck_pid(const struct flk *f);
uint32_t store_declared(const struct flk *f);

/* taker.c */
int store_taker_new(struct flk_taker **taker, struct flk *f);
void store_taker_free(struct flk_taker *t);
int store_leave(struct flk_taker *t);
int store_release(struct flk_taker *t);
int store_release_units(struct flk_taker *t, uint32_t units);
int store_forget(struct flk_taker *t);
int store_permit(const struct flk_taker *t, struct flk_permit *permit);
uint32_t store_slot(const struct flk_taker *t);
void store_evictor(const struct flk_taker *t, pid_t *pid, uid_t *uid);

/* acquire.c */
int store_enqueue(struct flk_taker *t, const struct flk_request *want);
int store_queue(struct flk_taker *t, const struct flk_request *want, uint64_t until_ns);
int store_try(struct flk_taker *t, const struct flk_request *want);
void store_cancel(struct flk_taker *t);
void store_interrupt(struct flk_taker *t);
int store_wait(struct flk_taker *t, const struct timespec *deadline, const sigset_t *mask);

/* guard.c */
int store_working(struct flk_taker *t, pid_t pid);
void store_working_child(struct flk_taker *t);
int store_ended(struct flk_taker *t, int status);
int store_took(struct flk_taker *t, uint64_t memory, uint64_t cpu_ns);
int store_guard_open(struct flk *f);
int store_guard(struct flk_taker *t, int *fd);
int store_guard_by(struct flk_taker *t, int fd);
int store_entrust(struct flk_taker *t);

/* questions.c */
bool store_holds(struct flk *f, uint32_t slot, uint64_t ticket, struct flk_permit *permit);
int store_place(struct flk_taker *t, struct flk_place *place);

/* operator/snapshot.c */
int store_snapshot(struct flk *f, struct flk_snapshot **snapshot);

/* operator/follow.c */
int store_wait_idle(struct flk_taker *t, const struct timespec *deadline);
size_t store_history(struct flk *f, uint64_t number, struct flk_event *event, size_t room);
int store_follow(struct flk *f, uint64_t number, const struct timespec *deadline);

/* operator/steer.c */
int store_check(struct flk *f, char *why, size_t size);
int store_set(struct flk *f, unsigned which, const struct flk_settings *to);
int store_get(struct flk *f, struct flk_settings *settings);
int store_evict(struct flk *f, uint64_t ticket);
int store_remove(struct flk *f, bool steered_too);
int store_repair(struct flk *f);
size_t store_heirs(struct flk *f, uint32_t slot, pid_t *pid, size_t room);
int store_is_taker(struct flk *f, uint32_t slot, pid_t pid);

/* Takes the permit away from its holder, alive or not; -FLK_NOPERMIT if no holder has the ticket. */
int store_break(struct flk *f, uint64_t ticket);

#endif
