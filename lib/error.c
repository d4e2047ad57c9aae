/* SPDX-License-Identifier: ISC */
/*
 * error.c - a sentence for each code.
 */
#include "flocklimit.h"

#include <errno.h>
#include <string.h>

const char *
flk_strerror(int code)
{
	unsigned number = code < 0 ? 0u - (unsigned)code : (unsigned)code;

	switch (number) {
	case 0:
		return "success";
	case EINPROGRESS:
		return "waits in the line";
	case EAGAIN:
		return "it would have to wait";
	case EBUSY:
		return "another process has locked a byte of the file that is needed: try again, "
		       "or let it end";
	case ETIMEDOUT:
		return "no permit in time";
	case FLK_BADNAME:
		return "not a name: use 1 to 64 of A-Z a-z 0-9 . _ + @ % : - not beginning with . "
		       "or -";
	case FLK_BADDIR:
		return "the limiter directory is not safe from other users: make it your own, "
		       "with mode 0700, or choose another with FLOCKLIMIT_DIR";
	case FLK_FOREIGNDIR:
		return "the limiter directory belongs to another user: ask the operator to remove "
		       "it, or choose another with FLOCKLIMIT_DIR";
	case FLK_NODIR:
		return "no existing directory can contain the limiter directory: ask the operator "
		       "for /run/flocklimit, with mode 1777, or choose a directory with "
		       "FLOCKLIMIT_DIR";
	case FLK_UNMAPPED:
		return "this user namespace maps no user, and so has no limiter directory of its "
		       "own: map one, or choose a directory with FLOCKLIMIT_DIR";
	case FLK_RELATIVE:
		return "FLOCKLIMIT_DIR is not an absolute path: it would be another directory in "
		       "each working directory; let it begin with a slash";
	case FLK_SYMLINK:
		return "is a symbolic link: name the file itself";
	case FLK_NOTFILE:
		return "is not a regular file: choose another path";
	case FLK_FOREIGN:
		return "belongs to another user: let its owner share it with a group of yours, or "
		       "choose another path";
	case FLK_WRITABLE:
		return "all users may write to it: let only its owner and a group write it";
	case FLK_NETWORK:
		return "is on a network file system, which shares no memory between machines: "
		       "choose a local path";
	case FLK_ELSEWHERE:
		return "was made in another boot or on another machine, or is a copy, and its file "
		       "system is not known to belong to this machine alone: remove the file when "
		       "nobody uses it, or choose another path";
	case FLK_NOBOOT:
		return "is on a disk, and without /proc a limiter there can't be told from one of "
		       "before the reboot: mount /proc, or choose a path on a tmpfs";
	case FLK_NOTLIMITER:
		return "is neither a limiter nor an empty file: choose another path";
	case FLK_VERSION:
		return "is a limiter of another version: let its takers end, then remove it";
	case FLK_DAMAGED:
		return "is damaged: repair it, or let its takers end and remove it";
	case FLK_STUCK:
		return "another taker keeps everyone out: it is stopped, or gets too little CPU "
		       "time";
	case FLK_CROWDED:
		return "no room for another taker: let fewer wait";
	case FLK_GONE:
		return "was removed: start again";
	case FLK_HEAVY:
		return "the weight is above the limit";
	case FLK_CLOSED:
		return "is closed";
	case FLK_FULL:
		return "too many takers wait already";
	case FLK_CANCELLED:
		return "the wait was cancelled";
	case FLK_EVICTED:
		return "another process took this taker out of the line";
	case FLK_STRANGER:
		return "this taker belongs to another thread or process";
	case FLK_NOPERMIT:
		return "no permit is held";
	case FLK_OVERRELEASE:
		return "more units than are held or withheld";
	case FLK_BUSY:
		return "this taker holds or waits already";
	case FLK_MISTAKEN:
		return "the kernel reported this taker dead, as a process of the same number in "
		       "another PID namespace has died: start again";
	case FLK_LEASED:
		return "another process has a lease on the file: end that process, or try "
		       "again in a minute, when the kernel has ended the lease";
	case FLK_ASK:
		return "the taker's own question is to be answered";
	case FLK_NOROBUST:
		return "a filter of system calls refuses set_robust_list or get_robust_list, which "
		       "tells others of a taker's death: allow both, as in the seccomp profile of "
		       "the container";
	default:
		/* glibc's has a buffer for each thread, and musl's needs none */
		return strerror((int)number); /* NOLINT(concurrency-mt-unsafe) */
	}
}
