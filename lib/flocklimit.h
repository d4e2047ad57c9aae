/* SPDX-License-Identifier: ISC */
/*
 * flocklimit.h - a machine-wide limiter: first come, first served, by weight.
 *
 *	struct flk *limiter;
 *	struct flk_taker *me;
 *	struct flk_request want = { .weight = 1, .limit = 4 };
 *
 *	if (flk_attach(&limiter, "build", NULL) == 0 &&
 *	    flk_taker_new(&me, limiter) == 0 &&
 *	    flk_acquire(me, &want, NULL) == 0) {
 *		... at most 4 units of "build" are held on this machine ...
 *		flk_release(me);
 *	}
 *
 * Every function that can fail returns 0 or a negative code: minus an errno value, or one of
 * enum flk_error.  flk_strerror() has a sentence for each.  Nothing here prints, exits, or
 * installs a signal handler.
 *
 * Structs: a later version has new members in the place of `reserved', and no size or offset
 * changes: a program runs with a library that is newer than its header.  Set all members that you do
 * not use to 0, as an initializer does.  If `reserved' is not 0, the struct was not initialized, or
 * its header is newer than the library: -EINVAL.
 *
 * Threads: a limiter may be used by any number of threads.  A taker belongs to the thread that made
 * it, as a locked mutex does: only that thread may call the functions that take one (but see
 * flk_cancel and flk_interrupt), and when that thread ends, by whatever means, its permit is
 * released. Fork: a child can't use its parent's takers; it makes its own. Cancellation: no function
 * here is a cancellation point; flk_cancel ends a wait. Signals: only flk_cancel and flk_interrupt
 * may be called from a handler.  A handler must not longjmp out of a function of this library.
 */
#ifndef FLOCKLIMIT_H
#define FLOCKLIMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/select.h> /* sigset_t, which <signal.h> has only with POSIX asked for */
#include <sys/types.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Deadlines have a 64-bit time_t on every processor: pkg-config --cflags knows what that takes. */
typedef char flk_needs_64_bit_time_t[sizeof(time_t) == 8 ? 1 : -1];

/*
 * A program that does not look at such a result goes on as if it had what it asked for: a permit, a
 * guard, a setting, an answer.  To do without the warning, define it as nothing.
 */
#ifndef FLK_CHECKED
#ifdef __GNUC__
#define FLK_CHECKED __attribute__((__warn_unused_result__))
#else
#define FLK_CHECKED
#endif
#endif

#define FLK_MAX_UNITS  1000000000u /* the largest limit and the largest weight */
#define FLK_MAX_TAKERS 65536u      /* at once, in one limiter */
#define FLK_NAME_MAX   64          /* characters of a name */
#define FLK_COMMAND    112         /* bytes of a command line that a limiter remembers */
#define FLK_WAITS_FOR  72          /* bytes of the name in flk_waits_for(), with the final 0 */
#define FLK_SEATS      64          /* where the limit is not above it, each unit has a seat */
#define FLK_KEY        32          /* bytes of a key, with the final 0 */
#define FLK_MAX_SHARE  1000u       /* the largest share of a key */

struct flk;       /* an open limiter */
struct flk_taker; /* takes permits, one at a time */

