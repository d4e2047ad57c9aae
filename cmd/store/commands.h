/*
 * commands.h - the commands' own main(), by the names that the build gives them here.
 */
#ifndef COMMANDS_H
#define COMMANDS_H

int flocklimit_main(int argc, char **argv);
int flocklimitctl_main(int argc, char **argv);
int flockmap_main(int argc, char **argv);

#endif
