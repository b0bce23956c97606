/* The life of the profiled process: environment, start, fork, exit. */
#ifndef PRELOAD_PROCESS_H
#define PRELOAD_PROCESS_H

#include "base/image.h"
#include "preload/environment.h"
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Starts the profile, once, at the first allocation or in our constructor, whichever comes first.
 * In our constructor it also does the work that may take the C library's locks. The calling thread
 * is muted. */
void process_start(void);

/* True before the C library has the environment. Then the profile cannot start yet, and the caller
 * asks again at its next allocation. */
bool process_is_early(void);

/* False if the executable has its own malloc, so that ours is never called. */
bool process_calls_our_malloc(void);

/* Whether realloc(p, 0) of the real allocator frees and returns NULL. */
bool process_realloc_zero_frees(void);

/* True while a trace is written. */
bool process_is_recording(void);

/* The recorder of the trace that is written, or NULL. */
struct recorder *process_recorder(void);

/* How many frames the trace's callstacks have at most. */
uint32_t process_stack_depth(void);

/* Writes to the trace that a sampled block could not be followed. */
void process_lost_block(void);

/* process_becomes, before an exec: writes the end of the trace, and decides which environment the
 * next program finds. process_stays, after an exec that failed: takes the end back. `path` is as
 * the program named it, or NULL. `found`, relative to `folder`, is the file, or NULL. In a child
 * that shares our memory (vfork), process_becomes writes no end, but only that the program cannot
 * be recorded, if so. Both keep errno and are async-signal-safe. */
struct becoming {
  unsigned number;
  struct inherited inherited;
};
void process_becomes(struct becoming *becoming, int folder, const char *path, const char *found,
                     char *const *environment);
void process_stays(const struct becoming *becoming);

/* True in the recorded process, false in a child that shares its memory. Async-signal-safe. */
bool process_is_recorded(void);
void process_leaves(void);

/* Ends the recording, and says so: the program is about to forbid itself system calls that
 * recording makes. */
void process_is_confined(void);

/* The program filters its system calls, or may be about to: from now on the allocator is not asked. */
void process_may_be_filtered(void);
bool process_is_filtered(void);

/* Whether children are recorded too. */
bool process_follows(void);

/* Called where children are followed, for a child that posix_spawn starts. process_spawns, before
 * the start: examines the program, and decides which of our variables it finds. process_spawned,
 * after the start: writes to the trace if the program cannot be recorded. */
void process_spawns(struct inherited *inherited, const char *found, char *const *environment,
                    struct image *image);
void process_spawned(const struct image *image, pid_t pid);

/* Called when the calling thread ends: writes the last records of the thread, and notes the end of
 * its stack. */
void process_thread_ends(void);

/* Called after a dlclose. */
void process_modules_changed(void);

#endif
/* SPDX-License-Identifier: MIT */