enum flk_error {
	FLK_BADNAME = 4096, /* not a limiter's name */
	FLK_BADDIR,         /* the limiter directory can't be trusted */
	FLK_SYMLINK,        /* the file is a symbolic link */
	FLK_NOTFILE,        /* not a regular file */
	FLK_FOREIGN,        /* another user's file, and no group of the caller may write it */
	FLK_WRITABLE,       /* all users may write the file */
	FLK_NETWORK,        /* on a network file system */
	FLK_NOBOOT,         /* on a disk, and without /proc we can't tell this boot from another */
	FLK_NOTLIMITER,     /* neither a limiter nor an empty file */
	FLK_VERSION,        /* a limiter of another layout */
	FLK_DAMAGED,        /* a limiter that can't be repaired */
	FLK_STUCK,          /* another taker has had the lock for too long: flk_stuck_pid() */
	FLK_CROWDED,        /* no room for another taker */
	FLK_GONE,           /* the file was removed: attach again */
	FLK_HEAVY,          /* the weight is above the limit */
	FLK_CLOSED,         /* the limiter is closed */
	FLK_FULL,           /* more takers wait already than the request allows */
	FLK_CANCELLED,      /* flk_cancel() */
	FLK_EVICTED,        /* flk_evict(): another process took this taker out of the line */
	FLK_STRANGER,       /* the taker belongs to another thread or process */
	FLK_NOPERMIT,       /* the taker holds no permit */
	FLK_OVERRELEASE,    /* more units than are held or withheld */
	FLK_BUSY,           /* this taker holds or waits already */
	FLK_MISTAKEN,       /* the kernel reported this living taker dead: free it, make another */
	FLK_FOREIGNDIR,     /* the limiter directory belongs to another user */
	FLK_NODIR,          /* no directory can contain the limiter directory */
	FLK_RELATIVE,       /* $FLOCKLIMIT_DIR is not an absolute path */
	FLK_ELSEWHERE,      /* of another boot or machine, or a copy; not known to be local */
	FLK_NOROBUST,       /* the kernel gives this thread no robust list */
	FLK_LEASED,         /* another process has a lease on the file: fcntl(2), F_SETLEASE */
	FLK_ASK,            /* only its own question holds it back: flk_answer(), then flk_wait() */
	FLK_UNMAPPED /* no limiter directory for a user that the user namespace does not map */
};

/* A sentence for a code of this library; never NULL. */
const char *flk_strerror(int code);

/* ---- the limiter -------------------------------------------------------------------------- */

struct flk_options {
	bool existing;    /* create nothing: -ENOENT if there is none of this boot */
	bool damaged;     /* open it even if it is damaged: for flk_repair */
	bool reading;     /* only to look at: see below */
	mode_t mode;      /* of a new file; 0 means 0600 */
	uint32_t limit;   /* of a new limiter, for takers that declare none; 0: see flk_cpus() */
	uint32_t initial; /* of a new limiter: units available at first; 0 means all */

	/*
	 * Both may be NULL, and must not use the limiter.  A call that waits for the limiter's lock
	 * calls stuck() after two seconds, and then about ten times a second: the taker that has the
	 * lock is stopped, or gets too little CPU time.  pid is its process as it sees itself, or 0.
	 * True: the call waits on; false: it fails with -FLK_STUCK.
	 */
	bool (*stuck)(void *context, pid_t pid);

	/*
	 * The calling thread calls it with true before it takes the lock, and with false after it has
	 * released it.  The process must not be stopped in between.
	 */
	void (*inside)(void *context, bool is_inside);
	void *context;
	uint64_t reserved[8];
};

/*
 * Opens the limiter NAME, and creates it if it does not exist.  A NAME with a slash is a path.
 * options may be NULL.
 *
 * With `reading' it opens a limiter that exists, of any user whose file the caller may read, and leaves
 * nothing there but the time of its last read; what would change it returns -EACCES.  flk_snapshot() then
 * looks again while takers change the limiter; if they never stop, it is of a moment in which some had
 * changed and some had not.
 */
int flk_attach(struct flk **limiter, const char *name,
	       const struct flk_options *options) FLK_CHECKED;

/* The path of that limiter; opens and creates nothing.  Fails if NAME is not valid. */
int flk_locate(const char *name, char *path, size_t size) FLK_CHECKED;

/* None of its takers may be in use. */
void flk_detach(struct flk *limiter);

const char *flk_path(const struct flk *limiter);

/* When it was created, in ns: two names with the same identity name the same limiter. */
uint64_t flk_identity(const struct flk *limiter);

/* 0, or -FLK_GONE when the file has no name any more, or -FLK_DAMAGED when it was truncated. */
int flk_verify(const struct flk *limiter) FLK_CHECKED;

/* After -FLK_STUCK: the process that has the lock, as it sees itself; 0: not known. */
pid_t flk_stuck_pid(const struct flk *limiter);

/* The limit of a taker that declares none: the last declared limit, else flk_cpus(100). */
uint32_t flk_declared(const struct flk *limiter);

/*
 * PERCENT per cent of the CPUs that the calling thread may use, by its affinity and by the CPU quota
 * of its cgroups; rounded up, and at least 1.
 */
uint32_t flk_cpus(uint32_t percent);

/* ---- takers and permits ------------------------------------------------------------------- */

