/* The names of threads of which a record stays. A program can start millions of threads: a bit says
 * which of them were seen, and only those take memory that have a name, up to NAMES_MOST. */
#pragma once

#include "base/index.h"
#include "trace/event.h"

/* As many as a recorder writes (NAMED_THREADS of record/recorder_state.h). */
enum { NAMES_MOST = 1 << 16 };

struct named_thread {
  uint32_t thread;
  uint64_t time_ns;
  char *name;
};

/* Zeroed memory is empty. */
struct names {
  struct named_thread *items; /* with the last name of each */
  size_t count, capacity;
  struct index by_thread;
  uint64_t *used; /* a bit for each thread; threads far apart share one */
};

/* A record of the thread stays. False without memory. */
bool names_use(struct names *names, uint32_t thread);
/* False without memory. */
bool names_note(struct names *names, const struct trace_thread_name *event);

/* The next one from *at on of a thread that is used, as an event; false: there are no more. */
bool names_next(const struct names *names, size_t *at, struct trace_thread_name *event);

/* Empties it. */
void names_clear(struct names *names);
/* SPDX-License-Identifier: MIT */
