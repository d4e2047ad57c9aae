/* SPDX-License-Identifier: ISC */
/*
 * retry.h - how long a caller pauses before it retries what has failed, whatever the service is.
 *
 * No two callers pause for the same time: many takers may have lost one server at the same moment,
 * and would come back to it at the same moment.
 */
#ifndef RETRY_H
#define RETRY_H

#include <stdint.h>

/* From half of most_ns to all of it, at random. */
uint64_t retry_spread(uint64_t most_ns);

/*
 * After a failure that this many others preceded without a success: up to 50 ms, 100 ms, ..., 2 s.
 */
uint64_t retry_pause(unsigned failures);

/*
 * The same after a renewal that failed: at most a sixth of the ttl, so that there is time for more
 * renewals before the service treats the taker as dead.
 */
uint64_t retry_renewal(unsigned failures, uint32_t ttl_s);

#endif