enum flk_role {
	FLK_WORKER,  /* this process does the work */
	FLK_WRAPPER, /* its child does, and gets the signals that the wrapper gets */
	FLK_CREW,    /* one of its children does: see flk_working() */
	FLK_KEEPER,  /* it holds for another process, and releases at a SIGTERM */
	FLK_CARRIED  /* set by flk_entrust() and flk_entrust_to(): the taker is gone */
};

#define FLK_SETTLE_NS   UINT64_C(2000000000)  /* of a gate, where its setter says nothing */
#define FLK_PATIENCE_NS UINT64_C(60000000000) /* of a gate, or of a question */

/* All members may be 0; and where a function takes one, NULL is one with all members 0. */
struct flk_request {
	uint32_t weight;     /* units; 0 means 1 */
	uint32_t limit;      /* at most so many while this permit is held; 0: flk_declared() */
	bool limit_queue;    /* look at max_queue */
	uint32_t max_queue;  /* -FLK_FULL if it would wait behind this many or more */
	const char *command; /* shown to other users; may be NULL */
	enum flk_role role;  /* what a signal to this process does: for operators */
	uint32_t most;  /* as many units as are free when its turn comes, up to these; 0: weight */
	uint32_t yield; /* so many takers that arrive later, and consent to fewer, may go first */
	uint64_t not_seats; /* a set: bit 3 is seat 3.  The permit has none of these seats */
	/*
	 * The taker's own question, or NULL: it starts only after a yes.  It is asked when nothing else
	 * keeps the taker, and again five seconds after a no; flk_wait() does not call it, but returns
	 * -FLK_ASK.
	 */
	bool (*ask)(void *context);
	void *ask_context;
	uint64_t ask_patience_ns; /* as a gate's; 0: FLK_PATIENCE_NS */
	/*
	 * In a fair limiter: the key that it is counted to, where keys are words (NULL or "": one key for
	 * all that have none); the session, where they are sessions (0: the caller's own); and the key's
	 * share, up to FLK_MAX_SHARE (0 means 1).
	 */
	const char *key;
	pid_t session;
	uint32_t share;
	uint64_t reserved[6];
};

struct flk_permit {
	uint64_t ticket;
	uint32_t weight;
	uint32_t limit; /* its own, or the override that was in force at the grant */
	uint32_t seat;
	uint64_t fence; /* rises with each grant; a ticket does so with each arrival */
	uint64_t seats; /* one for each unit, as in not_seats; 0: the limit is above FLK_SEATS */
	uint64_t reserved[4];
};

int flk_taker_new(struct flk_taker **taker, struct flk *limiter) FLK_CHECKED;

/* Leaves the line, releases the permit, and frees the taker. */
void flk_taker_free(struct flk_taker *taker);

/*
 * Takes a permit; waits for it until the deadline (CLOCK_MONOTONIC, absolute; NULL: for ever).
 * 0, -ETIMEDOUT, -FLK_CANCELLED, -FLK_CLOSED, -FLK_FULL, -FLK_EVICTED, -FLK_HEAVY, ...
 * While another taker keeps the lock, it waits and does not fail: see struct flk_options.
 */
int flk_acquire(struct flk_taker *taker, const struct flk_request *want,
		const struct timespec *deadline) FLK_CHECKED;

/*
 * flk_acquire() with a time span instead of a deadline: waits for at most ms milliseconds.  0 does
 * not wait at all, as flk_try(): -EAGAIN.  -1 waits for ever.  Below -1: -EINVAL.
 */
int flk_acquire_for(struct flk_taker *taker, const struct flk_request *want,
		    int64_t ms) FLK_CHECKED;

/* Takes a permit if it need not wait, else -EAGAIN.  It never jumps the queue. */
int flk_try(struct flk_taker *taker, const struct flk_request *want) FLK_CHECKED;

/*
 * The same in steps, for a program that has other work while it waits.  flk_enqueue() returns 0 if
 * the taker got its permit at once, and -EINPROGRESS if it now waits in the line.  flk_wait() returns
 * 0 when the taker has got its permit, and -ETIMEDOUT when it still waits at the deadline. After
 * -ETIMEDOUT, -EINTR, -FLK_STUCK and -FLK_ASK the taker keeps its place: call again.  Any other code
 * says why it has left the line.  flk_leave() gives up the place or, if the taker has got its permit
 * meanwhile, the permit.  While flk_wait() sleeps, and only then, the signal mask is *mask, unless
 * that is NULL.
 */
