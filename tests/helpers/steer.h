/* SPDX-License-Identifier: ISC */
/*
 * steer.h - settings of a limiter, one at a time.
 */
#ifndef STEER_H
#define STEER_H

#include "flocklimit.h"

#define STEER(f, which, ...) flk_set(f, which, &(struct flk_settings){ __VA_ARGS__ })

#define steer_limit(f, n)        STEER(f, FLK_SET_DECLARED, .declared = (n))
#define steer_override(f, n)     STEER(f, FLK_SET_OVERRIDE, .override = (n))
#define steer_pause(f)           STEER(f, FLK_SET_PAUSED, .paused = true)
#define steer_resume(f)          STEER(f, FLK_SET_PAUSED, .paused = false)
#define steer_close(f)           STEER(f, FLK_SET_CLOSED, .closed = true)
#define steer_open(f)            STEER(f, FLK_SET_CLOSED, .closed = false)
#define steer_restore(f, n)      STEER(f, FLK_SET_RESTORED, .withheld = (n))
#define steer_pace(f, to, which) STEER(f, which, .pace = *(to))
#define steer_gate(f, to)        STEER(f, FLK_SET_GATE, .gate = *(to))
#define steer_fair(f, by)        STEER(f, FLK_SET_FAIR, .fair = (by))
#define steer_seat(f, seat, off) \
	STEER(f, (off) ? FLK_SET_SEATS_OFF : FLK_SET_SEATS_ON, .seats_off = UINT64_C(1) << (seat))

/* An order to limiters that are made later. */
static inline int
steer_order(unsigned which, int64_t value)
{
	struct flk_settings to = { .override = value, .paused = value != 0, .closed = value != 0 };

	return flk_order(which, &to);
}

#endif
