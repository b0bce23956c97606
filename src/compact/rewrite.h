/* Reads a trace with its history, and writes what stays of the chunks that are taken over into a
 * new history. */
#pragma once

#include "compact/blocks.h"
#include "compact/names.h"
#include "compact/states.h"
#include "trace/history.h"
#include <winnow/status.h>

struct rewrite {
  /* Set before rewrite_begin. */
  const char *name; /* of the trace, in messages */
  const char *history;
  uint64_t run_id; /* of the trace */
  /* Set by rewrite_begin. */
  struct replaced before; /* what the history had taken over before */
  /* Set before rewrite_read. */
  const char *path;       /* of the trace, or of a copy of what is taken over */
  const char *others;     /* of the trace itself, if `path` is a copy; else NULL */
  const uint64_t *chunks; /* that are taken over, in ascending order */
  size_t chunk_count;
  uint64_t end;         /* chunks from this one on are not read */
  bool all;             /* all are taken, nothing is left out, and what is written is a trace of its own */
  struct blocks blocks; /* but for seed and room set by rewrite_read */
  /* Set by rewrite_read. */
  struct states states;
  uint64_t now_ns, samples;
  uint64_t taken_ns;          /* the latest time of what is taken over */
  uint64_t title_ns, exec_ns; /* of the last such records, which alone stay */
  /* Used by rewrite_write. */
  struct names names;
  uint64_t samples_left;
};

/* Finds what the history of the trace at `path` has taken over. WN_EIO: the history is damaged. */
wn_status rewrite_begin(struct rewrite *rewrite, const char *path);

/* Reads all, and notes what there is to choose from. */
wn_status rewrite_read(struct rewrite *rewrite);

/* Chooses at most `most` records of blocks, and writes the history at `target`, which says that it
 * has taken over the chunks and those before. On an error there is no file. */
wn_status rewrite_write(struct rewrite *rewrite, size_t most, const char *target);

/* The ranges of chunks that the new history has taken over. False without memory. */
bool rewrite_ranges(const struct rewrite *rewrite, struct replaced *ranges);

void rewrite_destroy(struct rewrite *rewrite);
/* SPDX-License-Identifier: MIT */