int flk_enqueue(struct flk_taker *taker, const struct flk_request *want) FLK_CHECKED;
int flk_wait(struct flk_taker *taker, const struct timespec *deadline,
	     const sigset_t *mask) FLK_CHECKED;
int flk_leave(struct flk_taker *taker);

/*
 * Releases the whole permit, or some units of it.  -FLK_OVERRELEASE: it has fewer, perhaps since another
 * process called flk_shrink().
 */
int flk_release(struct flk_taker *taker);
int flk_release_units(struct flk_taker *taker, uint32_t units);

/*
 * Records the process that works under the permit, when the taker's process does not.  Operators see
 * it.  If both are killed, the permit lasts until that process has closed its descriptors, for ten
 * seconds at most.
 */
int flk_working(struct flk_taker *taker, pid_t pid);

/*
 * Records that the owner of this permit waits for a permit of another limiter, before its work begins;
 * NULL: no longer.  Operators see it.  A name that is too long is cut.  A new permit has none.
 */
int flk_waits_for(struct flk_taker *taker, const char *limiter);

/* Records in the history how the work ended: a status of wait(2).  Call it before the release. */
int flk_ended(struct flk_taker *taker, int status);

/*
 * Records in the history what the work took: the largest memory of its processes, in bytes, and its CPU
 * time.  0 bytes: not known.  Call it before the release.
 */
int flk_took(struct flk_taker *taker, uint64_t memory, uint64_t cpu_ns);

/* Ends the permit, and withholds its units until FLK_SET_RESTORED adds them again. */
int flk_forget(struct flk_taker *taker);

/* After -FLK_ASK: whether the taker may start.  A yes counts for five seconds. */
void flk_answer(struct flk_taker *taker, bool yes);

/*
 * Ends this taker's wait, or else its next one, with -FLK_CANCELLED.  Async-signal-safe, and
 * may be called by another thread for as long as the taker is not freed.  flk_evict() is for the
 * waiters of others.
 */
void flk_cancel(struct flk_taker *taker);

/*
 * Ends the wait under way, or else the next one, with -EINTR; the taker keeps its place in the
 * line, and may wait on.  Callable as flk_cancel() is.
 */
void flk_interrupt(struct flk_taker *taker);

/* What is held: 0, or -FLK_NOPERMIT. */
int flk_permit(const struct flk_taker *taker, struct flk_permit *permit) FLK_CHECKED;

/*
 * Ties the permit to a descriptor: the permit lasts until the taker releases it or, if the taker dies
 * first, until every process that inherited the descriptor has closed it, and the worker, if the
 * taker started one since then, has ended: see flk_working().  The descriptor is close-on-exec and
 * for reading only, as flk_guard_open()'s is; it belongs to the taker.
 */
int flk_guard(struct flk_taker *taker, int *fd) FLK_CHECKED;

/*
 * Hands the permit over to that descriptor; call it before exec.  The permit then lasts as long as
 * any process has the descriptor open, and its end is logged as a normal release.
 */
int flk_entrust(struct flk_taker *taker);

/*
 * Hands the permit over to a descriptor of the caller's, which is open on the limiter's file for
 * reading: -EBADF, -EACCES or -FLK_NOTFILE if it is not.  The permit then lasts as long as any process
 * has that description open, and its end is logged as a normal release.  The taker holds nothing any
 * more.  Operators see PID, a process that has the descriptor.  -ENOTSUP in a store.
 */
int flk_entrust_to(struct flk_taker *taker, int fd, pid_t pid) FLK_CHECKED;

/*
 * The permit that this descriptor has, or whose guard it is; FD -1: the permit that was handed over
 * to any descriptor which this process has inherited.  0, or -FLK_NOPERMIT.
 */
int flk_entrusted(struct flk *limiter, int fd, struct flk_permit *permit) FLK_CHECKED;

/* Ends all permits of this limiter that the descriptor has: 0, or -FLK_NOPERMIT. */
int flk_take_back(struct flk *limiter, int fd);

/*
 * flk_guard_open() returns one descriptor for several permits, or a negative code.  It is
 * close-on-exec, and belongs to the caller.  flk_guard_by() ties a permit to it, even if a child has
 * inherited it before.
 */
