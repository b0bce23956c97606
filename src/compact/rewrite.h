/* Reads a trace with its history, and writes what stays of the chunks that are taken over into a
 * new history. */
#ifndef COMPACT_REWRITE_H
#define COMPACT_REWRITE_H

#include "compact/blocks.h"
#include "compact/states.h"
#include "trace/history.h"
#include <winnow/status.h>

/* Thread names, by the thread. */
struct named_thread {
  uint32_t thread;
  bool used; /* by a record that stays */
  uint64_t time_ns;
  char *name; /* NULL: none is known */
};

struct rewrite {
  /* Set by the caller. */
  const char *path, *history; /* of the trace, or its copy */
  uint64_t run_id;            /* of the trace */
  const uint64_t *chunks;     /* that are taken over, in ascending order */
  size_t chunk_count;
  uint64_t seed;
  bool all; /* all chunks are taken, nothing is left out, and what is written is a trace of its own */
  /* Set by rewrite_read. */
  struct replaced before; /* what the history had taken over before */
  struct blocks blocks;
  struct states states;
  size_t records;       /* that were read of what is taken over */
  size_t block_records; /* of these, records of blocks */
  uint64_t now_ns, samples;
  uint64_t taken_ns;          /* the latest time of what is taken over */
  uint64_t title_ns, exec_ns; /* of the last such records, which alone stay */
  /* Used by rewrite_write. */
  struct named_thread *threads;
  size_t thread_count, thread_capacity;
  struct index threads_by_number;
  uint64_t samples_left;
};

/* Reads all, and notes what there is to choose from. */
wn_status rewrite_read(struct rewrite *rewrite);

/* Chooses at most `most` births and deaths, and writes the history at `target`, which says that it
 * has taken over the chunks and those before. On an error there is no file. */
wn_status rewrite_write(struct rewrite *rewrite, size_t most, const char *target);

/* The ranges of chunks that the new history has taken over. False without memory. */
bool rewrite_ranges(const struct rewrite *rewrite, struct replaced *ranges);

void rewrite_destroy(struct rewrite *rewrite);

#endif
/* SPDX-License-Identifier: MIT */
