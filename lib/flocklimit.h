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
 * Threads: a limiter may be used by any number of threads.  A taker belongs to the thread that
 * made it, as a locked mutex does: only that thread may call the functions that take one (but
 * see flk_cancel and flk_interrupt), and when that thread ends, by whatever means, its permit goes back.
 * Fork: a child has no part in its parent's takers; it attaches anew.
 * Cancellation: no function here is a cancellation point; flk_cancel ends a wait.
 * Signals: only flk_cancel and flk_interrupt may be called from a handler.  A handler must not longjmp out of a
 * function of this library.
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

#define FLK_MAX_UNITS  1000000000u /* the largest limit and the largest weight */
#define FLK_MAX_TAKERS 65536u      /* at once, in one limiter */
#define FLK_NAME_MAX   64          /* letters of a name */
#define FLK_COMMAND    112         /* bytes of a command line that a limiter remembers */

struct flk;       /* an open limiter */
struct flk_taker; /* one who takes permits, one at a time */

enum flk_error {
	FLK_BADNAME = 4096, /* not a limiter's name */
	FLK_BADDIR,         /* the limiter directory can't be trusted */
	FLK_SYMLINK,        /* the file is a symbolic link */
	FLK_NOTFILE,        /* not a regular file */
	FLK_FOREIGN,        /* another user's file, and no group of ours may write it */
	FLK_WRITABLE,       /* the world may write the file */
	FLK_NETWORK,        /* on a network file system */
	FLK_NOBOOT,         /* on a disk, and without /proc no way to tell one boot from another */
	FLK_NOTLIMITER,     /* neither a limiter nor an empty file */
	FLK_VERSION,        /* a limiter of another layout */
	FLK_DAMAGED,        /* a limiter that can't be repaired */
	FLK_STUCK,          /* another taker keeps everyone out: flk_stuck_pid() */
	FLK_CROWDED,        /* no room for another taker */
	FLK_GONE,           /* the file was removed: attach anew */
	FLK_HEAVY,          /* the weight is above the limit */
	FLK_CLOSED,         /* the limiter is closed */
	FLK_FULL,           /* more wait already than the request allows */
	FLK_CANCELLED,      /* flk_cancel() */
	FLK_EVICTED,        /* flk_evict(): another process took this taker out of the line */
	FLK_STRANGER,       /* another thread's or process's taker */
	FLK_NOPERMIT,       /* nothing is held that could be released */
	FLK_OVERRELEASE,    /* more units than are held */
	FLK_BUSY,           /* this taker holds or waits already */
	FLK_MISTAKEN,       /* the kernel reported this living taker dead: free it, make another */
	FLK_FOREIGNDIR, /* another user made the directory that would be the limiter directory */
	FLK_NOPLACE,    /* no directory in which a limiter directory could be */
	FLK_RELATIVE,   /* $FLOCKLIMIT_DIR is not an absolute path */
	FLK_ELSEWHERE,  /* of another boot or machine, or a copy, where the two look alike */
	FLK_NOROBUST,   /* the kernel gives this thread no robust list */
	FLK_LEASED      /* another process has a lease on the file: fcntl(2), F_SETLEASE */
};

/* A sentence for a code of this library; never NULL. */
const char *flk_strerror(int code);

/* ---- the limiter -------------------------------------------------------------------------- */

struct flk_options {
	bool existing;    /* -ENOENT where there is none of this boot; nothing is made */
	bool damaged;     /* open it even if it is damaged: for flk_repair */
	mode_t mode;      /* of a new file; 0 means 0600 */
	uint32_t limit;   /* of a new limiter, for takers that declare none; 0: see flk_cpus() */
	uint32_t initial; /* a new limiter's capacity to begin with, below the limit; 0 means all */

	/*
	 * Both may be NULL, and may not use the limiter.  stuck() is called while another taker, the
	 * process pid as it calls itself, keeps everyone out of the limiter because it was stopped or
	 * gets too little CPU time: after two seconds, and then about ten times a second.  True: go on
	 * waiting; false: the call under way fails with -FLK_STUCK.
	 */
	bool (*stuck)(void *context, pid_t pid);

	/*
	 * Called with true before this process may keep others out, and with false when it no longer
	 * does, by the thread that does it: a process must not be stopped in between.
	 */
	void (*inside)(void *context, bool is_inside);
	void *context;
};

/*
 * Opens the limiter NAME, and makes it if there is none.  A NAME with a slash is a path.
 * options may be NULL.
 */
int flk_attach(struct flk **limiter, const char *name, const struct flk_options *options);