int flk_guard_open(struct flk *limiter) FLK_CHECKED;
int flk_guard_by(struct flk_taker *taker, int fd) FLK_CHECKED;

/* True while the permit with this ticket is held in this slot (see flk_slot). */
bool flk_holds(struct flk *limiter, uint32_t slot, uint64_t ticket,
	       struct flk_permit *permit) FLK_CHECKED;
uint32_t flk_slot(const struct flk_taker *taker);

/*
 * Waits until all takers that hold or wait at the time of the call are done.  It delays no taker.
 */
int flk_wait_idle(struct flk_taker *taker, const struct timespec *deadline) FLK_CHECKED;

/* ---- steering ----------------------------------------------------------------------------- */

#define FLK_AUTO (-1)

/* Pacing: when to start, not only how many. */
struct flk_pace {
	uint64_t interval_ns; /* between starts, on average; 0: no rate */
	uint32_t burst;       /* how many may start at once; 1 to 65535 */
	uint64_t stagger_ns;  /* between any two starts, at least; 0: none */
	/* The capacity begins with ramp_from units and grows; 0: no ramp. */
	uint32_t ramp_from, ramp_step; /* up to 65535 */
	uint64_t ramp_period_ns;       /* whole ms */
	uint64_t ramp_idle_ns;         /* begins again after nothing was held for this long */
};

#define FLK_GATE_TEXT 184

/*
 * The gate: nothing starts unless all conditions hold: mem>4G, psi.cpu<50, psi.mem<10, psi.io<20,
 * running<16, disk:/path>10G, with spaces or commas in between.  The head of the line looks, once a
 * second.  One look admits one taker.
 */
struct flk_gate {
	char when[FLK_GATE_TEXT]; /* "": no gate */
	uint64_t settle_ns;       /* a look counts only if it comes so long after the last start */
	uint64_t patience_ns; /* while nothing is held, the head waits no longer; or UINT64_MAX */
};

/*
 * Fair: the line is not in the order of arrival alone, but serves keys in turn.  Off, or what the key
 * of a taker is.
 */
enum flk_fair { FLK_FAIR_OFF, FLK_FAIR_USER, FLK_FAIR_SESSION, FLK_FAIR_KEY };

/* What an operator sets of a limiter, for all its takers. */
struct flk_settings {
	uint32_t declared; /* the limit of takers that declare none */
	int64_t override;  /* a limit instead of those that takers declare; FLK_AUTO: none */
	bool paused;       /* nothing new starts */
	bool closed;       /* waiters and newcomers get -FLK_CLOSED */
	/*
	 * A set, as in not_seats.  No permit gets these seats, and the limit counts as one less for
	 * each.  A permit that has such a seat keeps it.
	 */
	uint64_t seats_off;
	uint32_t withheld; /* units that `initial' or flk_forget() withheld */
	struct flk_pace pace;
	struct flk_gate gate;
	uint32_t fair; /* an enum flk_fair */
	uint64_t reserved[15];
};

/* Which of them. */
enum flk_setting {
	FLK_SET_RATE = 1, /* of the pace: interval_ns and burst */
	FLK_SET_STAGGER = 2,
	FLK_SET_RAMP = 4,
	FLK_SET_DECLARED = 8,
	FLK_SET_OVERRIDE = 16,
	FLK_SET_PAUSED = 32,
	FLK_SET_CLOSED = 64,
	FLK_SET_GATE = 128,
	FLK_SET_SEATS_OFF = 256, /* takes these seats out of use */
	FLK_SET_SEATS_ON = 512,  /* puts these seats back */
	FLK_SET_RESTORED = 1024, /* adds so many of the withheld units again */
	FLK_SET_FAIR = 2048
};

#define FLK_SET_PACE (FLK_SET_RATE | FLK_SET_STAGGER | FLK_SET_RAMP)

/*
 * Sets those that `which' names, in one visit: 0, or a code, and then nothing is changed: -EINVAL,
 * -FLK_OVERRELEASE if fewer units are withheld, -ENOTSUP if a store has no such setting.
 */
int flk_set(struct flk *limiter, unsigned which, const struct flk_settings *to) FLK_CHECKED;
int flk_get(struct flk *limiter, struct flk_settings *settings) FLK_CHECKED;

