/* The traces of the processes that a recorded program starts: each is named as the program's own, with a dot and the
 * process number behind it. */
#ifndef CLI_CHILDREN_H
#define CLI_CHILDREN_H

#include <stddef.h>

/* Before the program starts: remembers the traces that an earlier run has left under such names. */
void children_begin(const char *output);

/* The traces that are new, or were written anew. */
struct children {
  char **paths;
  size_t count;
};

/* Afterwards: finds them, and cuts each to its length that no process writes any more. */
struct children children_finish(const char *output);
void children_free(struct children *children);

#endif
/* SPDX-License-Identifier: MIT */
