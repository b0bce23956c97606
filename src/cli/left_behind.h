/* Processes that a program has left behind when it ended: daemons, and what a script started in the
 * background. */
#ifndef CLI_LEFT_BEHIND_H
#define CLI_LEFT_BEHIND_H

#include <stddef.h>
#include <sys/types.h>

struct left_behind {
  size_t count;
  char names[256]; /* of the first few, with commas between them */
};

/* Those that run now. `pid` has ended and is not waited for yet; `library` was preloaded into
 * it. */
struct left_behind left_behind_find(pid_t pid, const char *library);

#endif
/* SPDX-License-Identifier: MIT */