/*
 * An order to all limiters that are created in the limiter directory from now on: they begin with
 * these settings, of FLK_SET_OVERRIDE, FLK_SET_PAUSED and FLK_SET_CLOSED.  After the order, set those
 * of the existing limiters one by one.  FLK_AUTO and false take an order back.  It lasts until the
 * next boot, and does not affect a limiter that is named by its path.
 */
int flk_order(unsigned which, const struct flk_settings *to) FLK_CHECKED;
int flk_orders(struct flk_settings *orders) FLK_CHECKED; /* the orders in force */

/* 0 if these conditions are right and can be measured here; else WHY has a sentence about the first. */
int flk_gate_check(const char *when, char *why, size_t size) FLK_CHECKED;

#define FLK_GATE_QUESTION "question" /* where a condition may stand: the taker's own, `ask' */

/* What keeps the head of the line waiting though units are free, by the last look. */
struct flk_gated {
	bool waits;               /* the head does */
	char when[FLK_GATE_TEXT]; /* the condition; "": it waits for a look */
	uint64_t value; /* bytes, hundredths of a per cent, or tasks; UINT64_MAX: not known */
};

/*
 * Takes the waiter with that ticket, of any process, out of the line: it gets -FLK_EVICTED.
 * -FLK_NOPERMIT if no waiter has the ticket.  A taker ends a wait of its own by flk_cancel().
 */
int flk_evict(struct flk *limiter, uint64_t ticket);

/*
 * Releases UNITS of the permit with that ticket, of any process, while its command runs.
 * -FLK_NOPERMIT if no holder has the ticket; -FLK_OVERRELEASE if the permit would have no unit left;
 * -ENOTSUP in a store.
 */
int flk_shrink(struct flk *limiter, uint64_t ticket, uint32_t units);

/*
 * Gives the permit with that ticket, of any process, UNITS more, or as many as are free, while nobody
 * waits, up to the most that it asked for.  -EAGAIN: none; -FLK_NOPERMIT if no holder has the ticket;
 * -ENOTSUP in a store.
 */
int flk_grow(struct flk *limiter, uint64_t ticket, uint32_t units) FLK_CHECKED;

/* After -FLK_EVICTED: the process that called flk_evict(), as it sees itself. */
void flk_evictor(const struct flk_taker *taker, pid_t *pid, uid_t *uid);

/*
 * Removes the limiter's file: -FLK_BUSY while it has holders or waiters.  Processes that have
 * it open get -FLK_GONE from then on, and must attach again.
 */
int flk_remove(struct flk *limiter);

/* As flk_remove(), but also -FLK_BUSY while it is paused, closed or overridden, or has units withheld. */
int flk_remove_unused(struct flk *limiter);

/*
 * The same for a limiter that can't be opened: damaged, of another version or boot, or empty.
 * -FLK_BUSY while the kernel says that another process has the file open.
 */
int flk_discard(const char *name);

/* ---- looking ------------------------------------------------------------------------------ */

struct flk_entry {
	uint64_t ticket;
	uint32_t weight, most;     /* of a waiter: what it asks for at least and at most */
	uint32_t yield, passed_by; /* of a waiter: so many may pass it, and so many have */
	uint32_t limit, seat, slot;
	pid_t pid; /* as that taker sees itself: show it and uid, decide nothing by them */
	uid_t uid;
	pid_t worker;              /* the process that flk_working() recorded, or 0 */
	uint64_t seats, not_seats; /* as in struct flk_permit and struct flk_request */
	uint64_t since_ns;         /* since when it has held or waited: CLOCK_MONOTONIC */
	bool holds, orphan;
	bool silent;      /* in a store: it holds, but the store no longer hears from its host */
	const char *host; /* NULL: this machine */
	enum flk_role role;
	char command[FLK_COMMAND];
	char waits_for[FLK_WAITS_FOR]; /* as flk_waits_for() recorded it, or empty */
	char key[FLK_KEY]; /* in a fair limiter: its key, a number or a word; or empty */
	uint32_t share;
	uint64_t reserved[4];
};

#define FLK_BUCKETS 16
#define FLK_BUCKET_NS \
	UINT64_C(1000000) /* bound of the first, 1 ms; each next is four times as high */

/* A histogram: each bucket counts the times above the previous bound, up to its own. */
struct flk_times {
	uint64_t count[FLK_BUCKETS], sum_ns; /* the last bucket has no bound */
};

