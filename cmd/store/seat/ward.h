/*
 * ward.h - what has to be done to a command that may lose its permit, and when.  Pure: times are
 * given, deeds are told, nothing is done.
 *
 * A permit is nobody else's before alive_ns + ttl + grace: so the command's last moment, D, is that
 * less a margin for clocks that do not run alike.  It is sent TERM `notice' before D, and KILL at
 * D.  What was found to be lost already is sent TERM at once, and KILL after the notice.
 */
#ifndef WARD_H
#define WARD_H

#include <stdbool.h>
#include <stdint.h>

#define WARD_NEVER UINT64_MAX

enum ward_stage {
	WARD_SAFE, /* before D less the notice */
	WARD_TOLD, /* it was sent TERM, or its people were told (warn) */
	WARD_OVER  /* it was sent KILL, or need not be */
};

enum ward_deed { WARD_NOTHING, WARD_TERM, WARD_KILL, WARD_TELL };

struct ward {
	uint64_t life_ns, margin_ns, notice_ns; /* fixed: ttl + grace, ... */
	bool warn;                              /* fixed: nothing is sent */
	uint64_t alive_ns;                      /* only rises */
	uint64_t kill_ns;                       /* once told: when KILL is due */
	enum ward_stage stage;
	bool lost; /* for good, or told so: what renews it later does not undo that */
};

void ward_begin(struct ward *w, uint32_t ttl_s, uint32_t grace_s, bool warn, uint64_t alive_ns);

/* The command's last moment. */
uint64_t ward_deadline(const struct ward *w);

/* It was seen alive; true if that ends a danger that people were told of. */
bool ward_renew(struct ward *w, uint64_t alive_ns);

/* It is lost already: what is due from now on. */
void ward_lose(struct ward *w, uint64_t now_ns);

/* When to ask next. */
uint64_t ward_due(const struct ward *w);

/* What is to be done now; once for each. */
enum ward_deed ward_step(struct ward *w, uint64_t now_ns);

/* The least grace that leaves time for a renewal that failed, the notice and the margin. */
uint32_t ward_least_grace(uint32_t ttl_s);

#endif
