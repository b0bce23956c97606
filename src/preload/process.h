/* The life of the profiled process: environment, start, fork, exit. */
#ifndef PRELOAD_PROCESS_H
#define PRELOAD_PROCESS_H

#include <stdbool.h>

/* Starts the profile, once, at the first allocation or in our constructor, whichever is first; in our constructor it also
 * does what may take the C library's locks. The calling thread is muted. */
void process_start(void);

/* True before the C library can tell us the environment: ask again soon. */
bool process_is_early(void);

/* False when the executable brings its own malloc, so that ours is never called. */
bool process_calls_our_malloc(void);

/* What realloc(p, 0) does below us. */
bool process_realloc_zero_frees(void);

/* True while a trace is written. */
bool process_is_recording(void);

/* A sampled block could not be followed. */
void process_lost_block(void);

/* Before and after an exec: in the trace the process has become another program, unless the exec fails. The first returns
 * what the second needs. In a child that shares our memory (vfork) nothing is written. Keep errno; async-signal-safe. */
unsigned process_becomes(const char *path);
void process_stays(unsigned number);

/* The calling thread ends. */
void process_thread_ends(void);

/* After a dlclose. */
void process_modules_changed(void);

#endif
/* SPDX-License-Identifier: MIT */
