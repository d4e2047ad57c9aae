/*
 * init.h - being process 1 of a container.
 */
#ifndef INIT_H
#define INIT_H

/*
 * To be called once signals are blocked, and before anything is taken.  As process 1 this forks, and
 * -1 is for the child, which is to do the work; process 1 passes signals on to it, reaps every
 * orphan, and returns the status to exit with once the child has ended.  Else just -1.
 */
int init_split(void);

#endif
