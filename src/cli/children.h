/* The traces of the processes that a recorded program starts: each is named as the program's own, with a dot and the
 * process number behind it. */
#ifndef CLI_CHILDREN_H
#define CLI_CHILDREN_H

#include <stddef.h>

/* Before the program starts: remembers the traces that an earlier run has left under such names. */
void children_begin(const char *output);

/* Afterwards: cuts those that are new, or were written anew, to their length. Returns how many. */
size_t children_finish(const char *output);

#endif
/* SPDX-License-Identifier: MIT */
