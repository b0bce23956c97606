/* The limit of the address space, as the program sees it: without what we reserve. */
#ifndef PRELOAD_LIMITS_H
#define PRELOAD_LIMITS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/types.h>

/* The thread that starts the profile calls these once, before and after it reserves address
 * space. */
void limits_before_reserving(void);
void limits_after_reserving(void);

/* As prlimit64, for the limits that the program sees. `set` and `get` may be NULL. */
int limits_call(pid_t pid, int resource, const struct rlimit64 *set, struct rlimit64 *get);

/* Takes `bytes` more of the reserved addresses into use for blocks: from now on they count as the
 * program's. False if the program's limit does not allow that. Async-signal-safe; keeps errno. */
bool limits_take(size_t bytes);

/* How many bytes the process has mapped, less our reserve. */
size_t limits_program_bytes(void);

/* limits_before_exec, before an exec: sets the soft limit to the value that the program asked for,
 * since the next program is free of our reserve. limits_exec_failed, when the exec failed: makes
 * the limit larger again; `lowered` is what limits_before_exec returned. Async-signal-safe; keep
 * errno. */
bool limits_before_exec(void);
void limits_exec_failed(bool lowered);

#endif
/* SPDX-License-Identifier: MIT */