struct flk_snapshot {
	struct flk_settings set; /* declared: as flk_declared() */
	uint32_t limit;          /* in force */
	uint64_t used;
	uint64_t last_ticket, granted, released, left, evicted, reaped, repaired;
	struct flk_times waited, held;
	struct flk_gated gated;
	uint64_t
	    next_start_ns; /* the pace lets nothing start before: CLOCK_MONOTONIC; 0: no such time */
	uint32_t holders, waiters;
	uint64_t reserved[16];
	struct flk_entry entry[]; /* holders by ticket, then waiters in their order */
};

/*
 * How the line stands for a taker that waits, or would have to wait.  The limit is in force for the
 * head.  If nobody waits, it is in force for a request like this taker's last one; if this taker has
 * made no request yet, the held permits and the operator alone determine it.
 */
struct flk_place {
	uint64_t used;
	uint32_t limit, holders;
	uint32_t ahead; /* the number of waiters ahead of this taker */
	struct flk_settings set;
	uint64_t next_start_ns; /* as in struct flk_snapshot */
	struct flk_gated gated;
	struct flk_entry oldest; /* of the holders; ticket 0: none */
	struct flk_entry head;   /* of the line; ticket 0: none, or this taker */
	uint64_t reserved[8];
};

int flk_place(struct flk_taker *taker, struct flk_place *place) FLK_CHECKED;

/* A copy of the whole state, taken at one moment; free() it. */
int flk_snapshot(struct flk *limiter, struct flk_snapshot **snapshot) FLK_CHECKED;

/* Verifies every invariant: 0, or -FLK_DAMAGED and one line about each that fails. */
int flk_check(struct flk *limiter, char *why, size_t size) FLK_CHECKED;

/* Rebuilds the index from the slots, and frees slots that contradict the others. */
int flk_repair(struct flk *limiter);

/* ---- the history -------------------------------------------------------------------------- */

#define FLK_HISTORY   4096    /* events that a limiter remembers */
#define FLK_UNKNOWN   (-1)    /* flk_ended() was not called */
#define FLK_READY     (-2)    /* the work is ready, and goes on without the permit */
#define FLK_TIMED_OUT 0x10000 /* or'ed to a status: the work ran longer than allowed */

enum flk_event_kind {
	FLK_EV_QUEUED = 1, /* the taker had to wait; code: how many waiters it has passed */
	FLK_EV_GRANTED,
	FLK_EV_RELEASED, /* code: what flk_ended() recorded, or FLK_UNKNOWN */
	FLK_EV_UNITS,    /* code: how many units of its permit it released */
	FLK_EV_FORGOT,   /* code: how many units are withheld from now on */
	FLK_EV_LEFT,     /* code: why it left the line: -ETIMEDOUT, -FLK_CANCELLED, 0, ... */
	FLK_EV_EVICTED,  /* code: -FLK_EVICTED, -FLK_CLOSED; pid, uid: the process that did it */
	FLK_EV_REAPED,   /* the taker was killed; code: 1 if it held, 0 if it waited */
	FLK_EV_DECLARED, /* code: the limit for takers that declare none */
	FLK_EV_OVERRIDE, /* code: the operator's limit, or FLK_AUTO */
	FLK_EV_PAUSED,
	FLK_EV_RESUMED,
	FLK_EV_CLOSED,
	FLK_EV_OPENED,
	FLK_EV_RESTORED, /* code: how many units */
	FLK_EV_REPAIRED, /* a taker was killed during a change, and the next one rebuilt the index */
	FLK_EV_PACED,    /* code: the parts set, of FLK_SET_PACE; pace: the whole pace */
	FLK_EV_SEAT_OFF, /* code: the seat that is out of use from now on */
	FLK_EV_SEAT_ON,  /* code: the seat that is in use again */
	FLK_EV_GATE,     /* when: the beginning of the conditions of the new gate; "": none */
	/*
	 * The gate keeps the head, which has looked.  when: the condition that did not hold, and value;
	 * "": it waits for the answer to its own question.
	 */
	FLK_EV_GATED,
	FLK_EV_FAIR,   /* code: an enum flk_fair */
	FLK_EV_UNFAIR, /* it is not fair any more */
	FLK_EV_GREW    /* code: how many units the permit has got; seats: all that it has now */
};

