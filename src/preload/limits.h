/* The limit of the address space, as the program sees it: without what we reserve. */
#ifndef PRELOAD_LIMITS_H
#define PRELOAD_LIMITS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/types.h>

/* Around what reserves address space, once, at the start. */
void limits_before_reserving(void);
void limits_after_reserving(void);

/* What prlimit64 does to the limits that the program sees. */
int limits_call(pid_t pid, int resource, const struct rlimit64 *set, struct rlimit64 *get);

/* So many bytes of what was reserved are to be used for blocks, and count as the program's from now
 * on. False if that is more than its limit allows. Async-signal-safe; keeps errno. */
bool limits_take(size_t bytes);

/* What is mapped without our reserve. */
size_t limits_program_bytes(void);

/* Before an exec, and when it failed: what is executed is free of our reserve, and gets the limit
 * as the program set it. The first returns what the second needs. Async-signal-safe; keep errno. */
bool limits_before_exec(void);
void limits_exec_failed(bool lowered);

#endif
/* SPDX-License-Identifier: MIT */