/* Where that limiter is kept; nothing is opened or made.  Fails if the name is none. */
int flk_locate(const char *name, char *path, size_t size);

/* Requires that none of its takers is in use. */
void flk_detach(struct flk *limiter);

const char *flk_path(const struct flk *limiter);

/* When it was made, to the nanosecond: the same limiter, whatever it is called. */
uint64_t flk_identity(const struct flk *limiter);

/* 0, or -FLK_GONE when the file has no name any more, or -FLK_DAMAGED when it was truncated. */
int flk_verify(const struct flk *limiter);

/* After -FLK_STUCK: the process that keeps everyone out, as it calls itself; 0: not known. */
pid_t flk_stuck_pid(const struct flk *limiter);

/* The limit of a taker that declares none: the latest declared, else flk_cpus(100). */
uint32_t flk_declared(const struct flk *limiter);

/*
 * So many per cent of the CPUs that this process may use, rounded up and at least 1: by its affinity
 * and by the CPU quota of its cgroup.
 */
uint32_t flk_cpus(uint32_t percent);

/* Thousandths of a CPU that the cgroup of a process may use; UINT64_MAX: no quota is known. */
uint64_t flk_cpu_quota(pid_t pid);

/* ---- takers and permits ------------------------------------------------------------------- */

enum flk_role {
	FLK_WORKER,  /* the process that holds does the work */
	FLK_WRAPPER, /* its child does, and gets the signals that the wrapper gets */
	FLK_CREW,    /* one of its children does: see flk_working() */
	FLK_KEEPER,  /* it holds for another process, and releases at a SIGTERM */
	FLK_CARRIED  /* there is no taker any more: see flk_entrust() */
};

struct flk_request {
	uint32_t weight;     /* units; 0 means 1 */
	uint32_t limit;      /* at most so many while this permit is held; 0: flk_declared() */
	bool limit_queue;    /* look at max_queue */
	uint32_t max_queue;  /* -FLK_FULL when it would wait behind so many or more */
	const char *command; /* shown to others; may be NULL */
	enum flk_role role;  /* what a signal to this process does: for operators */
};

struct flk_permit {
	uint64_t ticket;
	uint32_t weight;
	uint32_t limit; /* declared, or the override under which it was granted */
	uint32_t seat;
};

int flk_taker_new(struct flk_taker **taker, struct flk *limiter);

/* Leaves the line and gives back what is held. */
void flk_taker_free(struct flk_taker *taker);

/*
 * Takes a permit; waits for it until the deadline (CLOCK_MONOTONIC, absolute; NULL: for ever).
 * 0, -ETIMEDOUT, -FLK_CANCELLED, -FLK_CLOSED, -FLK_FULL, -FLK_EVICTED, -FLK_HEAVY, ...
 * Another taker that keeps everyone out makes it wait longer, not fail: see struct flk_options.
 */
int flk_acquire(struct flk_taker *taker, const struct flk_request *want,
		const struct timespec *deadline);

/*
 * flk_acquire() with a time span instead of a deadline: waits for at most ms milliseconds.  0 does
 * not wait at all, as flk_try(): -EAGAIN.  -1 waits for ever.  Below -1: -EINVAL.
 */
int flk_acquire_for(struct flk_taker *taker, const struct flk_request *want, int64_t ms);

/* Takes a permit if that needs no waiting, else -EAGAIN.  Never overtakes anybody. */
int flk_try(struct flk_taker *taker, const struct flk_request *want);

/*
 * The same in steps, for those who have more to do than to wait.  flk_enqueue() returns 0 when
 * the permit was granted at once and -EINPROGRESS when the taker now stands in the line;
 * flk_wait() 0 when it was granted, -ETIMEDOUT when it still stands in the line at the deadline,
 * or why it is no longer in the line.  After -FLK_STUCK a taker is where it was before: call again.
 * flk_leave() gives up the place or, if it was granted
 * meanwhile, the permit.  While flk_wait() sleeps, and only then, the signal mask is *mask,
 * unless that is NULL.
 */
int flk_enqueue(struct flk_taker *taker, const struct flk_request *want);
int flk_wait(struct flk_taker *taker, const struct timespec *deadline, const sigset_t *mask);
int flk_leave(struct flk_taker *taker);

/* Gives back the whole permit, or some units of it. */
int flk_release(struct flk_taker *taker);
int flk_release_units(struct flk_taker *taker, uint32_t units);

/*
 * The process that works under the permit, when it is not the taker itself: for operators; and after
 * the taker's death its permit is kept until that process is past an exit that has begun.
 */
