/* What a process is called: programs write over their arguments and name their first thread, to
 * tell their processes apart. The trace gets a record of each change that is seen. */
#ifndef RECORD_TITLES_H
#define RECORD_TITLES_H

#include "trace/event.h"
#include "trace/writer.h"
#include <stdatomic.h>
#include <stdint.h>

/* The CRCs of a title and a name. */
struct title_state {
  uint32_t title, name;
};

struct titles {
  struct title_state called; /* when the trace began */
  _Atomic(uint64_t) due;     /* the time of the next look; the thread that moves it on looks */
  _Atomic(uint64_t) told;    /* what the trace knows: a struct title_state in one word */
};

/* When the trace begins; the first look is due at `first_ns` of its time. */
void titles_begin(struct titles *titles, const struct trace_run *run, uint64_t first_ns);

/* Any thread, signal handlers too. Looks at times that double, since a title is usually set early,
 * and every second at least. */
void titles_write_if_due(struct titles *titles, struct trace_writer *writer, uint64_t time, uint32_t thread);
void titles_write_if_new(struct titles *titles, struct trace_writer *writer, uint64_t time, uint32_t thread);

#endif
/* SPDX-License-Identifier: MIT */
