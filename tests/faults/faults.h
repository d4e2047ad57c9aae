/* SPDX-License-Identifier: ISC */
/*
 * faults.h - system calls and allocations that fail when we say so.
 *
 *	wrap.c	stands between the library and libc (the linker's --wrap)
 *	trials.c	what is tried: each public operation
 *	faults.c	fails each call of each, with each error, and looks at what is left
 */
#ifndef FAULTS_H
#define FAULTS_H

#include "../helpers/common.h"

enum call {
	CALLOC,
	MALLOC,
	OPEN_BOOT, /* the boot's id */
	OPEN_SELF, /* another description of the limiter's file */
	OPEN_DIR,
	MKDIR,
	OPENAT_FILE,
	OPENAT_TMPFILE,
	OPENAT_CREATE,
	OPENAT_ORDER,
	READ,
	DUPFD,
	SETLK,
	GETLK,
	SETLKW,
	FSTAT,
	LSTAT,
	FSTATFS,
	MMAP,
	FCHMOD,
	LINKAT,
	FALLOCATE, /* posix_fallocate() */
	PUNCH,     /* fallocate() */
	FTRUNCATE,
	PWRITE,
	THREAD,
	FUTEX_WAITV,
	FUTEX_WAIT,
	CALLS
};

extern const char *const call_names[CALLS];

/* Fails the nth call of its kind (from 1), with this errno; sticky: and all after it. */
struct fault {
	enum call call;
	int error;
	unsigned nth;
	bool sticky;
};

void faults_arm(struct fault fault);
void faults_disarm(void);
bool faults_met(void);                 /* has one been returned? */
bool faults_last(void);                /* is each such call to fail from then on? */
unsigned faults_count(enum call call); /* how often it was called while armed */

/* What the world is like besides, until the process ends. */
extern bool world_lacks_tmpfile, world_lacks_fallocate, world_lacks_punch, world_lacks_waitv;
extern long world_file_system; /* f_type of all files, or 0 */

/* Allocated and mapped by the library, and not given back. */
int faults_allocated(void);

/* ---- trials ---- */

/* Other results than the error itself that are right for it; error 0 is any. */
struct lenience {
	enum call call;
	int error, result;
};

struct trial {
	const char *name;
	void (*prepare)(void);
	int (*act)(void);
	void (*after)(int result);      /* gives back what act() has got */
	const struct lenience *lenient; /* ends with CALLS */
	int normal;                     /* the result where nothing fails */
	bool patient;                   /* whether to see its patience end: that takes 2 s */
};

extern const struct trial trials[];
extern const unsigned trial_count;

/* The child's own: an empty directory, a limiter's path in it, and that limiter if there is one. */
extern char trial_dir[128], trial_path[160];
extern struct flk *trial_limiter;

_Noreturn void trial_fails(const char *words, ...) __attribute__((format(printf, 1, 2)));

#endif