int flk_working(struct flk_taker *taker, pid_t pid);

/*
 * The same, but called by that process itself, a child of vfork(2) that has the taker's memory and
 * is about to exec: then it is known however soon the taker is killed.
 */
void flk_working_child(struct flk_taker *taker);

/* How the work under the permit ended, as wait(2) has it: for the history. */
int flk_ended(struct flk_taker *taker, int status);

/* Ends the permit and gives up its units for good; flk_restore() brings them back. */
int flk_forget(struct flk_taker *taker);

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
int flk_permit(const struct flk_taker *taker, struct flk_permit *permit);

/*
 * Ties the permit to a descriptor: the permit lasts until the taker releases it or, if the
 * taker dies first, until every process that inherited the descriptor has closed it.  The
 * descriptor is close-on-exec and for reading only, as flk_guard_open()'s is; it belongs to the
 * taker.
 */
int flk_guard(struct flk_taker *taker, int *fd);

/*
 * Leaves the permit to those who have that descriptor: it ends with them, as above, but that the
 * taker is gone then is no accident.  For one that will be gone by an exec.
 */
int flk_entrust(struct flk_taker *taker);

/*
 * One descriptor for several permits, which may be taken when it was inherited long ago: opened
 * first (close-on-exec, the caller's own; or a negative code), and each permit tied to it.
 */
int flk_guard_open(struct flk *limiter);
int flk_guard_by(struct flk_taker *taker, int fd);

/* True while the permit with this ticket is held in this slot (see flk_slot). */
bool flk_holds(struct flk *limiter, uint32_t slot, uint64_t ticket, struct flk_permit *permit);
uint32_t flk_slot(const struct flk_taker *taker);

/*
 * Waits until everything that holds or waits at the time of the call is done.  Nobody is held
 * up by it.
 */
int flk_wait_idle(struct flk_taker *taker, const struct timespec *deadline);

/* ---- steering ----------------------------------------------------------------------------- */

#define FLK_AUTO (-1)

int flk_set_limit(struct flk *limiter, uint32_t limit); /* what takers get that declare none */
int flk_override(struct flk *limiter, int64_t limit);   /* over every declaration, or FLK_AUTO */
int flk_pause(struct flk *limiter);                     /* nothing new starts */
int flk_resume(struct flk *limiter);
int flk_refuse(struct flk *limiter); /* closes it: waiters and newcomers get -FLK_CLOSED */
int flk_admit(struct flk *limiter);  /* opens it again */
int flk_restore(struct flk *limiter, uint32_t units); /* of what initial or forget withheld */

/*
 * Orders to the limiters that will be made in the limiter directory; they begin so.  Those that are
 * there already are steered one by one, after the order was given.  0 and FLK_AUTO take an order
 * back.  It ends with the boot, and a limiter that is kept by its path has none.
 */
enum flk_order {
	FLK_ORDER_PAUSED, /* 1: as after flk_pause() */
	FLK_ORDER_CLOSED, /* 1: as after flk_refuse() */
	FLK_ORDER_LIMIT   /* as by flk_override() */
};

struct flk_orders {
	bool paused, closed;
	int64_t override; /* or FLK_AUTO */
};

int flk_order(enum flk_order order, int64_t value);
int flk_orders(struct flk_orders *orders); /* those that are given now */

/* ---- pacing: when to start, not only how many ---- */

struct flk_pace {
	uint64_t interval_ns; /* between starts, on average; 0: no rate */
	uint32_t burst;       /* so many may come at once; 1 to 65535 */
	uint64_t stagger_ns;  /* between any two starts, at least; 0: none */
	/* The capacity begins with ramp_from units and grows; 0: no ramp. */
	uint32_t ramp_from, ramp_step; /* up to 65535 */
	uint64_t ramp_period_ns;       /* whole ms */
	uint64_t ramp_idle_ns;         /* anew after nothing was held for so long */
};

enum flk_pacing { FLK_RATE = 1, FLK_STAGGER = 2, FLK_RAMP = 4 };

/* Sets those parts that `which' names; they hold for all takers. */
int flk_set_pace(struct flk *limiter, const struct flk_pace *pace, unsigned which);
void flk_pace(const struct flk *limiter, struct flk_pace *pace);

/*
 * Takes the waiter with that ticket, of any process, out of the line: it gets -FLK_EVICTED.
 * -FLK_NOPERMIT if no waiter has the ticket.  A taker ends a wait of its own by flk_cancel().
 */
int flk_evict(struct flk *limiter, uint64_t ticket);