struct flk_event {
	uint64_t number; /* 1, 2, 3, ... */
	uint64_t when_ns, ticket;
	uint32_t kind, weight, seat, limit; /* limit: 0 in FLK_EV_RELEASED */
	pid_t pid;
	uid_t uid;
	int32_t code;
	char command[20];
	struct flk_pace pace;    /* FLK_EV_PACED only */
	uint64_t memory, cpu_ns; /* FLK_EV_RELEASED: as flk_took() recorded; memory 0: not known */
	uint64_t
	    seats; /* FLK_EV_GRANTED, FLK_EV_GREW: the permit's; FLK_EV_QUEUED: those excluded */
	char when[24];  /* FLK_EV_GATE, FLK_EV_GATED: as much as there is room for */
	uint64_t value; /* FLK_EV_GATED: as in struct flk_gated */
	uint64_t reserved[4];
};

/*
 * Copies the events after NUMBER, oldest first: up to ROOM of them, or FLK_HISTORY at most.
 * Returns how many; never blocks, and delays no taker.  when_ns is CLOCK_MONOTONIC.
 */
size_t flk_history(struct flk *limiter, uint64_t number, struct flk_event *event, size_t room);

/* Sleeps until there is an event after NUMBER: 0, or -ETIMEDOUT, -EINTR, or -FLK_GONE. */
int flk_follow(struct flk *limiter, uint64_t number, const struct timespec *deadline);

/* ---- many at once ------------------------------------------------------------------------- */

/*
 * A map works on items, each under a permit of its own and in a thread of its own.  It waits in the
 * line for one item at a time.  All callbacks get the context.  The map never runs two calls of
 * next() at once, nor two of done().
 */
struct flk_map;

/*
 * The map copies the struct, and not what it points to: options, patience, to, and want.command must
 * outlive the map, that is last until flk_map_free().  It attaches again, and sets again, if the
 * limiter's file is removed.
 */
struct flk_map_options {
	const struct flk_options *options; /* as for flk_attach() */
	struct flk_request want;           /* for each item */
	const struct timespec *patience;   /* how long an item may wait for its permit; or NULL */
	const struct flk_settings *to;     /* to set, as for flk_set(), before the first item */
	unsigned which;                    /* which of them; 0: none */
	bool in_order;                     /* done() gets the items in the order of next() */
	bool go_on;                        /* begin more after work() failed */
	void *context;

	/*
	 * Sets *item, and returns 1; or 0 when there are no more, or a negative code.  May change
	 * *want for this item, and may block.
	 */
	int (*next)(void *context, void **item, struct flk_request *want);

	/*
	 * Called before the item joins the line of `limiter', by the thread that will do the work: say,
	 * to take a permit of another limiter first.  If the limiter is removed while the item waits,
	 * it is called again for the one that takes its place.  Returns 0, or a code with which the
	 * item gets no permit.  It may block, which flk_map_stop() does not end.  May be NULL.
	 */
	int (*before)(void *context, void *item, struct flk *limiter);

	/*
	 * The map calls it when an item has to wait for its permit.  It returns when the map calls it
	 * again if the item still waits: ns of CLOCK_MONOTONIC; UINT64_MAX: not again.  It may call
	 * flk_place() of the taker, and must not release it.  May be NULL.
	 */
	uint64_t (*waits)(void *context, struct flk_taker *taker);

	/* Runs under the taker's permit, which it must not release.  Returns 0, or a code. */
	int (*work)(void *context, void *item, struct flk_taker *taker);

	/* Called after the permit was released; may be NULL. */
	void (*done)(void *context, void *item, int result);

	/* Called instead of work() and done() if the item got no permit; may be NULL. */
	void (*drop)(void *context, void *item);
	uint64_t reserved[8];
};

int flk_map_new(struct flk_map **map, const char *name,
		const struct flk_map_options *options) FLK_CHECKED;

/*
 * Returns when all items that it began have ended: 0, or the code of the first item that failed.
 * Call it once for each map.
 */
int flk_map_run(struct flk_map *map) FLK_CHECKED;

/* Stops beginning items.  Any thread and any callback may call it, but no signal handler. */
void flk_map_stop(struct flk_map *map);

void flk_map_free(struct flk_map *map);

/* The limiter of a taker. */
struct flk *flk_limiter(const struct flk_taker *taker);

#ifdef __cplusplus
}
#endif

#endif
