/* A process's title and name. Programs write over their arguments and name their first thread, so
 * that users can tell their processes apart. The trace gets a record of each change that a look
 * finds. */
#pragma once

#include "trace/event.h"
#include "trace/writer.h"
#include <stdatomic.h>
#include <stdint.h>

/* The CRCs of a title and a name. */
struct title_state {
  uint32_t title, name;
};

struct titles {
  struct title_state called; /* title and name when the trace began */
  _Atomic(uint64_t) due;     /* the time of the next look; the thread that moves it on looks */
  _Atomic(uint64_t) told;    /* what the trace has: a struct title_state in one word */
};

/* Called when the trace begins. */
void titles_begin(struct titles *titles, const struct trace_run *run);

/* titles_write_if_due looks at times that double, since a title is usually set early, and at least
 * every second, as often as it is called: when the recorder measures memory. titles_write_if_new
 * looks at once. Each writes a record if title or name has changed. Any thread may call them, also
 * in a signal handler. */
void titles_write_if_due(struct titles *titles, struct trace_writer *writer, uint64_t time, uint32_t thread);
void titles_write_if_new(struct titles *titles, struct trace_writer *writer, uint64_t time, uint32_t thread);

/* What was written may be gone: what differs from the begin of the run is written again. */
void titles_forget(struct titles *titles);
/* SPDX-License-Identifier: MIT */