/* After -FLK_EVICTED: who did it, as it called itself. */
void flk_evictor(const struct flk_taker *taker, pid_t *pid, uid_t *uid);

/*
 * Removes the limiter's file: -FLK_BUSY while anybody holds or waits.  Who has it open finds
 * that it is gone and attaches anew; no permit can be had of it any more.
 */
int flk_remove(struct flk *limiter);

/* As flk_remove(), but -FLK_BUSY as well while an operator's word stands in it: paused, say. */
int flk_remove_unused(struct flk *limiter);

/*
 * The same for one that can't be opened any more: damaged, of another version or boot, or empty.
 * -FLK_BUSY while any process has the file open, by the kernel's account.
 */
int flk_discard(const char *name);

/* ---- looking ------------------------------------------------------------------------------ */

struct flk_entry {
	uint64_t ticket;
	uint32_t weight, limit, seat, slot;
	uint32_t pid, uid; /* as that taker saw itself; for people, never to decide by */
	uint32_t worker;   /* whom flk_working() told of; 0: nobody */
	double since_s;    /* how long it has held or waited */
	uint64_t since_ns; /* since when: CLOCK_MONOTONIC */
	bool holds, orphan;
	bool silent;      /* it holds in a store, and nothing tells any more that it is alive */
	const char *host; /* NULL: this machine */
	enum flk_role role;
	char command[FLK_COMMAND];
};

#define FLK_BUCKETS   16
#define FLK_BUCKET_NS UINT64_C(1000000) /* the first: up to 1 ms; each next is four times that */

/* How long something took: so many up to the bucket's bound, beyond that of the one before. */
struct flk_times {
	uint64_t count[FLK_BUCKETS], sum_ns; /* the last bucket has no bound */
};

struct flk_snapshot {
	uint32_t declared, limit; /* as flk_declared(); and the one in force */
	int64_t override;         /* or FLK_AUTO */
	uint32_t withheld;
	uint64_t used;
	bool paused, closed;
	uint64_t last_ticket, granted, released, left, evicted, reaped, repaired;
	struct flk_times waited, held;
	struct flk_pace pace;
	uint64_t next_start_ns; /* not before, by pace alone: CLOCK_MONOTONIC; 0: at any time */
	uint32_t holders, waiters;
	struct flk_entry entry[]; /* holders by ticket, then waiters by ticket */
};

/*
 * How things stand for one taker that waits, or would have to.  The limit is the one in force for
 * the first in the line; where nobody waits, for a request like this taker's last one, and for a
 * taker that has asked for nothing yet, as the permits held and the operator have it.
 */
struct flk_place {
	uint64_t used;
	uint32_t limit, holders;
	uint32_t ahead; /* others that wait, and come first */
	bool paused, closed;
	uint64_t next_start_ns;  /* as in struct flk_snapshot */
	struct flk_entry oldest; /* of the holders; ticket 0: none */
	struct flk_entry head;   /* of the line; ticket 0: none, or this taker */
};

int flk_place(struct flk_taker *taker, struct flk_place *place);

/* A copy of the whole state, taken at one moment; free() it. */
int flk_snapshot(struct flk *limiter, struct flk_snapshot **snapshot);

/*
 * The processes that have the descriptor of this permit's guard, those that /proc shows to the
 * caller: what keeps an orphan's permit.  Returns how many; at most ROOM of them are in PID.
 * It looks through all processes.
 */
size_t flk_heirs(struct flk *limiter, uint32_t slot, pid_t *pid, size_t room);

/*
 * Whether this process is the taker in the slot, by the kernel's account: it has the guard or, where
 * nobody has one, it maps the limiter's file to write to it, and the thread that the slot names is
 * its own.  1, 0, or a negative code if /proc does not show that process.  A snapshot's pid is
 * the word of every process that can write the file, so ask before a signal is sent there, and
 * when the process is pinned by a pidfd.
 */
int flk_is_taker(struct flk *limiter, uint32_t slot, pid_t pid);

/* Verifies every invariant: 0, or -FLK_DAMAGED and a line about each that fails. */
int flk_check(struct flk *limiter, char *why, size_t size);

/* Rebuilds the index from the slots, and frees those that contradict the rest. */
int flk_repair(struct flk *limiter);

/* ---- the history -------------------------------------------------------------------------- */

#define FLK_HISTORY   4096    /* events that a limiter remembers */
#define FLK_UNKNOWN   (-1)    /* a status that nobody told */
#define FLK_TIMED_OUT 0x10000 /* or'ed to one: it ran longer than it was allowed to */

