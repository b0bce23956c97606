/* Finds the processes that a program left running when it ended: daemons, and background processes
 * of scripts. */
#pragma once

#include <stddef.h>
#include <sys/types.h>

struct left_behind {
  size_t count;
  char names[256]; /* the names of the first few, separated by commas */
};

/* Finds the processes that run now. `pid` has ended, and no one has waited for it yet; `library`
 * was preloaded into it. */
struct left_behind left_behind_find(pid_t pid, const char *library);
/* SPDX-License-Identifier: MIT */
