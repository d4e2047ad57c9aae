/*
 * stuck.h - another taker keeps everyone out of a limiter: what people are told, and what to do.
 */
#ifndef STUCK_H
#define STUCK_H

#include <sys/types.h>

#define STUCK_TEXT 300

/*
 * "pid 4711 is stopped and keeps everyone out: kill -CONT 4711".  The process is as it calls
 * itself; 0: it is not known.
 */
const char *stuck_text(pid_t pid, char room[STUCK_TEXT]);

#endif