enum flk_event_kind {
	FLK_EV_QUEUED = 1, /* it had to wait */
	FLK_EV_GRANTED,
	FLK_EV_RELEASED, /* code: the status as wait(2) has it, or FLK_UNKNOWN */
	FLK_EV_UNITS,    /* code: so many units of its permit were released */
	FLK_EV_FORGOT,   /* code: so many units are withheld from now on */
	FLK_EV_LEFT,     /* code: why it gave up: -ETIMEDOUT, -FLK_CANCELLED, 0, ... */
	FLK_EV_EVICTED,  /* code: -FLK_EVICTED, -FLK_CLOSED; pid and uid: who did it */
	FLK_EV_REAPED,   /* it was killed; code: 1 if it held, 0 if it waited */
	FLK_EV_DECLARED, /* code: the limit of those who declare none */
	FLK_EV_OVERRIDE, /* code: the operator's limit, or FLK_AUTO */
	FLK_EV_PAUSED,
	FLK_EV_RESUMED,
	FLK_EV_CLOSED,
	FLK_EV_OPENED,
	FLK_EV_RESTORED, /* code: so many units */
	FLK_EV_REPAIRED, /* a taker was killed inside, and the index was made anew */
	FLK_EV_PACED     /* code: of enum flk_pacing, what was set; pace: all of it, from then on */
};

struct flk_event {
	uint64_t number; /* 1, 2, 3, ... */
	uint64_t when_ns, ticket;
	uint32_t kind, weight, seat, limit;
	uint32_t pid, uid;
	int32_t code;
	char command[20];
	struct flk_pace pace; /* FLK_EV_PACED only */
};

/*
 * Copies the events after NUMBER, oldest first: up to ROOM of them, or FLK_HISTORY at most.
 * Returns how many; never blocks, and nobody is held up by it.  when_ns is CLOCK_MONOTONIC.
 */
size_t flk_history(struct flk *limiter, uint64_t number, struct flk_event *event, size_t room);

/* Sleeps until there is an event after NUMBER: 0, or -ETIMEDOUT, -EINTR, or -FLK_GONE. */
int flk_follow(struct flk *limiter, uint64_t number, const struct timespec *deadline);

/* ---- many at once ------------------------------------------------------------------------- */

/*
 * A map works on items, each under a permit of its own and in a thread of its own; it stands in
 * the line for one of them at a time.  Callbacks get the context; next() and done() are never
 * called twice at once.
 */
struct flk_map;

struct flk_map_options {
	const struct flk_options *options; /* as for flk_attach() */
	struct flk_request want;           /* for each item */
	const struct timespec *patience;   /* how long an item may wait for its permit; or NULL */
	const struct flk_pace *pace;       /* of the limiter, as far as `pacing' says */
	unsigned pacing;                   /* of enum flk_pacing; 0: as it is */
	bool in_order;                     /* done() gets the items in the order of next() */
	bool go_on;                        /* begin more after work() failed */
	void *context;

	/*
	 * Sets *item, and returns 1; or 0 when there are no more, or a negative code.  May change
	 * *want for this item, and may block.
	 */
	int (*next)(void *context, void **item, struct flk_request *want);

	/*
	 * Called when an item has to wait for its permit, and again at the time that it returned, if
	 * the item still waits then: CLOCK_MONOTONIC, in ns; UINT64_MAX: not again.  For flk_place()
	 * of the taker, which it must not release; may be NULL.
	 */
	uint64_t (*waits)(void *context, struct flk_taker *taker);

	/* Runs under the taker's permit, which it must not release.  0, or what is wrong. */
	int (*work)(void *context, void *item, struct flk_taker *taker);

	/* When the permit is given back; may be NULL. */
	void (*done)(void *context, void *item, int result);

	/* Instead of work() and done() if no permit was had; may be NULL. */
	void (*drop)(void *context, void *item);
};

int flk_map_new(struct flk_map **map, const char *name, const struct flk_map_options *options);

/*
 * Returns when all that was begun has ended: 0, or the code of the first item that failed.  Once,
 * and in one thread.
 */
int flk_map_run(struct flk_map *map);

/* Begins nothing more; from any thread, also out of a callback, but not from a signal handler. */
void flk_map_stop(struct flk_map *map);

void flk_map_free(struct flk_map *map);

/* The same for 0 to n-1; ends early when one fails. */
int flk_map_array(const char *name, const struct flk_request *want, size_t n,
		  int (*work)(void *context, size_t i), void *context);

/* The limiter that a taker was made for. */
struct flk *flk_limiter(const struct flk_taker *taker);

#ifdef __cplusplus
}
#endif

#endif
