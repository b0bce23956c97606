/* The life of the profiled process: environment, start, fork, exit. */
#ifndef PRELOAD_PROCESS_H
#define PRELOAD_PROCESS_H

#include "base/image.h"
#include "preload/environment.h"
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Starts the profile, once, at the first allocation or in our constructor, whichever is first; in
 * our constructor it also does what may take the C library's locks. The calling thread is muted. */
void process_start(void);

/* True before the C library can tell us the environment: ask again soon. */
bool process_is_early(void);

/* False when the executable brings its own malloc, so that ours is never called. */
bool process_calls_our_malloc(void);

/* What realloc(p, 0) does below us. */
bool process_realloc_zero_frees(void);

/* True while a trace is written. */
bool process_is_recording(void);

/* The trace that is written, or NULL; and how many frames its stacks have at most. */
struct recorder *process_recorder(void);
uint32_t process_stack_depth(void);

/* A sampled block could not be followed. */
void process_lost_block(void);

/* Before and after an exec: in the trace the process has become another program, unless the exec
 * fails. `path` is as the program named it, or NULL; `found`, relative to `folder`, is the file,
 * or NULL. The first says which environment the program is to find. In a child that shares our
 * memory (vfork) nothing is written but what cannot be recorded. Keep errno; async-signal-safe. */
struct becoming {
  unsigned number;
  struct heritage heritage;
};
void process_becomes(struct becoming *becoming, int folder, const char *path, const char *found,
                     char *const *environment);
void process_stays(const struct becoming *becoming);

/* Whether the calling process is the recorded one, and no child that shares its memory; and before
 * its _exit. Async-signal-safe. */
bool process_is_recorded(void);
void process_leaves(void);

/* Whether children are recorded too. */
bool process_follows(void);

/* Before and after the start of a child that executes a program, where children are followed. */
void process_spawns(struct heritage *heritage, const char *found, char *const *environment,
                    struct image *image);
void process_spawned(const struct image *image, pid_t pid);

/* The calling thread ends. */
void process_thread_ends(void);

/* After a dlclose. */
void process_modules_changed(void);

#endif
/* SPDX-License-Identifier: MIT */
